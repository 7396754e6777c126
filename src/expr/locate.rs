//! From "something failed in this evaluation" to the index and the reason.

mod boxes;

use super::leaf::Stages;
use super::node::Node;
use crate::error::{Error, Result, StorageError};
use crate::kernel::{Fault, PerOperand, Place, Steps, Stop, Tile};
use crate::map::AddressMap;
use crate::shape::{Index, Shape};

/// The error for a stopped evaluation of `e` at `shape`.
///
/// A fault is found by evaluating element by element in row-major order: slow, but the first one is
/// the same for every plan and thread count. Where storage is not memory, it is found by boxes, each of which is read
/// once more (`locate/boxes.rs`). `extra` looks for faults of the elements themselves, and `out` is the map of the
/// destination.
#[cold]
pub(super) fn explain_stop<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    out: &AddressMap,
    stop: Stop,
    extra: &dyn Fn(T) -> Option<Fault>,
) -> Error {
    let is_far = boxes::is_far(e);
    match (shape.indexes(), &stop) {
        (Ok(_), Stop::Storage { leaf: 1.., .. } | Stop::Fault | Stop::Done) if is_far => {
            match boxes::first(e, shape, extra) {
                Ok(Some(error)) => error,
                Ok(None) => explain_at(e, &mut std::iter::empty(), out, stop, extra),
                Err(error) => error,
            }
        }
        (Ok(mut indexes), _) => explain_at(e, &mut indexes, out, stop, extra),
        (Err(error), _) => error,
    }
}

/// The error of an element.
fn of_fault(index: Vec<usize>, fault: Fault) -> Error {
    match fault {
        Fault::Division => Error::Arithmetic { index },
        Fault::Cast { value, target } => Error::Cast { index, value, target },
    }
}

/// The error for a stopped reading of rows of `e`, of all of which `shape` is the shape.
pub(crate) fn explain_rows<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    stop: Stop,
) -> Error {
    match AddressMap::row_major(shape) {
        Ok(map) => explain_stop(e, shape, &map, stop, &|_| None),
        Err(error) => error,
    }
}

/// As [`explain_stop`], where a fault is known to be at one of `indexes`, which ascend.
#[cold]
pub(super) fn explain_at<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    indexes: &mut dyn Iterator<Item = Index>,
    out: &AddressMap,
    stop: Stop,
    extra: &dyn Fn(T) -> Option<Fault>,
) -> Error {
    match stop {
        Stop::Error(error) => error,
        Stop::Storage { leaf, source } => {
            let mut maps: PerOperand<&AddressMap> = PerOperand::new();
            maps.push(out);
            e.leaves(&mut |leaf| maps.push(leaf.map));
            let global = maps.get(leaf).and_then(|map| map.to_global(source.address).next());
            Error::Storage { index: global.map(|index| index.to_vec()), source }
        }
        Stop::Fault | Stop::Done => match find(e, indexes, extra) {
            Ok(Some((index, fault))) => of_fault(index, fault),
            Ok(None) => StorageError::new(0, "an element changed between two reads").into(),
            Err(Stop::Fault | Stop::Done) => Error::Arithmetic { index: Vec::new() },
            Err(stop) => explain_at(e, &mut std::iter::empty(), out, stop, extra),
        },
    }
}

type Found = Option<(Vec<usize>, Fault)>;

fn find<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    indexes: &mut dyn Iterator<Item = Index>,
    extra: &dyn Fn(T) -> Option<Fault>,
) -> Result<Found, Stop> {
    let mut maps: PerOperand<&AddressMap> = PerOperand::new();
    e.leaves(&mut |leaf| maps.push(leaf.map));
    let stages: PerOperand<Stages<'_>> = maps.iter().map(|map| Stages(map.rest())).collect();
    let still = Steps { stride: 0, table: None };
    let mut worker = e.open();
    for index in indexes {
        let mut places: PerOperand<Place<'_>> = PerOperand::new();
        places.push(Place { base: 0, rows: still, columns: still, relocate: None });
        for (map, stages) in maps.iter().zip(&stages) {
            let base = map.top().to_local(&own_index(map, &index))? as isize;
            let relocate = (!stages.0.is_empty()).then_some(stages as &dyn crate::kernel::Relocate);
            places.push(Place { base, rows: still, columns: still, relocate });
        }
        let tile = Tile { rows: 1, columns: 1, dense: false, places: &places };
        if let Some(fault) = worker.fault(&tile, &mut 1)? {
            return Ok(Some((index.to_vec(), fault)));
        }
        worker.bind(&tile, &mut 1)?;
        let (elements, _) = worker.rows(0, tile.sides())?;
        if let Some(fault) = elements.first().and_then(|&element| extra(element)) {
            return Ok(Some((index.to_vec(), fault)));
        }
    }
    Ok(None)
}

/// Index of a leaf for an index of the joint shape: right-aligned, 0 where the leaf was stretched.
fn own_index(map: &AddressMap, index: &[usize]) -> Index {
    let shape = map.shape();
    let missing = index.len() - shape.rank();
    shape
        .iter()
        .zip(&index[missing..])
        .map(|(&extent, &digit)| if extent == 1 { 0 } else { digit })
        .collect()
}
