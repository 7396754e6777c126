//! Any bytes as a `.safetensors` file: an error, or tensors that are the same after writing and reading them.
#![no_main]

use lensor::interop::safetensors::{Archive, Writer};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

mod memory;

fuzz_target!(|bytes: &[u8]| {
    let opened = memory::bounded(2 * bytes.len(), || Archive::new(Cursor::new(bytes)));
    let Ok(mut archive) = opened else { return };
    let names: Vec<String> = archive.entries().iter().map(|entry| entry.name().into()).collect();
    let mut writer = Writer::new();
    let mut kept = Vec::new();
    for name in &names {
        let raw = archive.bytes(name).expect("its bytes are there").to_vec();
        raw.expect("memory suffices");
        let read = memory::bounded(2 * bytes.len(), || archive.read::<u16>(name));
        let lies = archive.tensor::<u16>(name);
        assert_eq!(read.is_ok(), lies.is_ok());
        if let (Ok(read), Ok(lies)) = (read, lies) {
            assert_eq!(read.to_vec(), lies.to_vec());
            if writer.add(name, lies).is_ok() {
                kept.push((name, read));
            }
        }
    }
    let mut file = Vec::new();
    writer.write(&mut file).expect("tensors that were read can be written");
    let mut again = Archive::new(Cursor::new(&file[..])).expect("what was written can be read");
    for (name, read) in kept {
        assert_eq!(again.read::<u16>(name).expect("it was written"), read);
    }
});
