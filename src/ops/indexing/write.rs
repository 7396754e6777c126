//! Writing at a list of indexes.

use super::IntoIndexes;
use crate::error::{Error, Result};
use crate::expr::{Expr, Pairs, elements_at, failed_at, write_elements};
use crate::memory::{list, owned, push, resize, try_reserve_exact, zeros};
use crate::ops::reduce::{Reducer, Undefined, undefined};
use crate::shape::Shape;
use crate::storage::{Writer, sort_entries};
use crate::tensor::Tensor;
use std::borrow::Cow;
use std::mem::needs_drop;
use std::ops::Range;

/// Lists are sorted, not held against a table of all addresses from the lowest to the highest, if there are more of these
/// for each index: with a bit for each address, or with a state, in bytes.
const BITS: usize = 64;
const STATES_BYTES: usize = 128;

impl<W: Writer> Tensor<W> {
    /// Writes `values`, stretched to the shape of the list, at a list of indexes: one operand of `usize` and shape
    /// `(.., rank)`, or, for up to six axes, a tuple of one operand per axis, see [`indexing`](crate::indexing). A list
    /// without indexes writes nothing.
    ///
    /// Everything is checked and computed before anything is written.
    ///
    /// # Errors
    ///
    /// [`Error::IndexAt`] for the first index out of bounds, [`Error::RepeatedIndex`] for one that stands twice in the
    /// list, as no order decides which value stays ([`Self::fold_at`] takes both);
    /// [`Error::Destination`] if `values` do not stretch to the shape of the list; [`Error::NotInjective`] if two
    /// indexes of this view share an address; those of [`take_at`](crate::indexing::Indexing::take_at) for the shape
    /// of the list, what evaluating reports, and [`Error::Storage`] if the storage fails, which leaves this view
    /// partly written.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let mut t = Tensor::full([2, 3], 0)?;
    /// let at = Tensor::from_nested([[0_usize, 1], [1, 2]])?;
    /// t.put_at(&at, &Tensor::from(vec![5, 6]))?;
    /// t.put_at((1, &Tensor::from(vec![0, 1])), 7)?;
    /// assert_eq!(t.to_vec()?, [0, 5, 0, 7, 7, 6]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "scatter_nd")]
    pub fn put_at<'a, X>(&mut self, indexes: impl IntoIndexes<'a>, values: X) -> Result<()>
    where
        W::Elem: Pairs<X>,
    {
        let values = W::Elem::pair(values);
        let Written { shape, addresses, values } = self.written(indexes, &values)?;
        if let Some((first, second)) = first_repeat(&addresses)? {
            return Err(Error::RepeatedIndex {
                index: self.index_of(addresses[second]),
                first: shape.unravel(first).to_vec(),
                second: shape.unravel(second).to_vec(),
            });
        }
        let values = stretched(values, addresses.len())?;
        let (map, storage) = self.parts_mut();
        write_elements(map, storage, &addresses, &values)
    }

    /// Folds `values`, stretched to the shape of the list, into the elements at a list of indexes, as
    /// [`Self::put_at`] takes it. An index may stand there several times: its element is followed by all of its
    /// values, in row-major order of the list, and becomes what the reducer makes of them. With
    /// [`Sum`](crate::reduce::Sum) that is NumPy's `add.at`. The bits are the same for any number of threads.
    ///
    /// The results have the type of the elements. So [`Sum`](crate::reduce::Sum) is for `f32`, `f64`, `i64`, `u64` and complex
    /// numbers; of other integers and of halves it is [`SameType(Sum)`](crate::reduce::SameType), an error where it does not
    /// fit. Indexes that do not stand in the list keep their elements, and a list without indexes changes nothing.
    /// Everything is checked and computed before anything is written.
    ///
    /// # Errors
    ///
    /// As [`Self::put_at`], without [`Error::RepeatedIndex`]; [`Error::Overflow`] and [`Error::NothingLeft`], with
    /// the index in this view, if the reducer has no result.
    ///
    /// ```
    /// use lensor::Tensor;
    /// use lensor::reduce::{Max, Sum};
    /// let mut t = Tensor::full([3], 1.0)?;
    /// let at = Tensor::from(vec![0, 2, 0, 0]);
    /// t.fold_at((&at,), &Tensor::from(vec![1.0, 2.0, 3.0, 4.0]), Sum)?;
    /// assert_eq!(t.to_vec()?, [9.0, 1.0, 3.0]);
    /// t.fold_at((&at,), 5.0, Max)?;
    /// assert_eq!(t.to_vec()?, [9.0, 1.0, 5.0]);
    ///
    /// // Whole rows: their numbers as a column, beside a row of all columns.
    /// let mut sums = Tensor::full([2, 3], 0.0)?;
    /// let (row, columns) = (Tensor::from(vec![1_usize, 1]), Tensor::iota([1, 3])?);
    /// let values = Tensor::from_nested([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    /// sums.fold_at((&row.insert_axis(1)?, &columns), &values, Sum)?;
    /// assert_eq!(sums.to_vec()?, [0.0, 0.0, 0.0, 5.0, 7.0, 9.0]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "add_at")]
    pub fn fold_at<'a, X, R>(
        &mut self,
        indexes: impl IntoIndexes<'a>,
        values: X,
        reducer: R,
    ) -> Result<()>
    where
        W::Elem: Pairs<X>,
        R: Reducer<W::Elem, Out = W::Elem>,
    {
        let values = W::Elem::pair(values);
        let Written { mut addresses, values, .. } = self.written(indexes, &values)?;
        let mut elements = Vec::new();
        let all = Some(self.address_map().span()).filter(|all| all.len() <= addresses.len());
        let span = all.unwrap_or_else(|| span(&addresses));
        let bytes = span.len().saturating_mul(size_of::<Folded<R::State>>());
        // Many states that own memory would ask for it where that cannot be refused.
        let near = (!needs_drop::<R::State>() && bytes / STATES_BYTES <= addresses.len())
            .then(|| self.storage().as_slice()?.get(span.clone()))
            .flatten();
        try_reserve_exact(&mut elements, addresses.len().min(span.len()))?;
        let mut lacking: Vec<(usize, Undefined)> = Vec::new();
        let take = |address, state| match reducer.undefined(&state) {
            None => {
                elements.push(reducer.finish(state));
                Ok(())
            }
            Some(why) => push(&mut lacking, (address, why)),
        };
        match near {
            Some(near) => fold_in_table(&reducer, near, span.start, &mut addresses, &values, take)?,
            None => {
                let values = owned(stretched(values, addresses.len())?)?;
                self.fold_sorted(&reducer, &mut addresses, values, take)?;
            }
        }
        if let Some((index, why)) = self.first_of(&lacking) {
            return Err(undefined::<W::Elem>(why, index));
        }
        let (map, storage) = self.parts_mut();
        write_elements(map, storage, &addresses, &elements)
    }

    /// Sorts a list, and has `take` take the states of its addresses, each of which it keeps once.
    fn fold_sorted<R: Reducer<W::Elem>>(
        &self,
        reducer: &R,
        addresses: &mut Vec<usize>,
        mut values: Vec<W::Elem>,
        mut take: impl FnMut(usize, R::State) -> Result<()>,
    ) -> Result<()> {
        sort_entries(addresses, &mut values)?;
        let mut distinct = list(addresses.iter().copied())?;
        distinct.dedup();
        let (olds, mut rest) = (self.elements_of(&distinct)?, &values[..]);
        for (group, old) in addresses.chunk_by(|a, b| a == b).zip(olds) {
            let (own, later) = rest.split_at(group.len());
            rest = later;
            let mut state = reducer.first_at(old, 0);
            for (k, &value) in own.iter().enumerate() {
                reducer.step_at(&mut state, value, k + 1);
            }
            take(group[0], state)?;
        }
        *addresses = distinct;
        Ok(())
    }

    /// The shape of a list, the addresses of its indexes and the values that go there.
    fn written<'a, 'v>(
        &self,
        indexes: impl IntoIndexes<'a>,
        values: &'v impl Expr<Elem = W::Elem>,
    ) -> Result<Written<'v, W::Elem>> {
        let map = self.address_map();
        map.check_injective()?;
        let indexes = indexes.into_indexes();
        let shape = indexes.shape(map.rank())?;
        let addresses = indexes.addresses(map)?;
        let own = values.shape()?;
        let one = shape.count()? > 1 && own.count() == Ok(1) && own.rank() <= shape.rank();
        // An error has the index in the list.
        let alone = if one { elements_at(values, &own).ok() } else { None };
        let values = alone.map_or_else(|| elements_at(values, &shape), Ok)?;
        Ok(Written { shape, addresses, values })
    }

    /// The elements at addresses that the map reaches.
    fn elements_of(&self, addresses: &[usize]) -> Result<Vec<W::Elem>> {
        let Some(&first) = addresses.first() else { return Ok(Vec::new()) };
        let failed = |source| failed_at(self.address_map(), source);
        let mut elements = Vec::new();
        resize(&mut elements, addresses.len(), self.storage().try_read(first).map_err(failed)?)?;
        self.storage().read_at(addresses, &mut elements).map_err(failed)?;
        Ok(elements)
    }

    /// The first index of this view that reads one of these addresses, and what is known of that.
    fn first_of<T: Copy>(&self, known: &[(usize, T)]) -> Option<(Vec<usize>, T)> {
        let known = known.iter().map(|&(address, what)| (self.index_of(address), what));
        known.min_by(|(a, _), (b, _)| a.cmp(b))
    }

    /// The index of this view, which is injective, that reads an address.
    fn index_of(&self, address: usize) -> Vec<usize> {
        self.address_map().to_global(address).next().map(|index| index.to_vec()).unwrap_or_default()
    }
}

/// What is to be written.
struct Written<'v, T: Clone> {
    shape: Shape,
    addresses: Vec<usize>,
    /// One for each address, or one for all.
    values: Cow<'v, [T]>,
}

/// As many values as there are addresses.
fn stretched<T: Clone>(values: Cow<'_, [T]>, count: usize) -> Result<Cow<'_, [T]>> {
    match &*values {
        [one] if count > 1 => list(std::iter::repeat_n(one.clone(), count)).map(Cow::Owned),
        _ => Ok(values),
    }
}

/// From the lowest address to the highest.
fn span(addresses: &[usize]) -> Range<usize> {
    let (low, high) = addresses
        .iter()
        .fold((usize::MAX, 0), |(low, high), &address| (address.min(low), (address + 1).max(high)));
    low.min(high)..high
}

/// The places of the first address that stands in a list before, and where it does.
pub(crate) fn first_repeat(addresses: &[usize]) -> Result<Option<(usize, usize)>> {
    let span = span(addresses);
    if span.len() / BITS <= addresses.len() {
        let mut seen: Vec<u64> = zeros(span.len() / 64 + 1)?;
        let second = addresses.iter().position(|address| {
            let (word, bit) = ((address - span.start) / 64, 1 << ((address - span.start) % 64));
            let is_seen = seen[word] & bit != 0;
            seen[word] |= bit;
            is_seen
        });
        let place = |second: usize| addresses.iter().position(|&first| first == addresses[second]);
        return Ok(second.and_then(|second| Some((place(second)?, second))));
    }
    let (mut sorted, mut places) = (list(addresses.iter().copied())?, list(0..addresses.len())?);
    sort_entries(&mut sorted, &mut places)?;
    let repeated = sorted.windows(2).zip(places.windows(2)).filter(|(pair, _)| pair[0] == pair[1]);
    Ok(repeated.map(|(_, places)| (places[0], places[1])).min_by_key(|&(_, second)| second))
}

/// The state of an element, and how many values it has.
type Folded<S> = Option<(usize, S)>;

/// Has `take` take the states of the addresses of a list, each of which it keeps once, in ascending order: each element
/// `near` them, from address `base` on, has room for a state in a table. One value may stand for all.
fn fold_in_table<T: Copy, R: Reducer<T>>(
    reducer: &R,
    near: &[T],
    base: usize,
    addresses: &mut Vec<usize>,
    values: &[T],
    mut take: impl FnMut(usize, R::State) -> Result<()>,
) -> Result<()> {
    let mut table: Vec<Folded<R::State>> = list(near.iter().map(|_| None))?;
    for (&address, &value) in addresses.iter().zip(values.iter().cycle()) {
        let at = address - base;
        let (count, state) = table[at].get_or_insert_with(|| (0, reducer.first_at(near[at], 0)));
        *count += 1;
        reducer.step_at(state, value, *count);
    }
    addresses.clear();
    for (address, folded) in (base..).zip(table) {
        if let Some((_, state)) = folded {
            addresses.push(address);
            take(address, state)?;
        }
    }
    Ok(())
}
