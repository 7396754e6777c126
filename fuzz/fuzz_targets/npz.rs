//! Any bytes as an `.npz` archive: an error, or arrays that are the same after writing and reading them.
#![no_main]

use lensor::Reader as _;
use lensor::interop::npz::{Archive, Writer};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

mod memory;

/// Bytes that deflate makes of one, at most.
const INFLATED: usize = 1100;

fuzz_target!(|bytes: &[u8]| {
    let opened = memory::bounded(2 * bytes.len(), || Archive::new(Cursor::new(bytes)));
    let Ok(mut archive) = opened else { return };
    let names: Vec<String> = archive.entries().iter().map(|entry| entry.name().into()).collect();
    for name in &names {
        let read = memory::bounded(INFLATED * bytes.len(), || archive.read::<f64>(name));
        let lies = archive.tensor::<f64>(name);
        if let (Ok(read), Ok(lies)) = (&read, &lies) {
            assert_eq!(read.shape(), lies.shape());
        }
        let Ok(read) = read else { continue };
        let mut writer = Writer::new(Cursor::new(Vec::new()));
        writer.add("a", &read).expect("an array that was read can be written");
        let written = writer.finish().expect("memory does not fail");
        let again = Archive::new(written).and_then(|mut archive| archive.read::<f64>("a"));
        let again = again.expect("what was written can be read");
        let bits = |t: &lensor::Tensor<Vec<f64>>| -> Vec<u64> {
            t.to_vec().expect("memory suffices").into_iter().map(f64::to_bits).collect()
        };
        assert_eq!((again.shape(), bits(&again)), (read.shape(), bits(&read)));
    }
    if let Ok(matrix) = memory::bounded(INFLATED * bytes.len(), || archive.read_sparse::<i32>()) {
        assert_eq!(matrix.storage().len(), matrix.len());
    }
});
