//! Laws of work on lanes, under any chain of views, against lanes that were copied out one by one.
//!
//! `QUICKCHECK_TESTS` sets how many cases each property sees.

mod errors;
mod large;
mod picks;
mod ranks;
mod short;
mod sorts;
mod support;
