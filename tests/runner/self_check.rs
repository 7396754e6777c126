//! The runner's own test: what must fail, so that no vector passes vacuously.

use super::{Tally, json, outcome};
use std::cell::RefCell;
use std::path::Path;

/// Vectors that are wrong, each with a part of the reason to fail as `because`, and the `file` it would be of if
/// that is not one of programs.
const WRONG: &str = include_str!("wrong.jsonl");

/// What passed though it must fail, or failed for another reason.
pub(crate) fn passed_wrongly() -> Vec<String> {
    let passed = WRONG.lines().filter_map(|line| {
        let vector = json::parse(line.as_bytes()).unwrap_or_default();
        let file = vector["file"].as_str().unwrap_or_default();
        match (outcome(line.as_bytes(), file), vector["because"].as_str()) {
            (Err((_, found)), Some(why)) if found.to_string().contains(why) => None,
            (found, _) => Some(format!("{found:?} of {line}")),
        }
    });
    passed.chain(unread().unwrap_or_else(|error| Some(error.to_string()))).collect()
}

/// Files and folders that cannot be read must fail one by one, and leave the others alone.
fn unread() -> std::io::Result<Option<String>> {
    let good = r#"{"name": "good", "inputs": {}, "program": 5, "expect": {"dtype": "f64", "shape": [], "data": [5]}}"#;
    let deep = "[".repeat(100_000);
    let bad =
        [&b"{"[..], b"\xef\xbb\xbf{}", b"{\"name\": \"\xff\"}", b"[]", b"1e999", deep.as_bytes()];
    let reports = RefCell::new(Vec::new());
    let report = |failure: &str| reports.borrow_mut().push(failure.to_string());
    let mut tally = Tally { passed: 0, failed: 0, report: &report };
    let folder = tempfile::tempdir()?;
    let lines = [&bad[..], &[good.as_bytes()]].concat().join(&b'\n');
    std::fs::write(folder.path().join("lines.jsonl"), lines)?;
    std::fs::create_dir(folder.path().join("folder.jsonl"))?;
    tally.folder(folder.path());
    tally.folder(Path::new("tests/vectors/missing"));
    let counts = (tally.passed, tally.failed);
    let differs = counts != (1, bad.len() + 2);
    Ok(differs.then(|| format!("{counts:?}: {:?}", reports.borrow())))
}
