//! Gufuncs that are ready made.

/// Functions that are ready made: of each the constructor, and the type it refers to.
macro_rules! ready {
    ($($(#[$about:meta])* $name:ident $Function:ident[$($generics:tt)*] $I:ty => $O:ty;)*) => { $(
        $(#[$about])*
        pub fn $name<$($generics)*>() -> Gufunc<$I, $O, $Function> {
            named(stringify!($name), $Function)
        }

        #[doc = concat!("See [`", stringify!($name), "`].")]
        #[derive(Debug, Clone, Copy)]
        pub struct $Function;
    )* };
}

mod distances;
mod inner;
mod lu;
mod matrices;
mod matrix;
mod products;
mod sequences;
mod vectors;

pub use distances::{CDist, PDist, cdist, pdist};
pub use inner::{Inner, inner1d};
pub use matrices::{Det, Inv, Solve, det, inv, solve};
pub use products::{Cross, MatrixProduct, Outer, Trace, cross, matmul, outer, trace};
pub use sequences::{
    Convolve, Histogram, Interp, PolyVal, convolve_full, convolve_valid, histogram, interp, polyval,
};
pub use vectors::{
    ArgMinMax, ArgSorted, Cumulative, MinMax, Normalize, Sorted, VectorNorm, argminmax, argsort,
    cumulative, minmax, norm, normalize, sort,
};

use super::elementary::{Elementary, Inputs, Outputs};
use super::function::Gufunc;
use super::signature::Signature;
use crate::error::ElementaryError;
use std::sync::OnceLock;

/// What a call comes to.
type Called = Result<(), ElementaryError>;

/// The names of the gufuncs that are ready made, and their signatures.
pub const NAMES: [(&str, &str); 21] = [
    ("inner1d", "(n),(n)->()"),
    ("outer", "(m),(n)->(m,n)"),
    ("matmul", "(m?,n),(n,p?)->(m?,p?)"),
    ("cross", "(3),(3)->(3)"),
    ("det", "(n,n)->()"),
    ("trace", "(n,n)->()"),
    ("inv", "(n,n)->(n,n)"),
    ("solve", "(n,n),(n,k?)->(n,k?)"),
    ("norm", "(n)->()"),
    ("normalize", "(n)->(n)"),
    ("minmax", "(n)->(),()"),
    ("argminmax", "(n)->(),()"),
    ("sort", "(n)->(n)"),
    ("argsort", "(n)->(n)"),
    ("convolve_full", "(m),(n)->(m+n-1)"),
    ("convolve_valid", "(m),(n)->(m-n+1)"),
    ("cdist", "(m,d),(n,d)->(m,n)"),
    ("pdist", "(n,d)->(n*(n-1)/2)"),
    ("polyval", "(c),()->()"),
    ("interp", "(),(n),(n)->()"),
    ("histogram", "(n),(b)->(b-1)"),
];

/// The signatures of these names, once they are asked for.
static SIGNATURES: [OnceLock<Signature>; NAMES.len()] = [const { OnceLock::new() }; NAMES.len()];

/// The signature of a name.
fn signature(name: &str) -> crate::error::Result<Signature> {
    let named = NAMES.iter().zip(&SIGNATURES).find(|((own, _), _)| *own == name);
    let Some(((_, text), parsed)) = named else { return Signature::parse("(n)->(n)") };
    if let Some(signature) = parsed.get() {
        return Ok(signature.clone());
    }
    let signature = Signature::parse(text)?;
    Ok(parsed.get_or_init(|| signature).clone())
}

/// The gufunc of a name.
fn named<I: Inputs, O: Outputs, F: Elementary<I, O>>(name: &str, function: F) -> Gufunc<I, O, F> {
    Gufunc::of_signature(signature(name), function, false)
}
