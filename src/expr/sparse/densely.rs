//! Sparse operands that are to be read element by element.

use crate::error::{Error, Result};
use crate::expr::node::Tree;
use crate::expr::sealed::Sealed;
use crate::expr::{Access, Expr, Lazy, Leaf, Prepare, forward_expr};
use crate::map::AddressMap;
use crate::shape::Shape;

/// Elements of sparse operands that are read one by one without having been asked for.
pub(super) const MOST: usize = 1 << 33;

/// Refuses to read very many elements of a sparse leaf one by one, or of one that is made of sparse storage; of constants if
/// there are no other leaves.
pub(crate) fn check_reads(e: &dyn Tree, count: usize) -> Result<()> {
    let (mut stored, mut dense) = (None, false);
    if count > MOST {
        e.leaves(&mut |leaf| match leaf.access {
            Access::Stored { count } | Access::Read { below: Some(count) } => {
                stored = stored.max(Some(count));
            }
            _ => dense = true,
        });
    }
    match stored.filter(|&stored| stored > 0 || !dense) {
        Some(stored) => Err(Error::WouldDensify { stored, dense: count }),
        None => Ok(()),
    }
}

/// The same of what is copied whole; constants, which store nothing, have errors of their own.
pub(crate) fn check_copies(e: &dyn Tree, count: usize) -> Result<()> {
    if has_entries(e) { check_reads(e, count) } else { Ok(()) }
}

/// The same of an operand that is read whole.
pub(crate) fn check_operand(e: &dyn Tree) -> Result<()> {
    if has_entries(e) { check_reads(e, e.shape()?.count()?) } else { Ok(()) }
}

/// Whether a sparse leaf has entries, or one that is made of sparse storage.
pub(crate) fn has_entries(e: &dyn Tree) -> bool {
    let mut entries = false;
    e.leaves(&mut |leaf| {
        entries |= matches!(
            leaf.access,
            Access::Stored { count: 1.. } | Access::Read { below: Some(1..) }
        );
    });
    entries
}

/// Entries of the sparse storage that leaves are made of which are not sparse.
pub(super) fn entries_below(e: &dyn Tree) -> usize {
    let mut entries = 0_usize;
    e.leaves(&mut |leaf| {
        if let Access::Read { below: Some(count) } = leaf.access {
            entries = entries.saturating_add(count);
        }
    });
    entries
}

/// An expression whose sparse leaves are read as if they were not, see [`Lazy::densely`].
#[derive(Debug, Clone)]
pub struct Densely<E>(E);

impl<E: Expr> Lazy<E> {
    /// The same elements, with sparse operands read one by one like any others.
    ///
    /// Without it, a fold, scan, search or any other operation that would read more than 2^33 elements of a sparse
    /// operand one by one, and whose result does not keep them, is refused with [`Error::WouldDensify`]: where an
    /// element without an entry decides the result, [`zip_stored`](super::zip_stored) costs the entries alone. This
    /// asks for all elements nevertheless.
    ///
    /// ```
    /// use lensor::prelude::*;
    /// use lensor::storage::Duplicates;
    /// let t = Tensor::from_coordinates([2, 2], 1, &[[0, 1]], vec![5], Duplicates::Refuse)?;
    /// let sums = (&t + Tensor::full([2, 2], 10)?).densely().sum(1);
    /// assert_eq!(sums.eval()?.to_vec()?, [26_i64, 22]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn densely(self) -> Lazy<Densely<E>> {
        Lazy(Densely(self.0))
    }
}

impl<E: Expr> Sealed for Densely<E> {}

impl<E: Expr> Expr for Densely<E> {
    forward_expr!(Densely);

    fn leaves<'a>(&'a self, visit: &mut dyn FnMut(Leaf<'a>)) {
        self.0.leaves(&mut |leaf| {
            let access = match leaf.access {
                Access::Stored { .. } | Access::Read { .. } => Access::Read { below: None },
                other => other,
            };
            visit(Leaf { access, ..leaf });
        });
    }
}
