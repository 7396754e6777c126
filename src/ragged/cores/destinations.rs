//! Destinations of calls: ragged tensors, or dense ones without var axes.

use super::places::{Places, RaggedResults};
use crate::error::Result;
use crate::gufunc::Outputs;
use crate::memory::for_tuples;
use crate::ragged::apply::zip_ragged;
use crate::ragged::expr::IntoRagged;
use crate::ragged::form::Extent;
use crate::ragged::{Ragged, sealed};
use crate::storage::Writer;
use crate::tensor::Tensor;

/// A tensor or view of any storage with a writer, of just the rows of a result. Sealed.
pub trait RaggedDestination: sealed::Destination {
    /// Type of its elements.
    type Elem: Copy + Send + Sync;

    /// What its axes are.
    #[doc(hidden)]
    fn kinds(&self) -> Vec<Extent>;

    /// Holds it against the rows of a result, before anything is written.
    #[doc(hidden)]
    fn accepts(&mut self, result: &Ragged<Vec<()>>) -> Result<()>;

    /// Writes a result, or what of it is `made`.
    #[doc(hidden)]
    fn write(&mut self, result: Ragged<Vec<Self::Elem>>, made: Option<Made>) -> Result<()>;
}

/// Which elements of a result are those of calls that were made.
pub(super) type Made = Ragged<Vec<bool>>;

impl<W> sealed::Destination for Ragged<W> {}

impl<W> sealed::Destination for Tensor<W> {}

impl<W: Writer> RaggedDestination for Ragged<W> {
    type Elem = W::Elem;

    fn kinds(&self) -> Vec<Extent> {
        self.extents()
    }

    fn accepts(&mut self, result: &Ragged<Vec<()>>) -> Result<()> {
        self.check_destination(&result.into_ragged_expr())
    }

    fn write(&mut self, result: Ragged<Vec<W::Elem>>, made: Option<Made>) -> Result<()> {
        let Some(made) = made else { return self.assign_expr(&(&result).into_ragged_expr()) };
        let all =
            zip_ragged((&made, &result, &*self), |(made, new, old)| if made { new } else { old });
        let all = all.eval()?;
        self.assign_expr(&(&all).into_ragged_expr())
    }
}

impl<W: Writer> RaggedDestination for Tensor<W> {
    type Elem = W::Elem;

    fn kinds(&self) -> Vec<Extent> {
        self.as_ragged().extents()
    }

    fn accepts(&mut self, result: &Ragged<Vec<()>>) -> Result<()> {
        self.as_ragged_mut().accepts(result)
    }

    fn write(&mut self, result: Ragged<Vec<W::Elem>>, made: Option<Made>) -> Result<()> {
        self.as_ragged_mut().write(result, made)
    }
}

/// Destinations of all outputs of a call with ragged operands: a tuple or an array of them, or one alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no destinations of ragged outputs of `{O}`",
    note = "give a `&mut Ragged` or a `&mut Tensor` for each output, in a tuple"
)]
pub trait RaggedDestinations<O: Outputs<Tensors: RaggedResults>> {
    #[doc(hidden)]
    fn extents(&self) -> Vec<Vec<Extent>>;

    #[doc(hidden)]
    fn accept(&mut self, places: &Places) -> Result<()>;

    #[doc(hidden)]
    fn write_all(
        self,
        results: <O::Tensors as RaggedResults>::Ragged,
        made: Vec<Option<Made>>,
    ) -> Result<()>;
}

impl<D, const N: usize> RaggedDestinations<[D::Elem; N]> for [&mut D; N]
where
    D: RaggedDestination<Elem: Default + 'static>,
{
    fn extents(&self) -> Vec<Vec<Extent>> {
        self.iter().map(|out| out.kinds()).collect()
    }

    fn accept(&mut self, places: &Places) -> Result<()> {
        self.iter_mut().enumerate().try_for_each(|(k, out)| out.accepts(&places.blank(k)?))
    }

    fn write_all(self, results: [Ragged<Vec<D::Elem>>; N], made: Vec<Option<Made>>) -> Result<()> {
        let mut each = self.into_iter().zip(results).zip(made);
        each.try_for_each(|((out, result), made)| out.write(result, made))
    }
}

macro_rules! destinations {
    ([$($of:tt)*] $O:ty, $outs:ty, $own:ident, $results:pat => $($name:ident $k:tt $out:expr),*) => {
        impl<$($of)*> RaggedDestinations<$O> for $outs {
            fn extents(&$own) -> Vec<Vec<Extent>> {
                vec![$($out.kinds()),*]
            }

            fn accept(&mut $own, places: &Places) -> Result<()> {
                $($out.accepts(&places.blank($k)?)?;)*
                Ok(())
            }

            fn write_all(
                $own,
                $results: <<$O as Outputs>::Tensors as RaggedResults>::Ragged,
                made: Vec<Option<Made>>,
            ) -> Result<()> {
                let mut made = made.into_iter();
                $($out.write($name, made.next().flatten())?;)*
                Ok(())
            }
        }
    };
}
destinations! {
    [D: RaggedDestination<Elem: Default + 'static>]
    [D::Elem; 1], &mut D, self, [result] => result 0 self
}
destinations! {
    [D: RaggedDestination<Elem: Default + 'static>]
    (D::Elem,), &mut D, self, (result,) => result 0 self
}

macro_rules! tuples {
    ($count:literal: $($D:ident $name:ident $k:tt),*) => {
        destinations! {
            [$($D: RaggedDestination<Elem: Default + 'static>),*]
            ($($D::Elem,)*), ($(&mut $D,)*), self, ($($name,)*) => $($name $k self.$k),*
        }
        destinations! {
            [T: Copy + Default + Send + Sync + 'static, $($D: RaggedDestination<Elem = T>),*]
            [T; $count], ($(&mut $D,)*), self, [$($name),*] => $($name $k self.$k),*
        }
    };
}
for_tuples!(tuples 4);
