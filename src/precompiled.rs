//! What most programs need, compiled once: with the library, not with each program.
//!
//! The compiler takes an instance of a generic function from the library if the library has one: always in
//! debug builds, in optimized ones if the function is marked `#[inline(never)]`. That mark is on what does work of its own
//! and is called for a whole operation, a task or a tile, never for an element; what stands here, which is never run,
//! makes instances for the usual types. They are compiled because [`instances`], which can be reached from outside, names
//! them.

use crate::error::Result;
use crate::lanes::Uniform;
use crate::prelude::*;
use std::fmt::{Debug, Display, Formatter};

/// What all elements can do.
macro_rules! elements {
    ($($name:ident: $T:ty;)*) => { $(
        fn $name(x: &Tensor<Vec<$T>>, f: &mut Formatter<'_>) -> Result<()> {
            let _ = (Display::fmt(x, f), Debug::fmt(x, f));
            x.view().select((0,))?.lazy().eval()?;
            x.try_iter().try_for_each(|element| element.map(drop))?;
            Tensor::full([2], x.item()?)?.assign(x)?;
            Ok(())
        }
    )* };
}

/// What is mostly asked of numbers. Expressions other than this one have loops of their own, which each program compiles.
macro_rules! numbers {
    ($($name:ident: $T:ty;)*) => { $(
        fn $name(x: &Tensor<Vec<$T>>) -> Result<()> {
            (x + x).eval()?;
            x.sum(0).eval()?;
            Ok(())
        }
    )* };
}

/// What is mostly asked of `f64`.
fn science(x: &Tensor<Vec<f64>>) -> Result<()> {
    x.min(0).eval()?;
    x.max(0).eval()?;
    x.argmin(0).eval()?;
    x.argmax(0).eval()?;
    x.mean(0).eval()?;
    x.var(0).eval()?;
    x.std(0).eval()?;
    x.norm(0).eval()?;
    x.cumsum(0).eval()?;
    x.sort(0, SortOrder::Ascending).eval()?;
    x.argsort(0, SortOrder::Ascending).eval()?;
    x.unique()?;
    x.median(0).eval()?;
    x.rolling(0, 3).mean().eval()?;
    x.rolling(0, 3).sum().eval()?;
    x.diff(0, 1).eval()?;
    x.histogram(Uniform::new(0.0, 12.0, 4)?).eval()?;
    x.dot(x, 1).eval()?;
    x.matmul(x).eval()?;
    Ok(())
}

elements! {
    bools: bool; bytes: u8; sizes: usize; integers: i32; longs: i64; singles: f32; doubles: f64;
}
numbers! {
    byte_numbers: u8; long_numbers: i64; single_numbers: f32; double_numbers: f64;
}

/// Names all that is compiled. Not for use.
#[doc(hidden)]
pub fn instances(f: &mut Formatter<'_>) {
    macro_rules! each {
        ($($T:ty: $of:ident $($more:ident)*;)*) => { $(
            let x = Tensor::from_index([6, 4], |_| <$T>::default());
            let _ = x.map(|x| ($of(&x, f), $($more(&x)),*));
        )* };
    }
    each! {
        bool: bools;
        u8: bytes byte_numbers;
        usize: sizes;
        i32: integers;
        i64: longs long_numbers;
        f32: singles single_numbers;
        f64: doubles double_numbers science;
    }
}
