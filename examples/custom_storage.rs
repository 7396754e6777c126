//! A run-length encoded label mask as a storage of its own: with two methods it takes every view and
//! every expression. A third one decodes along runs instead of searching for each element, and a fourth
//! says that the mask is sparse.

use lensor::prelude::*;
use lensor::{StorageError, Stored};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

const SIDE: usize = 1000;

/// Equal neighbours are stored once, with the addresses they lie at.
struct RunLength {
    runs: Vec<(Range<usize>, u8)>,
    searches: AtomicUsize,
}

impl RunLength {
    fn search(&self, address: usize) -> &(Range<usize>, u8) {
        self.searches.fetch_add(1, Ordering::Relaxed);
        &self.runs[self.runs.partition_point(|(run, _)| run.end <= address)]
    }
}

impl Reader for RunLength {
    type Elem = u8;

    fn len(&self) -> usize {
        self.runs.last().map_or(0, |(run, _)| run.end)
    }

    fn read(&self, address: usize) -> u8 {
        self.search(address).1
    }
}

/// The same storage with the third method.
struct Fast(RunLength);

impl Reader for Fast {
    type Elem = u8;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> u8 {
        self.0.read(address)
    }

    fn read_run(&self, start: usize, step: isize, out: &mut [u8]) -> Result<(), StorageError> {
        let mut run = &(0..0, 0);
        for (k, slot) in out.iter_mut().enumerate() {
            let address = start.wrapping_add_signed(step * k as isize);
            if !run.0.contains(&address) {
                run = self.0.search(address);
            }
            *slot = run.1;
        }
        Ok(())
    }
}

/// The same mask as sparse storage: label 0 takes no entry.
struct Labels {
    mask: Fast,
    /// Entries before each run, and all of them.
    before: Vec<usize>,
}

impl Labels {
    fn new(mask: Fast) -> Self {
        let mut before = vec![0];
        for (run, label) in &mask.0.runs {
            let own = if *label == 0 { 0 } else { run.len() };
            before.push(before[before.len() - 1] + own);
        }
        Self { mask, before }
    }
}

impl Reader for Labels {
    type Elem = u8;

    fn len(&self) -> usize {
        self.mask.len()
    }

    fn read(&self, address: usize) -> u8 {
        self.mask.read(address)
    }

    fn stored(&self) -> Option<&dyn Stored<Elem = u8>> {
        Some(self)
    }
}

impl Stored for Labels {
    type Elem = u8;

    fn fill(&self) -> u8 {
        0
    }

    fn count(&self) -> usize {
        self.before[self.before.len() - 1]
    }

    fn rank(&self, address: usize) -> usize {
        let runs = &self.mask.0.runs;
        let which = runs.partition_point(|(run, _)| run.end <= address);
        match runs.get(which) {
            Some((run, label)) if *label != 0 => self.before[which] + address - run.start,
            _ => self.before[which],
        }
    }

    fn entries(&self, from: usize, addresses: &mut [usize], values: &mut [u8]) -> usize {
        let first = self.before.partition_point(|&before| before <= from).saturating_sub(1);
        let runs = self.mask.0.runs.get(first..).unwrap_or_default();
        let stored = runs.iter().filter(|(_, label)| *label != 0);
        let all = stored.flat_map(|(run, label)| run.clone().map(move |at| (at, *label)));
        let skipped = from - self.before[first.min(self.before.len() - 1)];
        let slots = addresses.iter_mut().zip(values);
        slots.zip(all.skip(skipped)).map(|((at, value), entry)| (*at, *value) = entry).count()
    }
}

fn main() -> Result<(), Error> {
    // Rectangles of three labels: eight runs a row instead of a thousand elements.
    let plain = Tensor::from_index([SIDE, SIDE], |i| ((i[0] / 250 + i[1] / 125) % 3) as u8)?;
    let mut end = 0;
    let runs = plain.storage().chunk_by(|a, b| a == b).map(|run| {
        end += run.len();
        (end - run.len()..end, run[0])
    });
    let encoded = RunLength { runs: runs.collect(), searches: AtomicUsize::new(0) };

    // One expression of three views, over any storage of the mask.
    let edges = |storage: &dyn Reader<Elem = u8>| {
        let mask = Tensor::new([SIDE, SIDE], storage)?;
        let moved = mask.clone().rotate([0, -1])?;
        let turned = mask.clone().flip(1)?.transpose([1, 0])?;
        choose(mask.not_equal(moved), 10_u8, turned).eval()
    };
    assert_eq!(edges(&encoded)?, edges(plain.storage())?);
    let searches = encoded.searches.swap(0, Ordering::Relaxed);

    // The third method gives the same elements for a fraction of the work.
    let fast = Fast(encoded);
    assert_eq!(edges(&fast)?, edges(plain.storage())?);
    let fewer = fast.0.searches.load(Ordering::Relaxed);
    assert!(fewer < searches / 2, "{fewer} searches, {searches} before");

    // As sparse storage, sums over any view cost its entries.
    let labels = Tensor::new([SIDE, SIDE], Labels::new(fast))?;
    assert!(labels.view().lazy().is_sparse());
    let sums = labels.view().transpose([1, 0])?.sum(0).eval()?;
    assert_eq!(sums, plain.sum(1).eval()?);
    Ok(())
}
