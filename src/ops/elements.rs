//! Iteration over elements, a block at a time.

use crate::error::{Error, Result};
use crate::expr::{
    BadBlock, Boxes, Rows, TRANSPOSED, box_shape, erased, lies_transposed, row_major, selectors,
};
use crate::memory::debug_of_fields;
use crate::shape::Shape;
use crate::storage::Reader;
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::iter::FusedIterator;
use std::ops::Range;

impl<S: Reader> Tensor<S> {
    /// The elements in row-major order of the view, one by one: where they lie, if they lie so in memory. Otherwise,
    /// after the first few, they are read thousands at a time, of storage in blocks up to 16 MiB, of a transposed view 2^18;
    /// where that fails each is read by itself, so that an error stands for the element that has it.
    ///
    /// ```
    /// use lensor::Tensor;
    /// let t = Tensor::from_nested([[1, 2], [3, 4]])?.transpose([1, 0])?;
    /// assert_eq!(t.try_iter().collect::<Result<Vec<_>, _>>()?, [1, 3, 2, 4]);
    /// # Ok::<(), lensor::Error>(())
    /// ```
    #[doc(alias = "iter")]
    #[inline(never)]
    pub fn try_iter(&self) -> Elements<'_, S> {
        let (shape, count) = (self.shape(), self.shape().count().unwrap_or(0));
        let boxes = Boxes::new(shape.clone(), at_once(self, &shape));
        let near = row_major(self);
        let (read, singles) = if near.is_some() { (count, 0..0) } else { (0, 0..FEW.min(count)) };
        let block = Cow::Borrowed(near.unwrap_or_default());
        Elements { tensor: self, shape, boxes, singles, bad: None, block, taken: 0, read, count }
    }
}

/// Elements that are read at once.
const BLOCK: usize = 1 << 14;

/// Bytes that are read at once at most for the sake of blocks.
const LAYER_BYTES: usize = 1 << 24;

/// Elements that are read at once: of storage in blocks, few of which are held, as many as it takes to load each once.
fn at_once<S: Reader>(t: &Tensor<S>, shape: &Shape) -> usize {
    let in_blocks = || {
        t.storage().blocks().filter(|_| shape.rank() > 0)?;
        let order: SmallVec<[usize; 8]> = (0..shape.rank()).collect();
        let view = t.view();
        let rows = Rows::ordered(&erased(&view), &order, 1).ok()?;
        rows.window().filter(|_| rows.holds_few())
    };
    let most = LAYER_BYTES / size_of::<S::Elem>().max(1);
    let transposed = if lies_transposed(t) { TRANSPOSED } else { 0 };
    in_blocks().unwrap_or(0).max(transposed).min(most).max(BLOCK)
}

/// Elements that are read one by one at first, as there may not be more, or nobody asks for them.
const FEW: usize = 16;

/// Iterator over elements, see [`Tensor::try_iter`].
pub struct Elements<'a, S: Reader> {
    tensor: &'a Tensor<S>,
    shape: Shape,
    /// The blocks to come, which are boxes.
    boxes: Boxes,
    /// Elements to be read one by one, before those of the block.
    singles: Range<usize>,
    /// The block that one of these was in last that could not be read.
    bad: Option<BadBlock>,
    block: Cow<'a, [S::Elem]>,
    /// How many elements of the block are done.
    taken: usize,
    /// How many elements the blocks so far have.
    read: usize,
    /// How many elements there are.
    count: usize,
}

debug_of_fields!([S: Reader] Elements<'_, S> |own| left: own.len());

impl<S: Reader> Elements<'_, S> {
    /// One element by itself.
    fn single(&mut self, index: &[usize]) -> Result<S::Elem> {
        let address = self.tensor.address_map().to_local(index)?;
        if let Some(bad) = self.bad.as_ref().filter(|bad| bad.has(address)) {
            let (index, source) = (Some(index.to_vec()), bad.error.clone());
            return Err(Error::Storage { index, source });
        }
        let found = self.tensor.get(index);
        if let Err(Error::Storage { source, .. }) = &found {
            self.bad = BadBlock::of(self.tensor.storage(), address, source);
        }
        found
    }

    /// The next element, one by one or from a new block.
    #[cold]
    #[inline(never)]
    fn advance(&mut self) -> Option<Result<S::Elem>> {
        loop {
            if let Some(position) = self.singles.next() {
                return Some(self.single(&self.shape.unravel(position)));
            }
            let done = FEW.min(self.count).saturating_sub(self.read);
            let ranges = self.boxes.next().filter(|_| self.read.max(FEW) < self.count)?;
            let (first, len) =
                (self.read, box_shape(&self.shape, &ranges).iter().product::<usize>());
            self.read += len;
            let part = self.tensor.view().select(selectors(&ranges));
            match part.and_then(|part| part.eval()) {
                Ok(block) => {
                    (self.block, self.taken) = (Cow::Owned(block.into_storage()), done);
                    if let Some(&element) = self.block.get(done) {
                        self.taken += 1;
                        return Some(Ok(element));
                    }
                }
                Err(_) => self.singles = (first + done).min(first + len)..first + len,
            }
        }
    }
}

impl<S: Reader> Iterator for Elements<'_, S> {
    type Item = Result<S::Elem>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.singles.is_empty()
            && let Some(&element) = self.block.get(self.taken)
        {
            self.taken += 1;
            return Some(Ok(element));
        }
        self.advance()
    }

    /// Block by block: a loop that may leave for the next one at each element keeps what it sums up in memory.
    fn fold<B, F: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: F) -> B {
        let mut all = init;
        loop {
            if self.singles.is_empty() {
                let rest = self.block.get(self.taken..).unwrap_or_default();
                all = rest.iter().fold(all, |all, &element| f(all, Ok(element)));
                self.taken = self.block.len();
            }
            match self.advance() {
                Some(next) => all = f(all, next),
                None => return all,
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let ahead = self.singles.len() + self.block.len().saturating_sub(self.taken);
        // The first elements are read before their block is.
        let left = match self.read {
            0 => self.count - FEW.min(self.count) + self.singles.len(),
            read => self.count - read + ahead,
        };
        (left, Some(left))
    }
}

impl<S: Reader> ExactSizeIterator for Elements<'_, S> {}
impl<S: Reader> FusedIterator for Elements<'_, S> {}
