//! Operands and results of several types.

use super::destination::Destination;
use super::operand::{Operand, Source};
use crate::error::Result;
use crate::memory::for_tuples;
use smallvec::SmallVec;
use std::array::from_fn;
use std::ops::Range;

/// Sources of the operands of a call.
pub(crate) type Sources<'s> = SmallVec<[&'s Source; 3]>;

/// Element types of the operands of calls: a tuple of types, or an array of one.
#[doc(hidden)]
pub trait Inputs: Sized {
    /// The operands.
    type Operands<'e>: Sync
    where
        Self: 'e;
    /// Memory for those that are evaluated.
    type Buffers: Default + Sync;
    /// Where cores lie.
    type Slices<'g>: Copy
    where
        Self: 'g;
    /// How many there are.
    const COUNT: usize;

    fn sources<'s>(operands: &'s Self::Operands<'_>) -> Sources<'s>;
    /// Evaluates the operands that are held.
    fn hold(operands: &mut Self::Operands<'_>) -> Result<()>;
    fn read(
        operands: &Self::Operands<'_>,
        buffers: &mut Self::Buffers,
        ranges: &[Range<usize>],
    ) -> Result<()>;
    fn try_all(operands: &Self::Operands<'_>) -> Result<()>;
    /// What is said of the blocks of one of them.
    fn blocks_in_words(
        operands: &Self::Operands<'_>,
        number: usize,
        name: &str,
        boxes: &mut dyn Iterator<Item = Vec<Range<usize>>>,
    ) -> Result<Vec<String>>;
    fn slices<'g>(operands: &'g Self::Operands<'_>, buffers: &'g Self::Buffers)
    -> Self::Slices<'g>;
    /// The same slices for less long.
    fn shorter<'s, 'l: 's>(slices: Self::Slices<'l>) -> Self::Slices<'s>;
}

/// Element types of the results of calls: a tuple of types, or an array of one.
#[doc(hidden)]
pub trait Outputs: Sized {
    /// Slots of results, which hold elements.
    type Slices<'o>: Send
    where
        Self: 'o;
    /// Where results go.
    type Destinations<'d>
    where
        Self: 'd;
    /// Memory for results on their way.
    type Vectors: Default;
    /// How many there are.
    const COUNT: usize;

    /// The slices before and from these positions on.
    fn split<'o>(
        out: Self::Slices<'o>,
        at: impl Fn(usize) -> usize,
    ) -> (Self::Slices<'o>, Self::Slices<'o>);
    fn reborrow<'s>(out: &'s mut Self::Slices<'_>) -> Self::Slices<'s>;
    fn slices<'o>(vectors: &'o mut Self::Vectors) -> Self::Slices<'o>;
    /// The memory of all destinations, if results lie there one after another.
    fn memory<'o>(out: &'o mut Self::Destinations<'_>) -> Option<Self::Slices<'o>>;
    /// Where parts of the axes of a destination in blocks begin, if there is one, see [`Destination::block_starts`].
    fn block_starts(out: &Self::Destinations<'_>) -> Result<Option<Vec<Vec<usize>>>>;
    /// Replaces the start of `vectors` by what lies in a box of the destinations, or makes them as long as `least` says.
    fn load(
        out: &Self::Destinations<'_>,
        vectors: &mut Self::Vectors,
        ranges: &[Range<usize>],
        least: Option<&dyn Fn(usize) -> usize>,
    ) -> Result<()>;
    /// Writes the start of `vectors` to a box of the destinations.
    fn store(
        out: &mut Self::Destinations<'_>,
        vectors: &Self::Vectors,
        ranges: &[Range<usize>],
    ) -> Result<()>;
    fn finish(out: &mut Self::Destinations<'_>, all: bool) -> Result<()>;
}

/// An operand, its element type erased.
trait Hold {
    fn hold(&mut self) -> Result<()>;
    fn try_all(&self) -> Result<()>;
}

impl<T: Copy + Send + Sync> Hold for Operand<'_, T> {
    fn hold(&mut self) -> Result<()> {
        Operand::hold(self)
    }

    fn try_all(&self) -> Result<()> {
        Operand::try_all(self)
    }
}

fn hold_all(operands: &mut [&mut dyn Hold]) -> Result<()> {
    for k in 0..operands.len() {
        if let Err(error) = operands[k].hold() {
            // Those before may fail as well, and would be read later.
            operands[..k].iter().try_for_each(|operand| operand.try_all())?;
            return Err(error);
        }
    }
    Ok(())
}

impl<T: Copy + Send + Sync, const N: usize> Inputs for [T; N] {
    type Operands<'e>
        = [Operand<'e, T>; N]
    where
        T: 'e;
    type Buffers = SmallVec<[Vec<T>; 2]>;
    type Slices<'g>
        = [&'g [T]; N]
    where
        T: 'g;
    const COUNT: usize = N;

    fn sources<'s>(operands: &'s Self::Operands<'_>) -> Sources<'s> {
        let mut sources = Sources::new();
        operands.iter().for_each(|operand| sources.push(&operand.source));
        sources
    }

    fn hold(operands: &mut Self::Operands<'_>) -> Result<()> {
        hold_all(&mut operands.each_mut().map(|operand| operand as &mut dyn Hold))
    }

    fn read(
        operands: &Self::Operands<'_>,
        buffers: &mut Self::Buffers,
        ranges: &[Range<usize>],
    ) -> Result<()> {
        buffers.resize_with(N, Vec::new);
        operands.iter().zip(buffers).try_for_each(|(operand, buffer)| operand.read(buffer, ranges))
    }

    fn try_all(operands: &Self::Operands<'_>) -> Result<()> {
        operands.iter().try_for_each(Operand::try_all)
    }

    fn blocks_in_words(
        operands: &Self::Operands<'_>,
        number: usize,
        name: &str,
        boxes: &mut dyn Iterator<Item = Vec<Range<usize>>>,
    ) -> Result<Vec<String>> {
        let operand = operands.get(number);
        operand.map_or_else(|| Ok(Vec::new()), |own| own.blocks_in_words(Some(name), boxes))
    }

    fn slices<'g>(
        operands: &'g Self::Operands<'_>,
        buffers: &'g Self::Buffers,
    ) -> Self::Slices<'g> {
        from_fn(|k| operands[k].slice(buffers.get(k).map_or(&[], Vec::as_slice)))
    }

    #[inline]
    fn shorter<'s, 'l: 's>(slices: Self::Slices<'l>) -> Self::Slices<'s> {
        slices
    }
}

impl<T: Copy + Send + Sync, const N: usize> Outputs for [T; N] {
    type Slices<'o>
        = [&'o mut [T]; N]
    where
        T: 'o;
    type Destinations<'d>
        = [&'d mut dyn Destination<T>; N]
    where
        T: 'd;
    type Vectors = SmallVec<[Vec<T>; 2]>;
    const COUNT: usize = N;

    #[inline]
    fn split<'o>(
        out: Self::Slices<'o>,
        at: impl Fn(usize) -> usize,
    ) -> (Self::Slices<'o>, Self::Slices<'o>) {
        let mut k = 0;
        let mut later: [&mut [T]; N] = from_fn(|_| Default::default());
        let now = out.map(|slice| {
            let (low, high) = slice.split_at_mut(at(k));
            later[k] = high;
            k += 1;
            low
        });
        (now, later)
    }

    #[inline]
    fn reborrow<'s>(out: &'s mut Self::Slices<'_>) -> Self::Slices<'s> {
        out.each_mut().map(|slice| &mut **slice)
    }

    fn slices<'o>(vectors: &'o mut Self::Vectors) -> Self::Slices<'o> {
        vectors.resize_with(N, Vec::new);
        let mut vectors = vectors.iter_mut();
        from_fn(|_| vectors.next().map(Vec::as_mut_slice).unwrap_or_default())
    }

    fn memory<'o>(out: &'o mut Self::Destinations<'_>) -> Option<Self::Slices<'o>> {
        let mut all = true;
        let slices = out.each_mut().map(|out| {
            let memory = out.memory();
            all &= memory.is_some();
            memory.unwrap_or_default()
        });
        all.then_some(slices)
    }

    fn block_starts(out: &Self::Destinations<'_>) -> Result<Option<Vec<Vec<usize>>>> {
        out.iter().find_map(|out| out.block_starts().transpose()).transpose()
    }

    fn load(
        out: &Self::Destinations<'_>,
        vectors: &mut Self::Vectors,
        ranges: &[Range<usize>],
        least: Option<&dyn Fn(usize) -> usize>,
    ) -> Result<()> {
        vectors.resize_with(N, Vec::new);
        out.iter().zip(vectors).enumerate().try_for_each(|(k, (out, vector))| {
            out.load(ranges, vector, least.map(|least| least(k)))
        })
    }

    fn store(
        out: &mut Self::Destinations<'_>,
        vectors: &Self::Vectors,
        ranges: &[Range<usize>],
    ) -> Result<()> {
        out.iter_mut().zip(vectors).try_for_each(|(out, vector)| out.store(ranges, vector))
    }

    fn finish(out: &mut Self::Destinations<'_>, all: bool) -> Result<()> {
        out.iter_mut().map(|out| out.finish(all)).fold(Ok(()), Result::and)
    }
}

macro_rules! inputs {
    ($count:literal: $($T:ident $name:ident $k:tt),*) => {
        impl<$($T: Copy + Send + Sync),*> Inputs for ($($T,)*) {
            type Operands<'e> = ($(Operand<'e, $T>,)*) where Self: 'e;
            type Buffers = ($(Vec<$T>,)*);
            type Slices<'g> = ($(&'g [$T],)*) where Self: 'g;
            const COUNT: usize = $count;

            fn sources<'s>(operands: &'s Self::Operands<'_>) -> Sources<'s> {
                SmallVec::from_iter([$(&operands.$k.source),*])
            }

            fn hold(operands: &mut Self::Operands<'_>) -> Result<()> {
                hold_all(&mut [$(&mut operands.$k as &mut dyn Hold),*])
            }

            fn read(
                operands: &Self::Operands<'_>,
                buffers: &mut Self::Buffers,
                ranges: &[Range<usize>],
            ) -> Result<()> {
                $(operands.$k.read(&mut buffers.$k, ranges)?;)*
                Ok(())
            }

            fn try_all(operands: &Self::Operands<'_>) -> Result<()> {
                $(operands.$k.try_all()?;)*
                Ok(())
            }

            fn blocks_in_words(
                operands: &Self::Operands<'_>,
                number: usize,
                name: &str,
                boxes: &mut dyn Iterator<Item = Vec<Range<usize>>>,
            ) -> Result<Vec<String>> {
                match number {
                    $($k => operands.$k.blocks_in_words(Some(name), boxes),)*
                    _ => Ok(Vec::new()),
                }
            }

            fn slices<'g>(
                operands: &'g Self::Operands<'_>,
                buffers: &'g Self::Buffers,
            ) -> Self::Slices<'g> {
                ($(operands.$k.slice(&buffers.$k),)*)
            }

            #[inline]
            fn shorter<'s, 'l: 's>(slices: Self::Slices<'l>) -> Self::Slices<'s> {
                slices
            }
        }
    };
}
for_tuples!(inputs 6);

macro_rules! outputs {
    ($count:literal: $($T:ident $name:ident $k:tt),*) => {
        impl<$($T: Copy + Send + Sync),*> Outputs for ($($T,)*) {
            type Slices<'o> = ($(&'o mut [$T],)*) where Self: 'o;
            type Destinations<'d> = ($(&'d mut dyn Destination<$T>,)*) where Self: 'd;
            type Vectors = ($(Vec<$T>,)*);
            const COUNT: usize = $count;

            fn split<'o>(
                out: Self::Slices<'o>,
                at: impl Fn(usize) -> usize,
            ) -> (Self::Slices<'o>, Self::Slices<'o>) {
                let parts = ($(out.$k.split_at_mut(at($k)),)*);
                (($(parts.$k.0,)*), ($(parts.$k.1,)*))
            }

            fn reborrow<'s>(out: &'s mut Self::Slices<'_>) -> Self::Slices<'s> {
                ($(&mut *out.$k,)*)
            }

            fn slices<'o>(vectors: &'o mut Self::Vectors) -> Self::Slices<'o> {
                ($(vectors.$k.as_mut_slice(),)*)
            }

            fn memory<'o>(out: &'o mut Self::Destinations<'_>) -> Option<Self::Slices<'o>> {
                Some(($(out.$k.memory()?,)*))
            }

            fn block_starts(out: &Self::Destinations<'_>) -> Result<Option<Vec<Vec<usize>>>> {
                $(if let Some(starts) = out.$k.block_starts()? {
                    return Ok(Some(starts));
                })*
                Ok(None)
            }

            fn load(
                out: &Self::Destinations<'_>,
                vectors: &mut Self::Vectors,
                ranges: &[Range<usize>],
                least: Option<&dyn Fn(usize) -> usize>,
            ) -> Result<()> {
                $(out.$k.load(ranges, &mut vectors.$k, least.map(|least| least($k)))?;)*
                Ok(())
            }

            fn store(
                out: &mut Self::Destinations<'_>,
                vectors: &Self::Vectors,
                ranges: &[Range<usize>],
            ) -> Result<()> {
                $(out.$k.store(ranges, &vectors.$k)?;)*
                Ok(())
            }

            fn finish(out: &mut Self::Destinations<'_>, all: bool) -> Result<()> {
                Ok(())$(.and(out.$k.finish(all)))*
            }
        }
    };
}
for_tuples!(outputs 4);
