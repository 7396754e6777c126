//! What lies beyond the border of an operand, and which part of a convolution is wanted.

use crate::error::{Error, Result};

/// What lies beyond the border of an operand, of `a b c d` for example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Border {
    /// Zeros: `0 0 | a b c d | 0 0`.
    Zero,
    /// The nearest element: `a a | a b c d | d d`.
    Clamp,
    /// The operand again: `c d | a b c d | a b`.
    Wrap,
    /// Its mirror image about the last element: `c b | a b c d | c b`. NumPy's `pad` with mode `reflect`.
    Reflect,
}

/// Which part of a convolution, for an axis of extent `n` and a kernel of extent `k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// All places where the kernel meets the operand: extent `n + k - 1`, or 0 if `n` is.
    Full(Border),
    /// The middle of [`Self::Full`], from its element `(k - 1) / 2` on: extent `n`, of a longer kernel too, as
    /// SciPy has it. NumPy's has the longer extent of the two.
    Same(Border),
    /// The places where the kernel lies inside: extent `n - k + 1`.
    Valid,
}

impl Mode {
    pub(super) fn edge(self) -> Border {
        match self {
            Self::Full(edge) | Self::Same(edge) => edge,
            Self::Valid => Border::Zero,
        }
    }

    /// Elements before the first one that a kernel of extent `k` reaches, and extent of the result.
    pub(super) fn extent(self, axis: usize, n: usize, k: usize) -> Result<[usize; 2]> {
        let refused = Err(Error::Window { axis, window: k, extent: n });
        match self {
            _ if k == 0 => refused,
            Self::Valid if k > n => refused,
            Self::Valid => Ok([0, n - k + 1]),
            Self::Same(_) => Ok([k / 2, n]),
            Self::Full(_) if n == 0 => Ok([0, 0]),
            Self::Full(_) => Ok([k - 1, n.saturating_add(k - 1)]),
        }
    }
}

impl Border {
    /// Which element of an axis of extent `n` stands at place `at` of it, which may lie beyond the border;
    /// `None` for zeros.
    pub(super) fn source(self, at: isize, n: usize) -> Option<usize> {
        let end = n as isize;
        if (0..end).contains(&at) {
            return Some(at as usize);
        }
        match self {
            Self::Zero => None,
            Self::Clamp => Some(at.clamp(0, end - 1) as usize),
            Self::Wrap => Some(at.rem_euclid(end) as usize),
            Self::Reflect if n == 1 => Some(0),
            Self::Reflect => {
                let period = 2 * (end as i128 - 1);
                let place = (at as i128).rem_euclid(period);
                Some(place.min(period - place) as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Border;

    #[test]
    fn the_longest_axis_has_a_mirror_image() {
        assert_eq!(Border::Reflect.source(-2, isize::MAX as usize), Some(2));
    }
}
