//! Disks that are full and processes that are killed: the test runs itself as another process that may write
//! only so many bytes to a file.

use super::{LARGE, Place, names};
use crate::support::test_name;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

/// Which function the other process is to call, and where it saves.
const ORDER: &str = "TEST_SAVE";
const PATH: &str = "TEST_PATH";

/// Saves in another process, which beyond 8 to 16 KiB gets an error or, if it is `killed`, a signal.
fn save_elsewhere(order: usize, path: PathBuf, killed: bool) -> ExitStatus {
    let trap = if killed { "" } else { "trap '' XFSZ;" };
    let script = format!("ulimit -f 16; ulimit -c 0; {trap} exec \"$0\" --exact \"$1\"");
    Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .arg(test_name(module_path!(), "the_other_process"))
        .env(ORDER, order.to_string())
        .env(PATH, path)
        .output()
        .unwrap()
        .status
}

/// Fails unless the file cannot be saved, with an error that names it.
#[test]
fn the_other_process() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let path = PathBuf::from(std::env::var_os(PATH).unwrap());
    names(LARGE[order.parse::<usize>().unwrap()](&path), &path);
}

#[test]
fn disks_that_are_full() {
    for order in 0..LARGE.len() {
        let place = Place::new();
        assert!(save_elsewhere(order, place.file(), false).success());
        place.is_untouched();
        assert!(save_elsewhere(order, place.join("u"), false).success());
        place.is_untouched();
    }
}

#[test]
fn processes_that_are_killed() {
    use std::os::unix::process::ExitStatusExt;
    for order in 0..LARGE.len() {
        let place = Place::new();
        let status = save_elsewhere(order, place.file(), true);
        assert!(status.signal().is_some(), "{status:?}");
        assert_eq!(std::fs::read(place.file()).unwrap(), Place::OLD);
    }
}
