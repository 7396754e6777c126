//! Timing and printing.

use std::hint::black_box;
use std::time::Instant;

/// A workload in several implementations that write to outputs of their own.
pub(crate) struct Case<'a> {
    pub(crate) name: &'a str,
    /// What memcpy has to move in the same time.
    pub(crate) bytes: usize,
    /// Ratio to reach on one thread.
    pub(crate) reach: f64,
    pub(crate) ours: &'a mut (dyn FnMut() + Send),
    pub(crate) naive: &'a mut (dyn FnMut() + Send),
    pub(crate) ndarray: Option<&'a mut (dyn FnMut() + Send)>,
}

/// What the command line asks for: a quick run, lines of JSON, and rows whose names contain a word.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) quick: bool,
    pub(crate) json: bool,
    pub(crate) filter: Option<String>,
}

impl Arguments {
    pub(crate) fn read() -> Self {
        let mut all = Self::default();
        for argument in std::env::args().skip(1) {
            match argument.as_str() {
                "--quick" => all.quick = true,
                "--json" => all.json = true,
                // Cargo passes this to every bench.
                "--bench" => {}
                _ => all.filter = Some(argument),
            }
        }
        all
    }
}

pub(crate) struct Bench {
    pub(crate) quick: bool,
    json: bool,
    filter: Option<String>,
    from: Vec<u8>,
    to: Vec<u8>,
    header: bool,
}

impl Bench {
    /// As the command line asks for.
    pub(crate) fn from_arguments() -> Self {
        let Arguments { quick, json, filter } = Arguments::read();
        Self { quick, json, filter, from: Vec::new(), to: Vec::new(), header: false }
    }

    /// Side of the large squares.
    pub(crate) fn side(&self) -> usize {
        if self.quick { 256 } else { 4096 }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()))
    }

    /// Times all contestants of a case with one and with two threads.
    pub(crate) fn run(&mut self, case: Case<'_>) {
        let half = case.bytes / 2;
        if self.from.len() < half {
            self.from = vec![1; half];
            self.to = vec![2; half];
        }
        let (from, to) = (&self.from[..half], &mut self.to[..half]);
        let mut memcpy = || to.copy_from_slice(black_box(from));
        let rounds = if self.quick { 3 } else { 15 };
        let one = pool(1).install(|| {
            let mut contestants: Vec<&mut (dyn FnMut() + Send)> =
                vec![&mut memcpy, &mut *case.ours, &mut *case.naive];
            if let Some(ndarray) = case.ndarray {
                contestants.push(ndarray);
            }
            interleave(&mut contestants, rounds)
        });
        let two = pool(2).install(|| interleave(&mut [&mut memcpy, &mut *case.ours], rounds));
        self.print(case.name, case.reach, &one, &two);
    }

    fn print(&mut self, name: &str, reach: f64, one: &[Vec<f64>], two: &[Vec<f64>]) {
        let ratio = |times: &[Vec<f64>], k: usize| {
            times.get(k).map(|own| {
                median(own.iter().zip(&times[0]).map(|(own, memcpy)| own / memcpy).collect())
            })
        };
        let ours = ratio(one, 1).unwrap_or(f64::NAN);
        let (naive, ndarray) = (ratio(one, 2), ratio(one, 3));
        let speedup = median(one[1].clone()) / median(two[1].clone());
        let ms = median(one[1].clone()) * 1e3;
        if self.json {
            let or_null = |x: Option<f64>| x.map_or("null".into(), |x| format!("{x:.3}"));
            println!(
                "{{\"workload\":\"{name}\",\"ms\":{ms:.4},\"ours\":{ours:.3},\"reach\":{reach},\"naive\":{},\"ndarray\":{},\"two_threads\":{speedup:.2}}}",
                or_null(naive),
                or_null(ndarray)
            );
            return;
        }
        if !self.header {
            self.header = true;
            println!("one thread, time / memcpy time of the same bytes (lower is better)\n");
            println!(
                "{:<34} {:>9} {:>7} {:>7} {:>7} {:>8} {:>6}",
                "workload", "ms", "ours", "reach", "naive", "ndarray", "2 thr"
            );
        }
        let or_dash = |x: Option<f64>| x.map_or("-".into(), |x| format!("{x:.2}"));
        let mark = if ours <= reach { ' ' } else { '!' };
        println!(
            "{name:<34} {ms:>9.3} {ours:>6.2}{mark} {reach:>7} {:>7} {:>8} {speedup:>5.2}x",
            or_dash(naive),
            or_dash(ndarray)
        );
    }

    /// Times contestants that take nanoseconds; ours first.
    pub(crate) fn small(
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
        let medians: Vec<f64> = times.into_iter().map(median).collect();
        if self.json {
            println!("{{\"workload\":\"{name}\",\"ns\":{:.2},\"reach_ns\":{reach}}}", medians[0]);
            return;
        }
        let others: Vec<String> = contestants[1..]
            .iter()
            .zip(&medians[1..])
            .map(|((name, _), ns)| format!("{name} {ns:.1}"))
            .collect();
        let mark = if medians[0] <= reach { ' ' } else { '!' };
        println!(
            "{name:<46} {:>7.2} ns{mark} reach {reach:>5}   {}",
            medians[0],
            others.join(", ")
        );
    }
}

pub(crate) fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool")
}

/// Times of every contestant in seconds, one a round; short ones run several times a round.
pub(crate) fn interleave(
    contestants: &mut [&mut (dyn FnMut() + Send)],
    rounds: usize,
) -> Vec<Vec<f64>> {
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

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Panics unless two results are the same; called before anything is timed.
pub(crate) fn check<T: PartialEq + std::fmt::Debug>(name: &str, found: &[T], expected: &[T]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    if let Some(k) = found.iter().zip(expected).position(|(a, b)| a != b) {
        panic!("{name}: element {k} is {:?}, expected {:?}", found[k], expected[k]);
    }
}
