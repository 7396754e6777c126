//! Where in an operand something failed.

use super::Error;

impl Error {
    /// The index of the element of an operand that could not be read or computed.
    pub(crate) fn element_index(&mut self) -> Option<&mut Vec<usize>> {
        match self {
            Self::Cast { index, .. }
            | Self::Arithmetic { index }
            | Self::ElementOverflow { index, .. }
            | Self::Storage { index: Some(index), .. } => Some(index),
            _ => None,
        }
    }

    /// The same, where it is not known which index was asked for.
    pub(crate) fn without_index(self) -> Self {
        match self {
            Self::Storage { source, .. } => Self::Storage { index: None, source },
            error => error,
        }
    }

    /// Whether an element of an operand could not be read or computed.
    pub(crate) fn is_of_element(&self) -> bool {
        matches!(self, Self::Storage { .. }) || self.copy().element_index().is_some()
    }
}
