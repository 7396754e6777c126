//! Writing at a list of indexes.

use super::IntoIndexes;
use crate::error::{Error, Result};
use crate::expr::{Pairs, elements_at, failed_at, write_elements};
use crate::memory::{list, resize, try_with_capacity};
use crate::ops::reduce::{Reducer, undefined};
use crate::shape::Shape;
use crate::storage::{Writer, sort_entries};
use crate::tensor::Tensor;

impl<W: Writer> Tensor<W> {
    /// Writes `values`, stretched to the shape of the list, at a list of indexes: one operand of `usize` and shape
    /// `(.., rank)`, or a tuple of one operand per axis, see [`indexing`](crate::indexing). A list without indexes
    /// writes nothing.
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
    #[doc(alias = "scatter")]
    pub fn put_at<'a, X>(&mut self, indexes: impl IntoIndexes<'a>, values: X) -> Result<()>
    where
        W::Elem: Pairs<X>,
    {
        let Written { shape, addresses, values } = self.written(indexes, values)?;
        let (mut sorted, mut places) =
            (list(addresses.iter().copied())?, list(0..addresses.len())?);
        sort_entries(&mut sorted, &mut places)?;
        let repeated =
            sorted.windows(2).zip(places.windows(2)).filter(|(pair, _)| pair[0] == pair[1]);
        // The first place that repeats one before it.
        if let Some((pair, places)) = repeated.min_by_key(|(_, places)| places[1]) {
            return Err(Error::RepeatedIndex {
                index: self.index_of(pair[0]),
                first: shape.unravel(places[0]).to_vec(),
                second: shape.unravel(places[1]).to_vec(),
            });
        }
        let (map, storage) = self.parts_mut();
        write_elements(map, storage, &addresses, &values)
    }

    /// Folds `values`, stretched to the shape of the list, into the elements at a list of indexes, as
    /// [`Self::put_at`] takes it. An index may stand there several times: its element is followed by all of its
    /// values, in row-major order of the list, and becomes what the reducer makes of them. With
    /// [`Sum`](crate::reduce::Sum) that is NumPy's `add.at`. The bits are the same for any number of threads.
    ///
    /// The results have the type of the elements: sums of integers are those of `i64` and `u64`, cast others. Indexes
    /// that do not stand in the list keep their elements, and a list without indexes changes nothing. Everything
    /// is checked and computed before anything is written.
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
        let Written { mut addresses, mut values, .. } = self.written(indexes, values)?;
        sort_entries(&mut addresses, &mut values)?;
        let mut distinct = list(addresses.iter().copied())?;
        distinct.dedup();
        let mut elements = self.elements_of(&distinct)?;
        let mut groups = addresses.chunk_by(|a, b| a == b);
        let mut rest = &values[..];
        for (element, &address) in elements.iter_mut().zip(&distinct) {
            let Some(group) = groups.next() else { break };
            let (own, later) = rest.split_at(group.len());
            rest = later;
            let mut state = reducer.first_at(*element, 0);
            for (k, &value) in own.iter().enumerate() {
                reducer.step_at(&mut state, value, k + 1);
            }
            if let Some(why) = reducer.undefined(&state) {
                return Err(undefined::<W::Elem>(why, self.index_of(address)));
            }
            *element = reducer.finish(state);
        }
        let (map, storage) = self.parts_mut();
        write_elements(map, storage, &distinct, &elements)
    }

    /// The shape of a list, the addresses of its indexes and the values that go there.
    fn written<'a, X>(&self, indexes: impl IntoIndexes<'a>, values: X) -> Result<Written<W::Elem>>
    where
        W::Elem: Pairs<X>,
    {
        let map = self.address_map();
        map.check_injective()?;
        let indexes = indexes.into_indexes();
        let shape = indexes.shape(map.rank())?;
        let positions = indexes.positions(&map.shape())?;
        let values = elements_at(&W::Elem::pair(values), &shape)?;
        let mut addresses = try_with_capacity(positions.len())?;
        map.addresses_at(&positions, &mut addresses);
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

    /// The index of this view, which is injective, that reads an address.
    fn index_of(&self, address: usize) -> Vec<usize> {
        self.address_map().to_global(address).next().map(|index| index.to_vec()).unwrap_or_default()
    }
}

/// What is to be written.
struct Written<T> {
    shape: Shape,
    addresses: Vec<usize>,
    values: Vec<T>,
}
