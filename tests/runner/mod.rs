//! A runner of test vectors. Whatever cannot be read or understood is a failure of its own, and the others
//! are run.

mod arrays;
mod gufunc;
mod json;
mod maps;
mod programs;
mod ragged;
mod refusal;
mod results;
mod self_check;
mod views;

pub(crate) use self_check::passed_wrongly;

use json::{Fault, Outcome};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// What passed and failed. Failures are reported as they come.
pub(crate) struct Tally<'r> {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) report: &'r dyn Fn(&str),
}

impl Tally<'_> {
    pub(crate) fn folder(&mut self, folder: &Path) {
        let files = match files(folder) {
            Ok(files) => files,
            Err(error) => return self.fail(&format!("{}: {error}", folder.display())),
        };
        for path in files {
            match std::fs::read(&path) {
                Ok(bytes) => self.lines(&path, &bytes),
                Err(error) => self.fail(&format!("{}: {error}", path.display())),
            }
        }
    }

    fn lines(&mut self, path: &Path, bytes: &[u8]) {
        let file = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        for (k, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match outcome(line, file) {
                Ok(()) => self.passed += 1,
                Err((name, why)) => {
                    let name = name.unwrap_or_else(|| format!("{}:{}", path.display(), k + 1));
                    self.fail(&format!("{name}: {why}"));
                }
            }
        }
    }

    pub(crate) fn fail(&mut self, failure: &str) {
        self.failed += 1;
        (self.report)(&format!("FAILED {failure}"));
    }
}

/// The `*.jsonl` of a folder, sorted.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries: std::io::Result<Vec<_>> = std::fs::read_dir(folder)?.collect();
    let mut files: Vec<_> = entries?.into_iter().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    Ok(files)
}

/// Runs the vector of one line of a file; of a failure its name, if it has one, and why.
fn outcome(line: &[u8], file: &str) -> Result<(), (Option<String>, Fault)> {
    let vector = json::parse(line).map_err(|error| (None, Fault::vector(error.to_string())))?;
    let name = vector["name"].as_str().map(str::to_string);
    let run = catch_unwind(AssertUnwindSafe(|| run(&vector, file)));
    match run.unwrap_or_else(|panic| Err(Fault::vector(format!("panicked: {}", message(&*panic)))))
    {
        Ok(()) => Ok(()),
        Err(fault) => Err((name, fault)),
    }
}

fn message(panic: &dyn std::any::Any) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

fn run(vector: &Value, file: &str) -> Outcome<()> {
    let expected = vector.get("expect").ok_or_else(|| Fault::vector("nothing is expected"))?;
    if file.starts_with("ragged") {
        return ragged::check(vector);
    }
    if vector.get("kind").is_some() {
        if vector["kind"] == "call" && ragged::cores::is_ragged(vector) {
            return ragged::cores::call(vector);
        }
        return gufunc::check(vector);
    }
    let is_map = vector.get("views").is_some();
    let Some(why) = expected.get("error") else {
        return if is_map { maps::check(vector) } else { programs::check(vector) };
    };
    let run = if is_map { maps::build(vector).map(drop) } else { programs::evaluate(vector) };
    match run {
        Err(Fault::Refused(_) | Fault::Outside(_)) => Ok(()),
        Ok(()) => Err(Fault::vector(format!("accepted, should refuse: {why}"))),
        Err(fault) => Err(fault),
    }
}
