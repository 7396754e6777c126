//! Sorting of short lanes, several at once: a row holds one item of every lane, and rows are put in order by
//! pairs, item by item, which is minima and maxima of vectors.

use crate::dtype::Radix;
use crate::error::Result;
use crate::kernel::{Kernel, dispatch};
use crate::memory::make_room;

/// Lanes that are sorted at once, and where there are no more than [`FEW`] of them, which are a vector of several bytes each.
pub(super) const LANES: usize = 16;
const FEW: usize = LANES / 2;
/// Items of the longest lanes.
pub(super) const LONGEST: usize = 32;

/// Memory to sort with, kept from lanes to lanes.
#[derive(Debug, Default)]
pub(super) struct Network<R> {
    rows: Vec<R>,
}

/// How many lanes of so many are sorted at once.
#[inline(always)]
pub(super) fn together<R: Radix>(lanes: usize) -> usize {
    if lanes <= FEW && R::BYTES >= 4 { FEW } else { LANES }
}

impl<R: Radix> Network<R> {
    /// Sorts the first lanes of `len` items, [`together`] of which lie one after another.
    pub(super) fn sort(&mut self, items: &mut [R], len: usize, together: usize) -> Result<()> {
        let count = len * together;
        make_room(&mut self.rows, count)?;
        let (items, rows) = (&mut items[..count], &mut self.rows[..count]);
        let pairs = PAIRS[len].as_slice();
        match together {
            FEW => dispatch(Sort::<_, FEW> { items, rows: rows.as_chunks_mut().0, pairs }),
            _ => dispatch(Sort::<_, LANES> { items, rows: rows.as_chunks_mut().0, pairs }),
        }
        Ok(())
    }
}

/// The pairs of rows that are put in order, one after another.
#[derive(Clone, Copy)]
struct Pairs {
    all: [(u8, u8); 191],
    count: usize,
}

impl Pairs {
    /// Batcher's network of odd and even merges for so many rows.
    const fn new(len: usize) -> Self {
        let (mut all, mut count, mut size) = ([(0, 0); 191], 0, 1);
        while size < len {
            let mut step = size;
            while step > 0 {
                let mut first = step % size;
                while first + step < len {
                    let second = first + step;
                    if first / (2 * size) == second / (2 * size) {
                        all[count] = (first as u8, second as u8);
                        count += 1;
                    }
                    // Neighbours up to a step, and then one is left out.
                    let last = (first - step % size) % (2 * step) == step - 1;
                    first += if last { step + 1 } else { 1 };
                }
                step /= 2;
            }
            size *= 2;
        }
        Self { all, count }
    }

    fn as_slice(&self) -> &[(u8, u8)] {
        &self.all[..self.count]
    }
}

static PAIRS: [Pairs; LONGEST + 1] = {
    let (mut all, mut len) = ([Pairs::new(0); LONGEST + 1], 1);
    while len <= LONGEST {
        all[len] = Pairs::new(len);
        len += 1;
    }
    all
};

/// Sorts eight items, by pairs that are known to the compiler, so that they stay in registers.
#[inline(always)]
pub(super) fn sort_eight<R: Radix>(items: &mut [R; 8]) {
    // Constants of their own: fields of one are read as it runs.
    const PAIRS: [(u8, u8); 191] = Pairs::new(8).all;
    const COUNT: usize = Pairs::new(8).count;
    let mut k = 0;
    while k < COUNT {
        let (first, second) = PAIRS[k];
        let (first, second) = (usize::from(first), usize::from(second));
        let (a, b) = (items[first], items[second]);
        (items[first], items[second]) = (a.min(b), a.max(b));
        k += 1;
    }
}

/// Sorts each of some arrays of at most [`LONGEST`] items.
#[inline(always)]
pub(super) fn sort_arrays<R: Radix, const N: usize>(arrays: &mut [[R; N]; LANES]) {
    if N == 8 {
        for array in arrays {
            if let Some(eight) = array.first_chunk_mut() {
                sort_eight(eight);
            }
        }
    } else {
        let mut rows = [[R::default(); LANES]; N];
        sort_together(arrays.as_flattened_mut(), &mut rows, PAIRS[N].as_slice());
    }
}

/// Sorts the first lanes by pairs of rows, with memory for as many rows as lanes are long.
#[inline(always)]
fn sort_together<R: Radix, const LANES: usize>(
    items: &mut [R],
    rows: &mut [[R; LANES]],
    pairs: &[(u8, u8)],
) {
    let len = rows.len();
    for (lane, items) in items.chunks_exact(len).enumerate() {
        for (item, row) in items.iter().zip(&mut *rows) {
            row[lane % LANES] = *item;
        }
    }
    for &(first, second) in pairs {
        let (first, second) = (usize::from(first), usize::from(second));
        let (mut a, mut b) = (rows[first], rows[second]);
        for (a, b) in a.iter_mut().zip(&mut b) {
            (*a, *b) = a.in_order(*b);
        }
        (rows[first], rows[second]) = (a, b);
    }
    for (lane, items) in items.chunks_exact_mut(len).enumerate() {
        for (item, row) in items.iter_mut().zip(&*rows) {
            *item = row[lane % LANES];
        }
    }
}

struct Sort<'a, R, const LANES: usize> {
    items: &'a mut [R],
    rows: &'a mut [[R; LANES]],
    pairs: &'a [(u8, u8)],
}

impl<R: Radix, const LANES: usize> Kernel for Sort<'_, R, LANES> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        sort_together(self.items, self.rows, self.pairs);
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW, LANES, LONGEST, Network, PAIRS, sort_eight};

    #[test]
    fn eight_zeros_and_ones_are_sorted() {
        for bits in 0..256_u32 {
            let mut items: [u8; 8] = std::array::from_fn(|k| (bits >> k & 1) as u8);
            sort_eight(&mut items);
            assert!(items.is_sorted());
            assert_eq!(items.iter().map(|&item| u32::from(item)).sum::<u32>(), bits.count_ones());
        }
    }

    /// A network sorts everything if it sorts zeros and ones: all of them that are short, and many others.
    #[test]
    fn networks_sort_zeros_and_ones() {
        for (len, pairs) in PAIRS.iter().enumerate() {
            let pairs = pairs.as_slice();
            let count = 1_u64 << len.min(12);
            for number in 0..count {
                let spread = if len <= 12 {
                    number
                } else {
                    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
                };
                let bits = spread & ((1 << len) - 1);
                let sorted = pairs.iter().fold(bits, |bits, &(first, second)| {
                    let exchanged = bits >> first & !(bits >> second) & 1;
                    bits ^ exchanged << first ^ exchanged << second
                });
                let ones = bits.count_ones();
                assert_eq!(sorted, ((1 << ones) - 1) << (len as u32 - ones));
            }
        }
    }

    #[test]
    fn lanes_are_sorted_apart() {
        let mut network = Network::default();
        for (len, lanes) in (1..=LONGEST).chain([3]).flat_map(|len| [(len, FEW), (len, LANES)]) {
            let mut items: Vec<u16> = (0..len * lanes)
                .map(|k| ((k as u64 * k as u64 * 40_503) >> 3) as u16 % 97)
                .collect();
            let mut expected = items.clone();
            expected.chunks_mut(len).for_each(<[u16]>::sort);
            network.sort(&mut items, len, lanes).unwrap();
            assert_eq!(items, expected);
        }
    }
}
