//! Timing and printing.

use crate::timing::{Arguments, interleave, median, pool};

/// A workload in several implementations, each of which makes its result anew.
pub(crate) struct Case<'a> {
    pub(crate) name: String,
    /// Ratio to the peer that is to be reached on one thread.
    pub(crate) reach: f64,
    pub(crate) ours: &'a mut (dyn FnMut() + Send),
    pub(crate) peer: (&'static str, &'a mut (dyn FnMut() + Send)),
    pub(crate) naive: &'a mut (dyn FnMut() + Send),
}

pub(crate) struct Bench {
    pub(crate) quick: bool,
    json: bool,
    filter: Option<String>,
    header: bool,
}

impl Bench {
    /// As the command line asks for.
    pub(crate) fn from_arguments() -> Self {
        let Arguments { quick, json, filter } = Arguments::read();
        Self { quick, json, filter, header: false }
    }

    /// Rows and columns of the matrices.
    pub(crate) fn side(&self) -> usize {
        if self.quick { 500 } else { 10_000 }
    }

    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()))
    }

    /// Times all contestants with one thread, and ours with two.
    pub(crate) fn run(&mut self, case: Case<'_>) {
        let rounds = if self.quick { 3 } else { 15 };
        let (peer, run_peer) = case.peer;
        let one = pool(1).install(|| {
            interleave(&mut [&mut *case.ours, &mut *run_peer, &mut *case.naive], rounds)
        });
        let two = pool(2).install(|| interleave(&mut [&mut *case.ours], rounds));
        let ratio =
            |k: usize| median(one[k].iter().zip(&one[1]).map(|(own, peer)| own / peer).collect());
        let ms = |k: usize| median(one[k].clone()) * 1e3;
        let (name, ours, reach) = (&case.name, ratio(0), case.reach);
        let speedup = median(one[0].clone()) / median(two[0].clone());
        if self.json {
            println!(
                "{{\"workload\":\"{name}\",\"ms\":{:.5},\"peer\":\"{peer}\",\"peer_ms\":{:.5},\"ours\":{ours:.3},\"reach\":{reach:.3},\"naive\":{:.3},\"two_threads\":{speedup:.2}}}",
                ms(0),
                ms(1),
                ratio(2)
            );
            return;
        }
        if !self.header {
            self.header = true;
            println!("one thread, time / time of the peer (lower is better)\n");
            println!(
                "{:<34} {:>10} {:>10} {:>8} {:>6} {:>6} {:>6} {:>6}",
                "workload", "ms", "peer ms", "peer", "ours", "reach", "naive", "2 thr"
            );
        }
        let mark = if ours <= reach { ' ' } else { '!' };
        println!(
            "{name:<34} {:>10.4} {:>10.4} {peer:>8} {ours:>5.2}{mark} {reach:>6.2} {:>6.2} {speedup:>5.2}x",
            ms(0),
            ms(1),
            ratio(2)
        );
    }
}
