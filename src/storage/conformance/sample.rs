//! Which addresses and runs are tried: all of few, the same sample of many.

/// Most addresses that are tried.
pub(super) const TRIED: usize = 4096;
/// Most runs that are tried.
const RUNS: usize = 512;
/// Length of the longest sampled run: longer than a block of most storages.
const LONGEST: usize = 300;

/// All addresses below `len`, or a sample with both ends, ascending and unique.
pub(super) fn addresses(len: usize) -> Vec<usize> {
    if len <= TRIED {
        return (0..len).collect();
    }
    let mut random = Random::new(len);
    let ends = (0..TRIED / 4).flat_map(|k| [k, len - 1 - k]);
    let between = (0..TRIED / 2).map(|_| random.below(len));
    let mut all: Vec<usize> = ends.chain(between).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A run of addresses that lie inside the storage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) step: isize,
    pub(super) count: usize,
}

impl Run {
    /// The longest run from `start` by `step` inside `len`, of at most `limit` elements.
    fn longest(start: usize, step: isize, len: usize, limit: usize) -> Self {
        let room = if step < 0 { start } else { len - 1 - start };
        Self { start, step, count: limit.min(room / step.unsigned_abs() + 1) }
    }

    pub(super) fn addresses(self) -> impl ExactSizeIterator<Item = usize> {
        (0..self.count)
            .map(move |k| self.start.wrapping_add_signed(self.step.wrapping_mul(k as isize)))
    }
}

/// Runs by positive and negative steps: all of small steps in short storage, a sample otherwise; always an empty one.
pub(super) fn runs(len: usize) -> Vec<Run> {
    let mut all = vec![Run { start: 0, step: 1, count: 0 }];
    if len == 0 {
        return all;
    }
    for (start, step) in [(0, 1), (len - 1, -1), (0, 2), (len - 1, -3)] {
        all.push(Run::longest(start, step, len, TRIED.min(len.max(5))));
    }
    let mut random = Random::new(len);
    if len <= 16 {
        let steps = || (-4..=4).filter(|step| *step != 0);
        let pairs = (0..len).flat_map(|start| steps().map(move |step| (start, step)));
        all.extend(pairs.map(|(start, step)| Run::longest(start, step, len, len)));
    }
    while all.len() < RUNS {
        let step = match random.below(4) {
            0 => 1,
            1 => -1,
            2 => [-4, -3, -2, 2, 3, 4][random.below(6)],
            _ => {
                let most = len.min(isize::MAX as usize / 4);
                random.below(2 * most) as isize - most as isize
            }
        };
        let (step, limit) = (if step == 0 { 1 } else { step }, 1 + random.below(LONGEST));
        all.push(Run::longest(random.below(len), step, len, limit));
    }
    all
}

/// Lists of addresses: none, all tried ones backwards, every one twice, and random ones.
pub(super) fn lists(len: usize) -> Vec<Vec<usize>> {
    let tried = addresses(len);
    let backwards = tried.iter().rev().copied().collect();
    let twice = tried.iter().flat_map(|&address| [address, address]).collect();
    let mut random = Random::new(len);
    let mut all = vec![Vec::new(), backwards, twice];
    for count in [1, 2, 7, 100, LONGEST].into_iter().filter(|_| len > 0) {
        all.push((0..count).map(|_| random.below(len)).collect());
    }
    all
}

/// Numbers that look random and are always the same (splitmix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: usize) -> Self {
        Self(seed as u64)
    }

    /// A number below `limit`, which is not 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}
