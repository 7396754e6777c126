//! Sparse storage with more entries than are looked at, which lies beyond the first of them.

use lensor::conformance::{Violation, reader_violations, same_or_nan};
use lensor::{Reader, Stored};

#[derive(Clone, Copy, PartialEq)]
enum Lie {
    None,
    /// Where no entry is there is something else than the fill.
    Fill,
    /// The last entry is never below.
    Rank,
    /// No entries are below.
    Zero,
}

const LEN: usize = 1 << 20;
const COUNT: usize = 5000;

/// Ones at the first multiples of a number.
struct Ones {
    every: usize,
    lie: Lie,
}

impl Reader for Ones {
    type Elem = i64;

    fn len(&self) -> usize {
        LEN
    }

    fn read(&self, address: usize) -> i64 {
        let is_entry = address.is_multiple_of(self.every) && address / self.every < COUNT;
        let other = if self.lie == Lie::Fill && address > 4500 * self.every { 7 } else { 0 };
        if is_entry { 1 } else { other }
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = i64>> {
        Some(self)
    }
}

impl Stored for Ones {
    type Elem = i64;

    fn fill(&self) -> i64 {
        0
    }

    fn count(&self) -> usize {
        COUNT
    }

    fn rank(&self, address: usize) -> usize {
        let rank = address.div_ceil(self.every).min(COUNT);
        match self.lie {
            Lie::Rank if address < LEN => rank.min(COUNT - 1),
            Lie::Zero if (COUNT * self.every..LEN).contains(&address) => 0,
            _ => rank,
        }
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [i64]) -> usize {
        let count = addresses.len().min(values.len()).min(COUNT - from);
        addresses[..count].iter_mut().enumerate().for_each(|(k, a)| *a = (from + k) * self.every);
        values[..count].fill(1);
        count
    }
}

#[test]
fn what_lies_between_entries_far_on_is_looked_at() {
    for every in [1, 200] {
        let of = |lie| reader_violations(&Ones { every, lie }, same_or_nan);
        assert_eq!(of(Lie::None), []);
        let filled = of(Lie::Fill);
        let [Violation::Fill { address }] = filled[..] else { panic!("{filled:?}") };
        assert!(address > 4500 * every, "{address}");
        for lie in [Lie::Rank, Lie::Zero] {
            let ranked = of(lie);
            let found = if lie == Lie::Rank { COUNT - 1 } else { 0 };
            let [Violation::Rank { expected: COUNT, found: f, .. }] = ranked[..] else {
                panic!("{ranked:?}")
            };
            assert_eq!(f, found);
        }
    }
}
