//! What each step would do, and how long it took.

use lensor::prelude::*;
use std::fmt;
use std::time::{Duration, Instant};

/// Runs of which the median is reported.
const RUNS: usize = 15;

/// Explanations and times of all steps so far. Print it with `{}`.
#[derive(Default)]
pub(crate) struct Report {
    explanations: Vec<(&'static str, String)>,
    rows: Vec<Row>,
}

struct Row {
    name: &'static str,
    result: String,
    time: Duration,
    bytes: Option<usize>,
}

impl Report {
    /// Evaluates an expression whose every element takes `bytes_read` bytes of the photo.
    pub(crate) fn eval<E: Expr>(
        &mut self,
        name: &'static str,
        bytes_read: usize,
        e: &Lazy<E>,
    ) -> Result<Tensor<Vec<E::Elem>>, Error> {
        self.explanations.push((name, e.explain()?.to_string()));
        let mut result = e.eval()?;
        let mut times = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            let start = Instant::now();
            e.assign_to(&mut result)?;
            times.push(start.elapsed());
        }
        times.sort();
        self.rows.push(Row {
            name,
            result: format!("{} {:?}", std::any::type_name::<E::Elem>(), result.shape()),
            time: times[RUNS / 2],
            bytes: Some(result.len() * (bytes_read + size_of::<E::Elem>())),
        });
        Ok(result)
    }

    /// Times something that is done once.
    pub(crate) fn once<T>(&mut self, name: &'static str, step: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = step();
        self.rows.push(Row { name, result: String::new(), time: start.elapsed(), bytes: None });
        result
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, explanation) in &self.explanations {
            writeln!(f, "{name}")?;
            for line in explanation.lines() {
                writeln!(f, "    {line}")?;
            }
        }
        writeln!(f, "\n{:<20} {:<20} {:>10} {:>8}", "step", "result", "time", "GB/s")?;
        for Row { name, result, time, bytes } in &self.rows {
            let micros = time.as_secs_f64() * 1e6;
            write!(f, "{name:<20} {result:<20} {micros:>7.0} us")?;
            match bytes {
                Some(bytes) => writeln!(f, " {:>8.1}", *bytes as f64 / micros / 1e3)?,
                None => writeln!(f, " {:>8}", "-")?,
            }
        }
        writeln!(f, "(bytes read and written; the median of {RUNS} runs where GB/s are given)")
    }
}
