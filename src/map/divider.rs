//! Division by one number many times.

/// Divides numbers below a limit by one and the same, by a multiplication if that is exact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Divider {
    by: usize,
    /// 2^64 / `by`, rounded up; 0 if divisions have to be made.
    inverse: u64,
}

impl Divider {
    /// Division of numbers below `limit`; 0 counts as 1.
    ///
    /// Let `inverse * by = 2^64 + e`, where `e < by`. Then `n * inverse / 2^64` is `n / by` and
    /// `n * e / 2^64 / by` too much: less than `1 / by`, by which `n / by` falls short of the next integer
    /// at least, as long as `n * by < 2^64`.
    pub(crate) fn new(by: usize, limit: usize) -> Self {
        let by = by.max(1);
        let exact = by as u128 * limit as u128 <= u64::MAX as u128;
        // One more would be 2^64 for 1.
        let inverse = if exact && by > 1 { u64::MAX / by as u64 + 1 } else { 0 };
        Self { by, inverse }
    }

    /// The multiplication, if it is exact.
    pub(crate) fn multiplier(self) -> Option<Multiplier> {
        (self.inverse != 0).then_some(Multiplier { by: self.by, inverse: self.inverse })
    }

    /// Quotient and remainder of a number below the limit.
    #[inline(always)]
    pub(crate) fn divide(self, number: usize) -> (usize, usize) {
        match self.inverse {
            0 => (number / self.by, number % self.by),
            inverse => Multiplier { by: self.by, inverse }.divide(number),
        }
    }
}

/// Divides numbers below a limit by a multiplication: loops need not ask whether that is exact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Multiplier {
    by: usize,
    inverse: u64,
}

impl Multiplier {
    /// Quotient and remainder of a number below the limit; of others any numbers.
    #[inline(always)]
    pub(crate) fn divide(self, number: usize) -> (usize, usize) {
        let quotient = ((number as u128 * self.inverse as u128) >> 64) as usize;
        (quotient, number.wrapping_sub(quotient.wrapping_mul(self.by)))
    }
}

#[cfg(test)]
mod tests {
    use super::Divider;

    #[test]
    fn quotients_are_those_of_divisions() {
        let most = usize::MAX;
        let large = [most >> 31, (most >> 31) / 3, most >> 4, u32::MAX as usize, most];
        let numbers = [0, 1, 2, 3, 7, 10, 255, 256, 9_999, 10_000].into_iter().chain(large);
        for by in numbers.clone() {
            for limit in numbers.clone() {
                let (divider, by) = (Divider::new(by, limit), by.max(1));
                let near = (0..4).map(|k| limit.saturating_sub(by.saturating_mul(k)));
                let rows = (0..4).map(|k| (limit / by).saturating_sub(k) * by);
                let below =
                    near.chain(rows).flat_map(|n| n.saturating_sub(2)..n).chain(0..limit.min(600));
                for number in below {
                    assert_eq!(
                        divider.divide(number),
                        (number / by, number % by),
                        "{number} / {by}"
                    );
                }
            }
        }
    }
}
