//! Any text as JSON of shapes, maps and tensors: an error, or a value in order that comes back equal.
#![no_main]

use lensor::map::Layout;
use lensor::storage::Sparse;
use lensor::{AddressMap, Shape, Tensor};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};

/// Most elements that are looked at one by one.
const COUNT: usize = 1 << 12;

fn again<T: Serialize + DeserializeOwned>(text: &[u8]) -> Option<[T; 2]> {
    let value: T = serde_json::from_slice(text).ok()?;
    let text = serde_json::to_vec(&value).expect("a value that was read can be written");
    let back = serde_json::from_slice(&text).expect("what was written can be read");
    Some([value, back])
}

fuzz_target!(|text: &[u8]| {
    if let Some([a, b]) = again::<Shape>(text) {
        assert_eq!(a, b);
    }
    if let Some([a, b]) = again::<Layout>(text) {
        assert_eq!(a, b);
    }
    if let Some([a, b]) = again::<AddressMap>(text) {
        assert_eq!(a, b);
        let span = a.span();
        if a.count() <= COUNT {
            for index in a.shape().indexes().expect("they can be counted") {
                assert!(span.contains(&a.to_local(&index).expect("it lies inside")));
            }
        }
    }
    if let Some([a, b]) = again::<Tensor<Vec<i32>>>(text) {
        assert_eq!(a, b);
    }
    if let Some([a, b]) = again::<Tensor<Sparse<i32>>>(text) {
        assert_eq!((a.address_map(), a.storage()), (b.address_map(), b.storage()));
        if a.len() <= COUNT {
            assert_eq!(a.to_vec(), b.to_vec());
        }
    }
});
