//! The number theory behind patterns and their inverses.

/// Greatest common divisor; that of 0 and a number is the number.
pub(super) fn gcd(a: usize, b: usize) -> usize {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `x` with `a * x = 1` modulo `period`, for coprime numbers, by the extended Euclidean algorithm.
pub(super) fn inverse_modulo(a: usize, period: usize) -> usize {
    let (mut r, mut next_r) = (period as i128, a as i128);
    let (mut x, mut next_x) = (0_i128, 1_i128);
    while next_r != 0 {
        let quotient = r / next_r;
        (r, next_r) = (next_r, r - quotient * next_r);
        (x, next_x) = (next_x, x - quotient * next_x);
    }
    x.rem_euclid(period as i128) as usize
}

/// Smallest `(shift + i * step) mod period` for `i` in `0..count`, in O(log period) steps.
///
/// A pattern attains its minimum at its start or right after a wrap. The positions right after the
/// wraps form such a pattern again, of period `step`: after wrap `y` the position is
/// `(shift - y * period) mod step`. Where `step` is more than half the period the pattern is read
/// backwards, which makes the next period at most half of this one.
pub(super) fn lowest_position(count: usize, period: usize, shift: usize, step: usize) -> usize {
    let (mut n, mut m, mut a, mut b) = (count as u128, period as u128, step as u128, shift as u128);
    let mut lowest = b;
    loop {
        if n == 0 || a == 0 {
            return lowest as usize;
        }
        if a > m - a {
            b = (b + a * (n - 1)) % m;
            a = m - a;
            lowest = lowest.min(b);
        }
        let wraps = (b + a * (n - 1)) / m;
        if wraps == 0 {
            return lowest as usize;
        }
        let back = (a - m % a) % a;
        let after_first = (b % a + back) % a;
        (n, m, a, b) = (wraps, a, back, after_first);
        lowest = lowest.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_position_is_the_minimum_over_the_walk() {
        for period in 1..14 {
            for step in 0..period {
                for shift in 0..period {
                    for count in 1..20 {
                        let expected = (0..count).map(|i| (shift + i * step) % period).min();
                        assert_eq!(
                            Some(lowest_position(count, period, shift, step)),
                            expected,
                            "{count} {period} {shift} {step}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_inverse_of_a_coprime_number_multiplies_to_one() {
        for period in 2..40 {
            for a in (1..period).filter(|&a| gcd(a, period) == 1) {
                assert_eq!(a * inverse_modulo(a, period) % period, 1, "{a} {period}");
            }
        }
        assert_eq!(inverse_modulo(0, 1), 0);
    }
}
