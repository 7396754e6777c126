//! The laws of maps, sparse tensors, scans and bits by themselves, to be run optimized as well: modules of `main.rs`,
//! all of which would take a quarter of an hour to compile so.
#![allow(dead_code, reason = "what modules share is used by the others too")]

mod model;
mod support;
mod views;

mod map;

mod expr {
    mod same_bits;
    mod sparse;
    mod streaming;
}

mod interop {
    mod sprs;
}

mod ops {
    mod along;
    mod scan;
}
