//! Gufuncs that are ready made.

/// Functions that are ready made: of each the constructor, and the type it refers to.
macro_rules! ready {
    ($($(#[$about:meta])* $name:ident $Function:ident[$($generics:tt)*] $I:ty => $O:ty;)*) => { $(
        $(#[$about])*
        pub fn $name<$($generics)*>() -> Gufunc<$I, $O, $Function> {
            named(stringify!($name), false, $Function)
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

use super::elementary::{Elementary, ElementaryError, Inputs, Outputs};
use super::function::{Gufunc, Rules};
use super::signature::Signature;
use std::sync::{Arc, OnceLock};

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

/// What these make of shapes, once they are asked for.
static RULES: [OnceLock<Arc<Rules>>; NAMES.len()] = [const { OnceLock::new() }; NAMES.len()];

/// The gufunc of a name, whose outputs are `empty` where a name in their extent is 0, or as long as sums say.
fn named<I, O, F>(name: &str, empty: bool, function: F) -> Gufunc<I, O, F>
where
    I: Inputs,
    O: Outputs,
    F: Elementary<I, O>,
{
    let made = |text| Arc::new(Rules::new(Signature::parse(text), empty));
    let rules = match NAMES.iter().zip(&RULES).find(|((own, _), _)| *own == name) {
        Some(((_, text), rules)) => match rules.get() {
            Some(rules) => rules.clone(),
            None => {
                let made = made(text);
                // Memory that ran out does not last.
                if made.signature().is_ok() { rules.get_or_init(|| made).clone() } else { made }
            }
        },
        // `cumulative`, which takes a reducer, is not one of them.
        None => made("(n)->(n)"),
    };
    Gufunc::with_rules(rules, function)
}
