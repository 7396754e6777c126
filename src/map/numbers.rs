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

/// Smallest `i` with `low <= (shift + i * step) mod period <= high`, if there is one; shift, step and bounds lie below the
/// period. O(log period) steps.
pub(super) fn first_within(
    period: usize,
    shift: usize,
    step: usize,
    [low, high]: [usize; 2],
) -> Option<u128> {
    let (period, width) = (period as u128, (high - low) as u128);
    let low = (low as u128 + period - shift as u128) % period;
    match low == 0 || low + width >= period {
        true => Some(0),
        false => first_multiple(step as u128, period, low, low + width),
    }
}

/// Smallest `x` with `low <= a * x mod m <= high`, if there is one, for `a < m` and `0 < low <= high < m`.
///
/// Where no multiple of `a` falls into the interval before it wraps, one does after that wrap `y` for which `m * y` modulo
/// `a` falls into the mirrored interval: the same question of smaller numbers.
fn first_multiple(a: u128, m: u128, low: u128, high: u128) -> Option<u128> {
    if a == 0 {
        return None;
    }
    let x = low.div_ceil(a);
    if a * x <= high {
        return Some(x);
    }
    let wraps = first_multiple(m % a, a, a - high % a, a - low % a)?;
    Some((low + m * wraps).div_ceil(a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_within_is_found_over_the_walk() {
        for period in 1..12 {
            for (step, shift) in (0..period).flat_map(|step| (0..period).map(move |k| (step, k))) {
                for (low, high) in (0..period).flat_map(|low| (low..period).map(move |k| (low, k)))
                {
                    let within =
                        |i: &u128| (low..=high).contains(&((shift + *i as usize * step) % period));
                    let expected = (0..period as u128).find(within);
                    let found = first_within(period, shift, step, [low, high]);
                    assert_eq!(found, expected, "{period} {shift} {step} {low} {high}");
                }
            }
        }
    }

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
