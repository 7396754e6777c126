//! Dense results of sparse expressions: filled, then written where there are entries.

use super::{evaluate, stored_count};
use crate::error::{Error, Result};
use crate::expr::{Access, Expr, Scalar, eval};
use crate::map::AddressMap;
use crate::shape::Shape;
use crate::storage::{Reader, Sparse, Writer, reserve};
use crate::tensor::Tensor;

/// Elements an entry from which on it pays to collect entries instead of reading tiles.
const ELEMENTS_PER_ENTRY: usize = 8;
/// Bytes that are filled before the entries among them are written, while they are in cache.
const CHUNK_BYTES: usize = 1 << 17;

/// All elements of an expression of sparse leaves, if that is quicker by its entries.
pub(in crate::expr) fn eval_sparsely<E: Expr>(
    e: &E,
    shape: &Shape,
    map: &AddressMap,
) -> Option<Result<Vec<E::Elem>>> {
    let len = map.count();
    worthwhile(e, len).then(|| {
        let mut data = Vec::new();
        reserve(&mut data, len)?;
        let storage = evaluate(e, shape, len)?;
        for_each_chunk(&storage, |start, end, entries| {
            data.resize(end, storage.fill());
            write(&mut data[start..], start, entries);
        });
        Ok(data)
    })
}

/// All elements of an expression of sparse leaves into storage that is not sparse, if that is quicker by
/// its entries.
pub(in crate::expr) fn assign_sparsely<E: Expr, W: Writer<Elem = E::Elem>>(
    e: &E,
    shape: &Shape,
    out: &mut Tensor<W>,
) -> Option<Result<()>> {
    let len = out.len();
    worthwhile(e, len).then(|| {
        let storage = evaluate(e, shape, len)?;
        let (map, writer) = out.parts_mut();
        let offset = map.top().offset();
        let whole = writer.as_mut_slice().filter(|_| map.is_contiguous());
        if let Some(slice) = whole.and_then(|slice| slice.get_mut(offset..)?.get_mut(..len)) {
            for_each_chunk(&storage, |start, end, entries| {
                slice[start..end].fill(storage.fill());
                write(&mut slice[start..end], start, entries);
            });
            return Ok(());
        }
        let mut addresses = Vec::new();
        reserve(&mut addresses, storage.stored_len())?;
        map.addresses_at(storage.addresses(), &mut addresses);
        eval::assign_blocks(&Scalar(storage.fill()), shape, out)?;
        let (map, writer) = out.parts_mut();
        let Some(slice) = writer.as_mut_slice() else {
            let written = writer.write_at(&addresses, storage.values());
            return written.map_err(|source| {
                let index = map.to_global(source.address).next().map(|index| index.to_vec());
                Error::Storage { index, source }
            });
        };
        let len = slice.len();
        for (&address, &value) in addresses.iter().zip(storage.values()) {
            let beyond = Error::OutOfSpan { span: address..address + 1, len };
            *slice.get_mut(address).ok_or(beyond)? = value;
        }
        Ok(())
    })
}

/// Whether there are sparse leaves and no others, and their views have few entries.
fn worthwhile<E: Expr>(e: &E, len: usize) -> bool {
    if len == 0 || !stored_count(e).1 {
        return false;
    }
    let (mut leaves, mut entries) = (0, 0_usize);
    e.leaves(&mut |leaf| {
        let Access::Stored { count } = leaf.access else { return };
        let repeats = (len / leaf.map.span().len().max(1)).max(1);
        entries = entries.saturating_add(count.saturating_mul(repeats));
        leaves += 1;
    });
    leaves > 0 && entries.saturating_mul(ELEMENTS_PER_ENTRY) <= len
}

/// Calls `visit` with the bounds of every chunk of elements, in order, and the entries in it.
fn for_each_chunk<T: Copy + Send + Sync>(
    storage: &Sparse<T>,
    mut visit: impl FnMut(usize, usize, (&[usize], &[T])),
) {
    let len = storage.len();
    let chunk = (CHUNK_BYTES / size_of::<T>().max(1)).max(1);
    let (mut addresses, mut values) = (storage.addresses(), storage.values());
    for start in (0..len).step_by(chunk) {
        let end = start.saturating_add(chunk).min(len);
        let count = addresses.partition_point(|&address| address < end);
        visit(start, end, (&addresses[..count], &values[..count]));
        (addresses, values) = (&addresses[count..], &values[count..]);
    }
}

/// Writes entries into elements of which the first has address `start`.
fn write<T: Copy>(elements: &mut [T], start: usize, (addresses, values): (&[usize], &[T])) {
    for (&address, &value) in addresses.iter().zip(values) {
        if let Some(element) = elements.get_mut(address.wrapping_sub(start)) {
            *element = value;
        }
    }
}
