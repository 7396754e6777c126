//! Timing and printing, for all benches.

pub use rayon::join;
use std::fmt::Debug;
use std::hint::black_box;
use std::time::Instant;

/// What is timed.
pub type Contestant<'a> = &'a mut (dyn FnMut() + Send);

/// A workload against memcpy, in implementations that write to outputs of their own.
#[allow(missing_debug_implementations, reason = "made of closures")]
pub struct Case<'a> {
    /// Of the row.
    pub name: &'a str,
    /// What memcpy has to move in the same time.
    pub bytes: usize,
    /// Ratio to memcpy that is to be reached on one thread.
    pub reach: f64,
    /// This library.
    pub ours: Contestant<'a>,
    /// A plain loop.
    pub naive: Contestant<'a>,
    /// The peer, where it has the operation.
    pub ndarray: Option<Contestant<'a>>,
}

/// A workload against a peer, in implementations that make their results anew.
#[allow(missing_debug_implementations, reason = "made of closures")]
pub struct Match<'a> {
    /// Of the row.
    pub name: &'a str,
    /// Ratio to the peer that is to be reached on one thread.
    pub reach: f64,
    /// This library.
    pub ours: Contestant<'a>,
    /// The peer and its name.
    pub peer: (&'a str, Contestant<'a>),
    /// A plain loop.
    pub naive: Option<Contestant<'a>>,
}

/// What the command line asks for, and what was printed.
#[derive(Debug)]
pub struct Bench {
    /// Small workloads and few rounds: whether all of it works.
    pub quick: bool,
    /// Curves over sizes instead of rows.
    pub sizes: bool,
    json: bool,
    filter: Option<String>,
    from: Vec<u8>,
    to: Vec<u8>,
    title: Option<&'static str>,
}

impl Bench {
    /// A quick run, lines of JSON, and rows whose names contain a word, as the command line asks for.
    pub fn from_arguments() -> Self {
        let mut bench = Self {
            quick: false,
            sizes: false,
            json: false,
            filter: None,
            from: Vec::new(),
            to: Vec::new(),
            title: None,
        };
        for argument in std::env::args().skip(1) {
            match argument.as_str() {
                "--quick" => bench.quick = true,
                "--sizes" => bench.sizes = true,
                "--json" => bench.json = true,
                // Cargo passes this to every bench.
                "--bench" => {}
                _ => bench.filter = Some(argument),
            }
        }
        bench
    }

    /// Side of the large squares.
    pub fn side(&self) -> usize {
        if self.quick { 256 } else { 4096 }
    }

    /// Whether a row was asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()))
    }

    fn rounds(&self) -> usize {
        if self.quick { 3 } else { 15 }
    }

    /// Times all contestants of a case with one thread, and ours with two.
    pub fn run(&mut self, case: Case<'_>) {
        let (half, rounds) = (case.bytes / 2, self.rounds());
        if self.from.len() < half {
            self.from = vec![1; half];
            self.to = vec![2; half];
        }
        let (from, to) = (&self.from[..half], &mut self.to[..half]);
        let mut memcpy = || to.copy_from_slice(black_box(from));
        let one = pool(1).install(|| {
            let mut contestants: Vec<Contestant<'_>> =
                vec![&mut memcpy, &mut *case.ours, case.naive];
            if let Some(ndarray) = case.ndarray {
                contestants.push(ndarray);
            }
            interleave(&mut contestants, rounds)
        });
        let two = pool(2).install(|| interleave(&mut [&mut memcpy, case.ours], rounds));
        let against = |k: usize| one.get(k).map(|own| ratio(own, &one[0]));
        let (name, reach, ours) = (case.name, case.reach, ratio(&one[1], &one[0]));
        let (ms, speedup) = (milliseconds(&one[1]), median(&one[1]) / median(&two[1]));
        if self.json {
            let or_null = |x: Option<f64>| x.map_or("null".into(), |x| format!("{x:.3}"));
            println!(
                "{{\"workload\":\"{name}\",\"ms\":{ms:.4},\"ours\":{ours:.3},\"reach\":{reach},\"naive\":{},\"ndarray\":{},\"two_threads\":{speedup:.2}}}",
                or_null(against(2)),
                or_null(against(3))
            );
            return;
        }
        self.head(
            "one thread, time / memcpy time of the same bytes (lower is better)",
            "       ms    ours   reach   naive  ndarray  2 thr",
        );
        println!(
            "{name:<34} {ms:>9.3} {ours:>6.2}{} {reach:>7} {:>7} {:>8} {speedup:>5.2}x",
            mark(ours, reach),
            or_dash(against(2)),
            or_dash(against(3))
        );
    }

    /// Times all contestants of a match with one thread, and ours with two.
    pub fn run_match(&mut self, case: Match<'_>) {
        let (rounds, (peer, run_peer)) = (self.rounds(), case.peer);
        let one = pool(1).install(|| {
            let mut contestants: Vec<Contestant<'_>> = vec![&mut *case.ours, run_peer];
            if let Some(naive) = case.naive {
                contestants.push(naive);
            }
            interleave(&mut contestants, rounds)
        });
        // Alone with one thread as with two: caches hold what the peer leaves in them.
        let [alone, two] =
            [1, 2].map(|n| pool(n).install(|| interleave(&mut [&mut *case.ours], rounds)));
        let (name, reach, ours) = (case.name, case.reach, ratio(&one[0], &one[1]));
        let naive = one.get(2).map(|naive| ratio(naive, &one[1]));
        let (ms, peer_ms) = (milliseconds(&one[0]), milliseconds(&one[1]));
        let speedup = median(&alone[0]) / median(&two[0]);
        if self.json {
            let naive = naive.map_or("null".into(), |x| format!("{x:.3}"));
            println!(
                "{{\"workload\":\"{name}\",\"ms\":{ms:.5},\"peer\":\"{peer}\",\"peer_ms\":{peer_ms:.5},\"ours\":{ours:.3},\"reach\":{reach:.3},\"naive\":{naive},\"two_threads\":{speedup:.2}}}"
            );
            return;
        }
        self.head(
            "one thread, time / time of the peer (lower is better)",
            "        ms    peer ms     peer   ours  reach  naive  2 thr",
        );
        println!(
            "{name:<34} {ms:>10.4} {peer_ms:>10.4} {peer:>8} {ours:>5.2}{} {reach:>6.2} {:>6} {speedup:>5.2}x",
            mark(ours, reach),
            or_dash(naive)
        );
    }

    /// Times one operation at one size with one thread: ours, ndarray and a plain loop.
    pub fn at_size(
        &mut self,
        name: &str,
        count: usize,
        ours: Contestant<'_>,
        ndarray: Contestant<'_>,
        naive: Contestant<'_>,
    ) {
        let rounds = self.rounds();
        let times = pool(1).install(|| interleave(&mut [ours, ndarray, naive], rounds));
        let (ns, each) = (median(&times[0]) * 1e9, median(&times[0]) * 1e9 / count as f64);
        let [ndarray, naive] = [1, 2].map(|k| ratio(&times[0], &times[k]));
        if self.json {
            println!(
                "{{\"workload\":\"{name}\",\"count\":{count},\"ns\":{ns:.1},\"to_ndarray\":{ndarray:.3},\"to_naive\":{naive:.3}}}"
            );
            return;
        }
        self.head(
            "one thread, our time and its ratios to those of the others (lower is better)",
            "  elements           ns  ns each  /ndarray     /loop",
        );
        println!("{name:<34} {count:>10} {ns:>12.1} {each:>8.2} {ndarray:>9.2} {naive:>9.2}");
    }

    /// Times contestants that take nanoseconds; ours first.
    pub fn small(
        &mut self,
        name: &str,
        reach: f64,
        per: usize,
        contestants: &mut [(&str, &mut dyn FnMut())],
    ) {
        if !self.wants(name) {
            return;
        }
        let calls = if self.quick { 10 } else { 20_000_usize.div_ceil(per).max(5) };
        let rounds = if self.quick { 3 } else { 25 };
        let mut times = vec![Vec::new(); contestants.len()];
        for _ in 0..rounds {
            for ((_, contestant), times) in contestants.iter_mut().zip(&mut times) {
                let start = Instant::now();
                for _ in 0..calls {
                    contestant();
                }
                times.push(start.elapsed().as_secs_f64() * 1e9 / (calls * per) as f64);
            }
        }
        let medians: Vec<f64> = times.iter().map(|times| median(times)).collect();
        if self.json {
            println!("{{\"workload\":\"{name}\",\"ns\":{:.2},\"reach_ns\":{reach}}}", medians[0]);
            return;
        }
        let others: Vec<String> = contestants[1..]
            .iter()
            .zip(&medians[1..])
            .map(|((name, _), ns)| format!("{name} {ns:.1}"))
            .collect();
        println!(
            "{name:<46} {:>7.2} ns{} reach {reach:>5}   {}",
            medians[0],
            mark(medians[0], reach),
            others.join(", ")
        );
    }

    /// Prints the names of columns where rows of another kind begin.
    fn head(&mut self, title: &'static str, columns: &str) {
        if self.title.replace(title) != Some(title) {
            println!("{title}\n\n{:<34} {columns}", "workload");
        }
    }
}

fn mark(ours: f64, reach: f64) -> char {
    if ours <= reach { ' ' } else { '!' }
}

fn or_dash(ratio: Option<f64>) -> String {
    ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"))
}

/// A pool of so many threads.
///
/// # Panics
///
/// If there are no threads to be had.
pub fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool")
}

/// Times of every contestant in seconds, one a round; short ones run several times a round.
fn interleave(contestants: &mut [Contestant<'_>], rounds: usize) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::with_capacity(rounds); contestants.len()];
    let repeats: Vec<usize> = contestants
        .iter_mut()
        .map(|contestant| {
            let start = Instant::now();
            contestant();
            (2e-3 / start.elapsed().as_secs_f64()).ceil().clamp(1.0, 1e5) as usize
        })
        .collect();
    for _ in 0..rounds {
        for ((contestant, times), &repeats) in contestants.iter_mut().zip(&mut times).zip(&repeats)
        {
            let start = Instant::now();
            for _ in 0..repeats {
                contestant();
            }
            times.push(start.elapsed().as_secs_f64() / repeats as f64);
        }
    }
    times
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn milliseconds(times: &[f64]) -> f64 {
    median(times) * 1e3
}

/// The median over rounds of one time divided by another of the same round.
fn ratio(own: &[f64], other: &[f64]) -> f64 {
    median(&own.iter().zip(other).map(|(own, other)| own / other).collect::<Vec<f64>>())
}

/// Holds a result against another; called before anything is timed.
///
/// # Panics
///
/// Unless they are the same.
pub fn check<T: PartialEq + Debug>(name: &str, found: &[T], expected: &[T]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    if let Some(k) = found.iter().zip(expected).position(|(a, b)| a != b) {
        panic!("{name}: element {k} is {:?}, expected {:?}", found[k], expected[k]);
    }
}
