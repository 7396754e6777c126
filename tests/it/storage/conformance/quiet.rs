//! A storage that panics is reported by the kit alone.

use crate::support::test_name;
use lensor::Reader;
use lensor::storage::FromFn;
use lensor::storage::conformance::{Violation, reader_violations, same_or_nan};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a test writes to standard error when it runs once more, in a process of its own.
fn errors_of_child(test: &str, body: impl FnOnce()) -> Option<String> {
    const MARK: &str = "LENSOR_TEST_CHILD";
    if std::env::var_os(MARK).is_some() {
        body();
        return None;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &test_name(module_path!(), test), "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(child.status.success(), "{text}");
    Some(text)
}

#[test]
fn panics_of_a_storage_are_silent() {
    let found = errors_of_child("panics_of_a_storage_are_silent", || {
        let calls = AtomicUsize::new(0);
        let storage = FromFn::new(400, |address| {
            calls.fetch_add(1, Ordering::Relaxed);
            assert_ne!(address % 3, 1, "no such element");
            address
        });
        let found = reader_violations(&storage, same_or_nan);
        assert!(matches!(found[0], Violation::Panicked { method: "try_read", address: 1 }));
        assert!(calls.into_inner() < 20, "a law ends at its first panic");
    });
    assert_eq!(found.unwrap_or_default(), "");
}

#[test]
fn panics_elsewhere_are_reported() {
    let found = errors_of_child("panics_elsewhere_are_reported", || {
        let storage = FromFn::new(9, |address| {
            // Another thread, while the kit is quiet on its own.
            let other = std::thread::spawn(|| panic!("elsewhere"));
            assert!(other.join().is_err());
            assert_ne!(address, 0, "in the kit");
            address
        });
        assert!(!reader_violations(&storage, same_or_nan).is_empty());
        // The same thread, once the kit is done.
        assert!(std::panic::catch_unwind(|| panic!("afterwards")).is_err());
    });
    if let Some(text) = found {
        assert!(text.contains("elsewhere") && text.contains("afterwards"), "{text}");
        assert!(!text.contains("in the kit"), "{text}");
    }
}

/// A panic of one method hides no law of another.
#[test]
fn other_laws_go_on() {
    struct Partly;
    impl Reader for Partly {
        type Elem = usize;
        fn len(&self) -> usize {
            40
        }
        fn read(&self, address: usize) -> usize {
            assert_ne!(address, 7, "a panic the test asked for");
            address
        }
        fn try_read(&self, address: usize) -> Result<usize, lensor::StorageError> {
            Ok(address)
        }
        fn read_run(
            &self,
            _: usize,
            _: isize,
            out: &mut [usize],
        ) -> Result<(), lensor::StorageError> {
            out.fill(41);
            Ok(())
        }
    }
    let found = reader_violations(&Partly, same_or_nan);
    assert!(
        matches!(
            found[..],
            [
                Violation::Panicked { method: "read", address: 7 },
                Violation::Run { .. },
                // The default reads lists in runs.
                Violation::Gather { .. }
            ]
        ),
        "{found:?}"
    );
}
