//! Numbers that two ascending lists have in common.

use super::dispatch;

/// Numbers of either list that are compared at once, each with each.
const WIDE: usize = 8;

/// Two ascending lists, and how far they were read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intersection<'l> {
    pub(crate) lists: [&'l [usize]; 2],
    read: [usize; 2],
}

impl<'l> Intersection<'l> {
    pub(crate) fn new(lists: [&'l [usize]; 2]) -> Self {
        Self { lists, read: [0, 0] }
    }

    /// Calls `visit` with the places in both lists of the next `count` numbers that they share, or of some
    /// more. Lists that do not ascend give other numbers that they share, if any.
    pub(crate) fn take(&mut self, count: usize, mut visit: impl FnMut([usize; 2])) {
        dispatch(
            #[inline(always)]
            || self.run(count, &mut visit),
        );
    }

    /// Which list goes on is no branch, only whether there is a number in common is one. The list that ends
    /// lower goes on, so every pair meets, and only once.
    #[inline(always)]
    fn run(&mut self, mut count: usize, visit: &mut impl FnMut([usize; 2])) {
        let Self { lists: [a, b], read: [i, j] } = self;
        while let (Some(x), Some(y)) =
            (a[*i..].first_chunk::<WIDE>(), b[*j..].first_chunk::<WIDE>())
        {
            if count == 0 {
                return;
            }
            let mut shared = [false; WIDE];
            for &number in y {
                for (shared, &other) in shared.iter_mut().zip(x) {
                    *shared |= number == other;
                }
            }
            if shared.iter().fold(false, |any, shared| any | shared) {
                for (k, l) in (0..WIDE).flat_map(|k| (0..WIDE).map(move |l| (k, l))) {
                    if x[k] == y[l] {
                        visit([*i + k, *j + l]);
                        count = count.saturating_sub(1);
                    }
                }
            }
            let ends = (x[WIDE - 1], y[WIDE - 1]);
            *i += WIDE * usize::from(ends.0 <= ends.1);
            *j += WIDE * usize::from(ends.1 <= ends.0);
        }
        while let (Some(x), Some(y)) = (a.get(*i), b.get(*j)) {
            if count == 0 {
                return;
            }
            if x == y {
                visit([*i, *j]);
                count -= 1;
            }
            *i += usize::from(x <= y);
            *j += usize::from(y <= x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Intersection;

    #[test]
    fn pairs_of_equal_numbers_meet_once() {
        for (step, other, count) in [(1, 1, 100), (2, 3, 500), (7, 1, 40), (5, 9, 7), (3, 3, 0)] {
            for shift in [0, 1, usize::MAX / 4] {
                let a: Vec<usize> = (0..count).map(|k| shift + k * step).collect();
                let b: Vec<usize> = (0..600).map(|k| shift + k * other).collect();
                for at_once in [1, 3, 1000] {
                    let (mut found, mut all) = (Vec::new(), Intersection::new([&a, &b]));
                    loop {
                        let before = found.len();
                        all.take(at_once, |pair| found.push(pair));
                        if found.len() == before {
                            break;
                        }
                    }
                    let pairs =
                        (0..a.len()).filter_map(|i| Some([i, b.binary_search(&a[i]).ok()?]));
                    assert!(
                        found.into_iter().eq(pairs),
                        "{step} {other} {count} {shift} {at_once}"
                    );
                }
            }
        }
    }
}
