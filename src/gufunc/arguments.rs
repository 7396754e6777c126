//! What gufuncs are called with: operands and destinations.

use super::elementary::{Inputs, Outputs};
use crate::error::{Error, Result};
use crate::expr::{Expr, IntoExpr, Prepare, Scalar, bytes_read, deferred_of, densely, row_major};
use crate::memory::for_tuples;
use crate::ops::cores::{self, Arranged, Arrangement, Destination, Operand, memory_in_order};
use crate::shape::Shape;
use crate::storage::Writer;
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::array::from_fn;

/// A tuple of operands, or an array of operands of one type, for inputs of types `I`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no operands of a gufunc of `{I}`",
    note = "give as many tensors, expressions or scalars as it has inputs, with exactly its element types: a tuple, or an array if they are of one type, `[&t]` of one alone",
    note = "other elements are cast first: `t.cast::<f64>()`; ragged operands go to `call_ragged`"
)]
pub trait Arguments<I: Inputs> {
    /// The operands as expressions.
    type Held: Held<I>;

    #[doc(hidden)]
    fn hold(self) -> Self::Held;
}

/// Whether cores of inputs that are not row-major are read where they lie, see [`Elementary::fits`].
///
/// [`Elementary::fits`]: super::Elementary
pub(super) type Fits<'f> = &'f dyn Fn(&[usize], &[isize], isize) -> bool;

/// Operands of a call as expressions. Sealed.
pub trait Held<I: Inputs>: Send + Sync {
    #[doc(hidden)]
    fn shapes(&self) -> Result<SmallVec<[Shape; 3]>>;

    #[doc(hidden)]
    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare));

    #[doc(hidden)]
    fn depth(&self) -> usize;

    /// The elements of all operands, if they lie in memory in row-major order and are so many.
    #[doc(hidden)]
    fn row_major<'e>(&'e self, counts: &[usize]) -> Option<I::Slices<'e>>
    where
        I: 'e;

    #[doc(hidden)]
    fn operands<'e>(
        &'e self,
        arranged: &[Arrangement],
        loops: &Shape,
        fits: Fits<'_>,
    ) -> Result<I::Operands<'e>>
    where
        I: 'e;

    /// Bytes that are read, and what is to be told of each operand.
    #[doc(hidden)]
    fn about(&self) -> (usize, Vec<String>);
}

/// What is told of one operand.
fn about<E: Expr>(e: &E, number: usize) -> Vec<String> {
    let count = e.shape().ok().and_then(|shape| shape.count().ok()).unwrap_or(0);
    // Not which of its own operands it is.
    let named = |line: String| match line.split_once(" is sparse") {
        Some((_, rest)) => format!("operand {number} is sparse{rest}"),
        None => line,
    };
    densely(e, count).into_iter().map(named).collect()
}

/// An array of operands.
#[derive(Debug, Clone)]
pub struct Several<E, const N: usize>([E; N]);

impl<X: IntoExpr, const N: usize> Arguments<[X::Elem; N]> for [X; N] {
    type Held = Several<X::Expr, N>;

    fn hold(self) -> Self::Held {
        Several(self.map(IntoExpr::into_expr))
    }
}

impl<E: Expr, const N: usize> Held<[E::Elem; N]> for Several<E, N> {
    fn shapes(&self) -> Result<SmallVec<[Shape; 3]>> {
        let mut shapes = SmallVec::new();
        for operand in &self.0 {
            shapes.push(operand.shape()?);
        }
        Ok(shapes)
    }

    fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
        self.0.iter().for_each(|operand| deferred_of(operand, visit));
    }

    fn depth(&self) -> usize {
        self.0.iter().map(Expr::depth).max().unwrap_or(0)
    }

    #[inline]
    fn row_major<'e>(&'e self, counts: &[usize]) -> Option<[&'e [E::Elem]; N]>
    where
        E::Elem: 'e,
    {
        let mut slices = [&[][..]; N];
        for ((slice, e), count) in slices.iter_mut().zip(&self.0).zip(counts) {
            *slice = row_major(e).filter(|slice| slice.len() == *count)?;
        }
        Some(slices)
    }

    fn operands<'e>(
        &'e self,
        arranged: &[Arrangement],
        loops: &Shape,
        fits: Fits<'_>,
    ) -> Result<[Operand<'e, E::Elem>; N]>
    where
        E::Elem: 'e,
    {
        let mut operands = from_fn(|_| Operand::default());
        for ((operand, e), arranged) in operands.iter_mut().zip(&self.0).zip(arranged) {
            operand.set(e, arranged, loops, fits)?;
        }
        Ok(operands)
    }

    fn about(&self) -> (usize, Vec<String>) {
        let bytes = self.0.iter().map(|e| bytes_read(e)).fold(0, usize::saturating_add);
        let lines = self.0.iter().enumerate().flat_map(|(k, e)| about(e, k + 1)).collect();
        (bytes, lines)
    }
}

/// No operands.
impl<T: Copy + Send + Sync> Arguments<[T; 0]> for () {
    type Held = Several<Scalar<T>, 0>;

    fn hold(self) -> Self::Held {
        Several([])
    }
}

/// The methods of operands of several types.
macro_rules! methods {
    ($I:ty: $($X:ident $k:tt)*) => {
        fn shapes(&self) -> Result<SmallVec<[Shape; 3]>> {
            let mut shapes = SmallVec::new();
            $(shapes.push(self.0.$k.shape()?);)*
            Ok(shapes)
        }

        fn deferred<'a>(&'a self, visit: &mut dyn FnMut(&'a dyn Prepare)) {
            $(deferred_of(&self.0.$k, visit);)*
        }

        fn depth(&self) -> usize {
            0 $(.max(self.0.$k.depth()))*
        }

        #[inline]
        fn row_major<'e>(&'e self, counts: &[usize]) -> Option<<$I as cores::Inputs>::Slices<'e>>
        where
            $I: 'e,
        {
            Some(($(row_major(&self.0.$k).filter(|slice| slice.len() == counts[$k])?,)*).into())
        }

        fn operands<'e>(
            &'e self,
            arranged: &[Arrangement],
            loops: &Shape,
            fits: Fits<'_>,
        ) -> Result<<$I as cores::Inputs>::Operands<'e>>
        where
            $I: 'e,
        {
            let mut operands = ($(Operand::<$X::Elem>::default(),)*);
            $(operands.$k.set(&self.0.$k, &arranged[$k], loops, fits)?;)*
            Ok(operands.into())
        }

        fn about(&self) -> (usize, Vec<String>) {
            let mut lines = Vec::new();
            $(lines.extend(about(&self.0.$k, $k + 1));)*
            (0_usize $(.saturating_add(bytes_read(&self.0.$k)))*, lines)
        }
    };
}

macro_rules! tuples {
    ($count:literal: $($X:ident $name:ident $k:tt),*) => {
        impl<$($X: IntoExpr),*> Arguments<($($X::Elem,)*)> for ($($X,)*) {
            type Held = Tuple<($($X::Expr,)*)>;

            fn hold(self) -> Self::Held {
                Tuple(($(self.$k.into_expr(),)*))
            }
        }

        impl<T: Copy + Send + Sync, $($X: IntoExpr<Elem = T>),*> Arguments<[T; $count]> for ($($X,)*) {
            type Held = Tuple<($($X::Expr,)*)>;

            fn hold(self) -> Self::Held {
                Tuple(($(self.$k.into_expr(),)*))
            }
        }

        impl<$($X: Expr),*> Held<($($X::Elem,)*)> for Tuple<($($X,)*)> {
            methods!(($($X::Elem,)*): $($X $k)*);
        }

        impl<T: Copy + Send + Sync, $($X: Expr<Elem = T>),*> Held<[T; $count]> for Tuple<($($X,)*)> {
            methods!([T; $count]: $($X $k)*);
        }
    };
}
for_tuples!(tuples 6);

/// Where the results of a call go: references to tensors of any storage with a writer, in a tuple or an array; one
/// alone stands for itself. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no destinations of outputs of `{O}`",
    note = "give a `&mut Tensor` for each output, in a tuple"
)]
pub trait Destinations<O: Outputs> {
    #[doc(hidden)]
    fn shapes(&self) -> SmallVec<[Shape; 2]>;

    /// The memory of all results, if they lie there one after another.
    #[doc(hidden)]
    fn row_major(&mut self, arranged: &[Arrangement]) -> Option<<O as cores::Outputs>::Slices<'_>>;

    #[doc(hidden)]
    fn with(
        self,
        arranged: &[Arrangement],
        run: impl FnOnce(&mut <O as cores::Outputs>::Destinations<'_>) -> Result<()>,
    ) -> Result<()>;
}

/// The memory of a destination, if results lie there one after another.
fn memory<'o, W: Writer>(
    out: &'o mut Tensor<W>,
    arranged: &Arrangement,
) -> Option<&'o mut [W::Elem]> {
    let (map, storage) = out.parts_mut();
    if arranged.is_in_order() { memory_in_order(map, storage) } else { None }
}

/// A tuple as a type of its own.
#[derive(Debug, Clone)]
pub struct Tuple<T>(T);

impl<W: Writer, const N: usize> Destinations<[W::Elem; N]> for [&mut Tensor<W>; N]
where
    W::Elem: Default + 'static,
{
    fn shapes(&self) -> SmallVec<[Shape; 2]> {
        self.iter().map(|out| out.shape()).collect()
    }

    fn row_major(&mut self, arranged: &[Arrangement]) -> Option<[&mut [W::Elem]; N]> {
        let mut all: [&mut [W::Elem]; N] = from_fn(|_| Default::default());
        for ((slice, out), arranged) in all.iter_mut().zip(self).zip(arranged) {
            *slice = memory(out, arranged)?;
        }
        Some(all)
    }

    fn with(
        self,
        arranged: &[Arrangement],
        run: impl FnOnce(&mut <[W::Elem; N] as cores::Outputs>::Destinations<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut outs: SmallVec<[_; N]> = SmallVec::new();
        for (out, arranged) in self.into_iter().zip(arranged) {
            outs.push(Arranged::new(out, arranged, Some(<_>::default()))?);
        }
        let found = outs.len();
        let all: SmallVec<[&mut dyn Destination<W::Elem>; N]> =
            outs.iter_mut().map(|out| out as _).collect();
        let mut all =
            all.into_inner().map_err(|_| Error::Rank { what: "outputs", expected: N, found })?;
        run(&mut all)
    }
}

/// The methods of destinations, one for each output.
macro_rules! destination_methods {
    ($own:ident, $O:ty: $($W:ident $k:tt $out:expr),*) => {
        fn shapes(&$own) -> SmallVec<[Shape; 2]> {
            SmallVec::from_iter([$($out.shape()),*])
        }

        fn row_major(&mut $own, arranged: &[Arrangement]) -> Option<<$O as cores::Outputs>::Slices<'_>> {
            Some(($(memory($out, &arranged[$k])?,)*).into())
        }

        fn with(
            $own,
            arranged: &[Arrangement],
            run: impl FnOnce(&mut <$O as cores::Outputs>::Destinations<'_>) -> Result<()>,
        ) -> Result<()> {
            let mut outs = ($(Arranged::new($out, &arranged[$k], Some(<_>::default()))?,)*);
            run(&mut ($(&mut outs.$k as &mut dyn Destination<$W::Elem>,)*).into())
        }
    };
}

impl<W: Writer<Elem: Default + 'static>> Destinations<[W::Elem; 1]> for &mut Tensor<W> {
    destination_methods!(self, [W::Elem; 1]: W 0 self);
}

impl<W: Writer<Elem: Default + 'static>> Destinations<(W::Elem,)> for &mut Tensor<W> {
    destination_methods!(self, (W::Elem,): W 0 self);
}

macro_rules! destinations {
    ($count:literal: $($W:ident $name:ident $k:tt),*) => {
        impl<$($W: Writer<Elem: Default + 'static>),*> Destinations<($($W::Elem,)*)> for ($(&mut Tensor<$W>,)*) {
            destination_methods!(self, ($($W::Elem,)*): $($W $k self.$k),*);
        }

        impl<T: Copy + Default + Send + Sync + 'static, $($W: Writer<Elem = T>),*> Destinations<[T; $count]>
            for ($(&mut Tensor<$W>,)*)
        {
            destination_methods!(self, [T; $count]: $($W $k self.$k),*);
        }
    };
}
for_tuples!(destinations 4);
