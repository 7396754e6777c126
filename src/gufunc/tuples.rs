//! Arrays and tuples of element types.

use super::core::{Core, CoreMut};
use super::elementary::{Inputs, Outputs, Place};
use super::sealed::Sealed;
use crate::error::Result;
use crate::map::AddressMap;
use crate::memory::{defaults, for_tuples};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::array::from_fn;

impl<T, const N: usize> Sealed for [T; N] {}

impl<T: Copy + Send + Sync, const N: usize> Inputs for [T; N] {
    type Cores<'c>
        = [Core<'c, T>; N]
    where
        T: 'c;

    fn lent(buffers: &Self::Buffers) -> [&[T]; N] {
        from_fn(|k| buffers.get(k).map_or(&[][..], Vec::as_slice))
    }

    #[inline(always)]
    fn cores<'c>(
        slices: &'c Self::Slices<'_>,
        places: &[Place<'c>],
        k: usize,
    ) -> Option<Self::Cores<'c>> {
        let places = places.first_chunk::<N>()?;
        // Closures over arrays are not always inlined.
        let mut cores = [const { Core::new(&[], &[]) }; N];
        for ((core, slice), place) in cores.iter_mut().zip(slices).zip(places) {
            *core = Core::new(place.core(slice, k)?, place.shape);
        }
        Some(cores)
    }

    fn lens(slices: &Self::Slices<'_>, each: &mut dyn FnMut(usize)) {
        slices.iter().for_each(|slice| each(slice.len()));
    }
}

impl<T: Copy + Default + Send + Sync + 'static, const N: usize> Outputs for [T; N] {
    type Cores<'c> = [CoreMut<'c, T>; N];
    type Elems = [T; N];
    type Tensors = [Tensor<Vec<T>>; N];

    #[inline(always)]
    fn cores<'c>(
        slices: &'c mut Self::Slices<'_>,
        places: &[Place<'c>],
        k: usize,
    ) -> Option<Self::Cores<'c>> {
        let places = places.first_chunk::<N>()?;
        let mut cores = [const { CoreMut::new(&mut [], &[]) }; N];
        for ((core, slice), place) in cores.iter_mut().zip(slices).zip(places) {
            *core = CoreMut::new(place.core_mut(slice, k)?, place.shape);
        }
        Some(cores)
    }

    fn lens(slices: &Self::Slices<'_>, each: &mut dyn FnMut(usize)) {
        slices.iter().for_each(|slice| each(slice.len()));
    }

    fn clear(slices: &mut Self::Slices<'_>) {
        slices.iter_mut().for_each(|slice| slice.fill(T::default()));
    }

    fn put(slices: &mut Self::Slices<'_>, values: &[T; N]) {
        slices.iter_mut().zip(values).for_each(|(slice, value)| slice.fill(*value));
    }

    fn bytes(counts: &[usize]) -> usize {
        counts.iter().fold(0, |sum, n| n.saturating_mul(size_of::<T>()).saturating_add(sum))
    }

    fn vectors(counts: &[usize]) -> Result<Self::Vectors> {
        let mut vectors = SmallVec::new();
        for &count in counts {
            vectors.push(defaults(count)?);
        }
        Ok(vectors)
    }

    fn tensors(
        vectors: Self::Vectors,
        map: &mut dyn FnMut(usize) -> Result<AddressMap>,
    ) -> Result<Self::Tensors> {
        let (mut vectors, mut failed) = (vectors.into_iter(), None);
        let tensors = from_fn(|k| {
            let data = vectors.next().unwrap_or_default();
            Tensor::from_parts(
                map(k).unwrap_or_else(|error| {
                    failed.get_or_insert(error);
                    Default::default()
                }),
                data,
            )
        });
        failed.map_or(Ok(tensors), Err)
    }
}

macro_rules! inputs {
    ($count:literal: $($T:ident $name:ident $k:tt),*) => {
        impl<$($T),*> Sealed for ($($T,)*) {}

        impl<$($T: Copy + Send + Sync),*> Inputs for ($($T,)*) {
            type Cores<'c> = ($(Core<'c, $T>,)*) where Self: 'c;

            fn lent(buffers: &Self::Buffers) -> Self::Slices<'_> {
                ($(&buffers.$k[..],)*)
            }

            #[inline(always)]
            fn cores<'c>(
                slices: &'c Self::Slices<'_>,
                places: &[Place<'c>],
                k: usize,
            ) -> Option<Self::Cores<'c>> {
                Some(($({
                    let place = places.get($k)?;
                    Core::new(place.core(slices.$k, k)?, place.shape)
                },)*))
            }

            fn lens(slices: &Self::Slices<'_>, each: &mut dyn FnMut(usize)) {
                $(each(slices.$k.len());)*
            }
        }
    };
}
for_tuples!(inputs 6);

macro_rules! outputs {
    ($count:literal: $($T:ident $name:ident $k:tt),*) => {
        impl<$($T: Copy + Default + Send + Sync + 'static),*> Outputs for ($($T,)*) {
            type Cores<'c> = ($(CoreMut<'c, $T>,)*);
            type Elems = ($($T,)*);
            type Tensors = ($(Tensor<Vec<$T>>,)*);

            #[inline(always)]
            fn cores<'c>(
                slices: &'c mut Self::Slices<'_>,
                places: &[Place<'c>],
                k: usize,
            ) -> Option<Self::Cores<'c>> {
                Some(($({
                    let place = places.get($k)?;
                    CoreMut::new(place.core_mut(slices.$k, k)?, place.shape)
                },)*))
            }

            fn lens(slices: &Self::Slices<'_>, each: &mut dyn FnMut(usize)) {
                $(each(slices.$k.len());)*
            }

            fn clear(slices: &mut Self::Slices<'_>) {
                $(slices.$k.fill($T::default());)*
            }

            fn put(slices: &mut Self::Slices<'_>, values: &Self::Elems) {
                $(slices.$k.fill(values.$k);)*
            }

            fn bytes(counts: &[usize]) -> usize {
                0_usize $(.saturating_add(counts[$k].saturating_mul(size_of::<$T>())))*
            }

            fn vectors(counts: &[usize]) -> Result<Self::Vectors> {
                Ok(($(defaults(counts[$k])?,)*))
            }

            fn tensors(
                vectors: Self::Vectors,
                map: &mut dyn FnMut(usize) -> Result<AddressMap>,
            ) -> Result<Self::Tensors> {
                Ok(($(Tensor::from_parts(map($k)?, vectors.$k),)*))
            }
        }
    };
}
for_tuples!(outputs 4);
