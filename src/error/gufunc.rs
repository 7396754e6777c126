//! What is wrong with signatures and their calls.

use super::foreign::Foreign;
use std::error::Error;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

/// What is wrong with a signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureFlaw {
    /// A token with which no signature continues.
    #[error("expected {expected}, found {}", quoted(found))]
    Token {
        /// What should stand there.
        expected: &'static str,
        /// What stands there; empty at the end.
        found: String,
    },
    /// A name whose uses differ: with and without `?`, or with and without `|1` in inputs, or with `|1` in an output.
    #[error(
        "uses of {name} differ: `?` stands at all of them or none, `|1` at all in inputs and none in outputs"
    )]
    Mixed {
        /// The name.
        name: String,
    },
    /// More than a signature may have.
    #[error("at most {limit} {what}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// How many.
        limit: usize,
    },
    /// There is no output.
    #[error("there is no output")]
    NoOutput,
}

/// What is wrong with the axes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoreAxesFlaw {
    /// One axis for a signature that has not one core dimension, once in each input and at most once in outputs.
    Names {
        /// Core dimensions of the signature.
        names: usize,
    },
    /// Both one axis and lists.
    Both,
    /// Another number of lists than of arguments.
    Lists {
        /// Number of arguments.
        expected: usize,
        /// Number of lists.
        found: usize,
    },
    /// A list of another length than the argument has core axes.
    Count {
        /// Position of the argument, from 1.
        argument: usize,
        /// Core axes of the argument.
        expected: usize,
        /// Length of the list.
        found: usize,
    },
    /// An axis that does not exist.
    Range {
        /// Position of the argument, from 1.
        argument: usize,
        /// The axis as it was given.
        axis: isize,
        /// Axes of the argument.
        rank: usize,
    },
    /// One axis given twice.
    Repeated {
        /// Position of the argument, from 1.
        argument: usize,
        /// The axis as it was given the second time.
        axis: isize,
    },
    /// Axes beside core dimensions that are missing.
    Missing,
    /// Results in the place of the first input, and outputs that are not one output like it.
    Update,
    /// Axes to keep of inputs whose core axes differ, or with outputs that have some.
    KeepDims,
}

impl CoreAxesFlaw {
    /// The same of an argument.
    pub(crate) fn of(mut self, number: usize) -> Self {
        if let Self::Range { argument, .. } | Self::Repeated { argument, .. } = &mut self {
            *argument = number;
        }
        self
    }

    pub(super) fn of_signature(&self, signature: &str) -> String {
        match self {
            Self::Names { names: 1 } => format!(
                "axis needs a core dimension once in each input and at most once in outputs, {signature} has it elsewhere"
            ),
            Self::Names { names } => {
                format!("axis needs one core dimension, {signature} has {names}")
            }
            Self::Both => "axis and axes say the same: give one of them".into(),
            Self::Lists { expected, found } => {
                format!("{signature} has {expected} arguments, found axes of {found}")
            }
            Self::Count { argument, expected, found } => format!(
                "argument {argument} of {signature} has {}, found {found}",
                self::axes(*expected)
            ),
            Self::Range { argument, axis, rank } => format!(
                "axis {axis} of argument {argument} of {signature} does not exist: the rank is {rank}"
            ),
            Self::Repeated { argument, axis } => {
                format!("axis {axis} of argument {argument} of {signature} was given twice")
            }
            Self::Missing => {
                format!("axes of {signature} were given where optional core dimensions are missing")
            }
            Self::Update => format!(
                "an update needs a first input and one output that are alike, {signature} has others"
            ),
            Self::KeepDims => format!(
                "keepdims needs inputs with the same core axes and outputs without, {signature} has others"
            ),
        }
    }
}

/// What an elementary function reported, to be cloned and compared. Compares by its text.
#[derive(Clone, thiserror::Error)]
#[error("{}", Foreign(.0))]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// Of what a function reported.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }

    /// What it reported.
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl Debug for Cause {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Debug::fmt(&Foreign(format_args!("{:?}", self.0)), f)
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

fn quoted(text: &str) -> String {
    if text.is_empty() { "the end".into() } else { format!("`{}`", Foreign(text)) }
}

/// Where a signature is malformed, how, and a caret below the place.
pub(super) fn malformed(text: &str, byte: Option<usize>, flaw: &SignatureFlaw) -> String {
    let shown = text.chars().all(|c| !c.is_control() && text.len() < 200);
    match byte {
        Some(byte) if shown => {
            let before = text.char_indices().take_while(|(at, _)| *at < byte).count();
            format!(" at byte {byte}: {flaw}\n  {text}\n  {:before$}^", "")
        }
        Some(byte) => format!(" at byte {byte}: {flaw}"),
        None => format!(": {flaw}"),
    }
}

/// A number of things.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

pub(super) fn axes(count: usize) -> String {
    format!("{count} core {}", if count == 1 { "axis" } else { "axes" })
}

pub(super) fn so_far(extent: usize, first: usize) -> String {
    match first {
        0 => format!("{extent}"),
        first => format!("{extent} in argument {first}"),
    }
}

pub(super) fn found_at(argument: usize, axis: usize) -> String {
    match argument {
        0 => "by the function of the extents".into(),
        argument => format!("in argument {argument} (axis {axis})"),
    }
}

pub(super) fn in_row(row: &Option<Vec<usize>>) -> String {
    row.as_ref().map_or(String::new(), |row| format!(" in row {row:?}"))
}

pub(super) fn no_extent(value: Option<i128>) -> String {
    value.map_or("is no whole number that fits".into(), |value| format!("is {value}"))
}

/// Extents by name.
pub(super) fn extents(extents: &[(String, usize)]) -> String {
    let each: Vec<String> =
        extents.iter().map(|(name, extent)| format!("{name} = {extent}")).collect();
    each.join(", ")
}
