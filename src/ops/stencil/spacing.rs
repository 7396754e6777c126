//! Distances of neighbours.

use crate::dtype::Real;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::memory::list;

/// Distances of neighbours along an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Spacing<T> {
    /// The same everywhere, not 0.
    Uniform(T),
    /// The differences of these coordinates, one for each index of the axis. They rise or fall; neighbours
    /// that are equal are refused. One that is NaN or infinite makes the results near it NaN or 0. Where all differences
    /// are the same number, exactly, it is that of [`Self::Uniform`].
    At(Vec<T>),
}

/// Distances, looked through once.
#[derive(Debug, Clone)]
pub(super) struct Checked<T> {
    /// Uniform if the differences of coordinates are all the same.
    pub(super) spacing: Spacing<T>,
    /// How many coordinates were given, if that is what was given.
    pub(super) coordinates: Option<usize>,
    /// The first coordinate that equals one of the two before it: three neighbours are used together.
    pub(super) repeated: Option<usize>,
}

impl<T: Real> From<Spacing<T>> for Checked<T> {
    fn from(spacing: Spacing<T>) -> Self {
        let (repeated, coordinates, same) = match &spacing {
            Spacing::Uniform(distance) => {
                ((*distance == T::one().minus(T::one())).then_some(1), None, None)
            }
            Spacing::At(x) => {
                let is_near = |&at: &usize| x[at.saturating_sub(2)..at].contains(&x[at]);
                ((1..x.len()).find(is_near), Some(x.len()), same_distance(x))
            }
        };
        Self { spacing: same.map_or(spacing, Spacing::Uniform), coordinates, repeated }
    }
}

/// The distance of all neighbours, if it is the same number.
fn same_distance<T: Real>(x: &[T]) -> Option<T> {
    let mut distances = x.windows(2).map(|pair| pair[1].minus(pair[0]));
    let first = distances.next().filter(|distance| distance.is_finite())?;
    distances.all(|distance| distance == first).then_some(first)
}

impl<T: Real> From<T> for Spacing<T> {
    fn from(distance: T) -> Self {
        Self::Uniform(distance)
    }
}

impl<T: Real> From<Vec<T>> for Spacing<T> {
    fn from(coordinates: Vec<T>) -> Self {
        Self::At(coordinates)
    }
}

/// What gives the distances along an axis: one distance, coordinates as a slice, an array or a `Vec`, or a [`Spacing`].
/// Axes of different kinds are `[Spacing::Uniform(1.0), Spacing::At(coordinates)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no spacing along an axis of elements of type `{T}`",
    note = "spacings are one distance, or coordinates in a slice, an array or a `Vec`, in the type of the elements"
)]
pub trait IntoSpacing<T> {
    /// The distances.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if coordinates that are borrowed cannot be copied.
    fn into_spacing(self) -> Result<Spacing<T>>;
}

macro_rules! spacings {
    ($([$($generics:tt)*] $type:ty: |$given:ident| $spacing:expr;)*) => { $(
        impl<T: Real $($generics)*> IntoSpacing<T> for $type {
            fn into_spacing(self) -> Result<Spacing<T>> {
                let $given = self;
                $spacing
            }
        }
    )* };
}
spacings! {
    [] T: |distance| Ok(Spacing::Uniform(distance));
    [] &T: |distance| Ok(Spacing::Uniform(*distance));
    [] Spacing<T>: |spacing| Ok(spacing);
    [] &Spacing<T>: |spacing| match spacing {
        Spacing::Uniform(distance) => Ok(Spacing::Uniform(*distance)),
        Spacing::At(coordinates) => coordinates.into_spacing(),
    };
    [] Vec<T>: |coordinates| Ok(Spacing::At(coordinates));
    [] &Vec<T>: |coordinates| coordinates.as_slice().into_spacing();
    [] &[T]: |coordinates| Ok(Spacing::At(list(coordinates.iter().copied())?));
    [, const N: usize] [T; N]: |coordinates| coordinates.as_slice().into_spacing();
    [, const N: usize] &[T; N]: |coordinates| coordinates.as_slice().into_spacing();
}
