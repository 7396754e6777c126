//! Laws of tensors and expressions under any chain of views, against `tests/model`, which copies.
//!
//! `QUICKCHECK_TESTS` sets how many cases each property sees.

#[path = "../model/mod.rs"]
mod model;
mod support;

mod assign;
mod compare;
mod elementwise;
mod expressions;
mod faults;
mod parts;
mod reads;
mod storages;
mod within;
