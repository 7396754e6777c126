//! Any text as a signature of core dimensions: an error whose position lies inside, or a signature whose text reads
//! back as an equal one; and calls of any shapes, which never panic.
#![no_main]

use lensor::gufunc::{Gufunc, Signature};
use lensor::{Error, Tensor};
use libfuzzer_sys::fuzz_target;

/// Extents of operands from the end of the bytes.
fn shapes(bytes: &[u8]) -> [Vec<usize>; 2] {
    let extents = |half: &[u8]| half.iter().take(5).map(|byte| usize::from(byte % 5)).collect();
    let (first, second) = bytes.split_at(bytes.len() / 2);
    [extents(first), extents(second)]
}

fuzz_target!(|bytes: &[u8]| {
    let (text, rest) = match bytes.iter().position(|byte| *byte == 0) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &bytes[..0]),
    };
    let Ok(text) = std::str::from_utf8(text) else { return };
    match Signature::parse(text) {
        Err(error) => {
            let Error::Signature { byte, .. } = &error else { panic!("{error}") };
            assert!(byte.is_none_or(|byte| text.is_char_boundary(byte)), "{error}");
            assert!(!error.to_string().is_empty());
        }
        Ok(signature) => {
            let shown = signature.to_string();
            let again = Signature::parse(&shown).expect("a printed signature");
            assert_eq!(again, signature);
            assert_eq!(again.to_string(), shown);
            assert!(again.is_like(&signature));
        }
    }
    let [a, b] = shapes(rest);
    let options = rest.first().copied().unwrap_or(0);
    let Ok(gufunc) = Gufunc::<[f64; 2], [f64; 1], _>::each(text, |[a, b], [mut out]| {
        let sum = a.iter().sum::<f64>() + b.iter().sum::<f64>();
        out.iter_mut().for_each(|slot| *slot += sum);
    }) else {
        return;
    };
    let (Ok(a), Ok(b)) = (Tensor::full(a, 1.0), Tensor::full(b, 2.0)) else { return };
    let mut call = gufunc.call((&a, &b * 2.0));
    if options & 1 == 1 {
        call = call.keepdims();
    }
    if options & 2 == 2 {
        call = call.axis(isize::from(options >> 4) - 8);
    }
    let Ok(shapes) = call.shapes() else { return };
    let elements = shapes.outputs.iter().filter_map(|shape| shape.count().ok()).max();
    if elements.is_some_and(|count| count < 1 << 16) {
        let [found] = call.eval().expect("a call that fits");
        assert_eq!(found.shape(), shapes.outputs[0]);
    }
});
