//! From "something failed in this evaluation" to the index and the reason.

mod boxes;

use super::leaf::Stages;
use super::node::{Node, Tree, Worker};
use crate::error::{Error, Result, StorageError};
use crate::kernel::{Fault, Local, PerOperand, Place, Steps, Stop, Tile};
use crate::map::AddressMap;
use crate::shape::{Align, Index, Shape};

/// An expression at work whose errors are looked for, its element type erased.
trait Suspect {
    /// [`Worker::load_leaves`].
    fn load(&mut self, local: &mut Local<'_>) -> Result<(), Stop>;

    /// [`Worker::first_failure`].
    fn first_failure(&mut self, local: &Local<'_>) -> Result<Option<(usize, StorageError)>>;

    /// Whether an element of the tile has a fault, in the evaluation or by itself.
    fn is_faulty(&mut self, tile: &Tile<'_>) -> Result<bool, Stop>;

    /// The fault of the only element of the tile, if it has one: that of the evaluation first.
    fn fault(&mut self, tile: &Tile<'_>) -> Result<Option<Fault>, Stop>;
}

/// Finds faults of elements themselves.
type Extra<'a, T> = Option<&'a dyn Fn(T) -> Option<Fault>>;

/// A worker, and what looks for faults of the elements themselves.
struct Opened<'a, T> {
    worker: Worker<'a, T>,
    extra: Extra<'a, T>,
}

impl<T: Copy + Send + Sync> Suspect for Opened<'_, T> {
    fn load(&mut self, local: &mut Local<'_>) -> Result<(), Stop> {
        self.worker.load_leaves(local, &mut 1)
    }

    fn first_failure(&mut self, local: &Local<'_>) -> Result<Option<(usize, StorageError)>> {
        self.worker.first_failure(local)
    }

    fn is_faulty(&mut self, tile: &Tile<'_>) -> Result<bool, Stop> {
        self.worker.bind(tile, &mut 1)?;
        let (elements, fault) = self.worker.rows(0, tile.sides())?;
        let is_extra = |extra: &dyn Fn(T) -> Option<Fault>| {
            elements.iter().any(|&element| extra(element).is_some())
        };
        Ok(fault || self.extra.is_some_and(is_extra))
    }

    fn fault(&mut self, tile: &Tile<'_>) -> Result<Option<Fault>, Stop> {
        if let Some(fault) = self.worker.fault(tile, &mut 1)? {
            return Ok(Some(fault));
        }
        let Some(extra) = self.extra else { return Ok(None) };
        self.worker.bind(tile, &mut 1)?;
        let (elements, _) = self.worker.rows(0, tile.sides())?;
        Ok(elements.first().and_then(|&element| extra(element)))
    }
}

/// The error for a stopped evaluation of `e` at `shape`.
///
/// The first in row-major order, the same for every plan and thread count, is found by evaluating once more, box by box
/// and tile by tile (`locate/boxes.rs`). `extra` looks for faults of the elements themselves, and `out` is the map of the
/// destination.
#[cold]
#[inline(never)]
pub(super) fn explain_stop<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    out: &AddressMap,
    stop: Stop,
    extra: Extra<'_, T>,
) -> Error {
    if let Stop::Error(error) = stop {
        return *error;
    }
    error_of(e, &mut Opened { worker: e.open(), extra }, shape, out, stop)
}

/// As [`explain_stop`], where a fault, or an element that cannot be read, is known to be at one of `indexes`,
/// which ascend.
#[cold]
#[inline(never)]
pub(super) fn explain_at<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    indexes: &mut dyn Iterator<Item = Index>,
    out: &AddressMap,
    stop: Stop,
    extra: Extra<'_, T>,
) -> Error {
    if let Stop::Error(error) = stop {
        return *error;
    }
    error_at(e, &mut Opened { worker: e.open(), extra }, indexes, out, stop)
}

/// The error for a stopped reading of rows of `e`, of all of which `shape` is the shape.
#[inline(never)]
pub(crate) fn explain_rows<T: Copy + Send + Sync>(
    e: &dyn Node<T>,
    shape: &Shape,
    stop: Stop,
) -> Error {
    match AddressMap::row_major(shape) {
        Ok(map) => explain_stop(e, shape, &map, stop, None),
        Err(error) => error,
    }
}

/// What is wrong with an element.
enum Wrong {
    Fault(Fault),
    Storage(StorageError),
}

impl Wrong {
    /// The error of the element at an index.
    fn at(self, index: Vec<usize>) -> Error {
        match self {
            Self::Fault(Fault::Division) => Error::Arithmetic { index },
            Self::Fault(Fault::Cast { value, target }) => Error::Cast { index, value, target },
            Self::Fault(Fault::Overflow { target }) => Error::ElementOverflow { index, target },
            Self::Storage(source) => Error::Storage { index: Some(index), source: source.below() },
        }
    }
}

/// [`explain_stop`], compiled once.
fn error_of(
    e: &dyn Tree,
    suspect: &mut dyn Suspect,
    shape: &Shape,
    out: &AddressMap,
    stop: Stop,
) -> Error {
    match (shape.indexes(), &stop) {
        (Ok(_), Stop::Storage { leaf: 1.., .. } | Stop::Fault | Stop::Done) => {
            match boxes::first(e, suspect, shape) {
                Ok(Some(error)) => error,
                Ok(None) => error_at(e, suspect, &mut std::iter::empty(), out, stop),
                Err(error) => error,
            }
        }
        (Ok(mut indexes), _) => error_at(e, suspect, &mut indexes, out, stop),
        (Err(error), _) => error,
    }
}

/// [`explain_at`], compiled once.
fn error_at(
    e: &dyn Tree,
    suspect: &mut dyn Suspect,
    indexes: &mut dyn Iterator<Item = Index>,
    out: &AddressMap,
    stop: Stop,
) -> Error {
    match stop {
        Stop::Error(error) => *error,
        Stop::Storage { leaf, source } => {
            if leaf > 0
                && let Ok(Some((index, wrong))) = find(e, suspect, indexes)
            {
                return wrong.at(index);
            }
            // An operand that is stretched has its elements first at 0 along the axes that it lacks.
            let (mut maps, shape) = (PerOperand::new(), out.shape());
            maps.push(out.clone());
            e.leaves(&mut |leaf| {
                let stretched = leaf.map.clone().stretched(&shape, Align::Right);
                maps.push(stretched.unwrap_or_else(|_| leaf.map.clone()));
            });
            let global = maps.get(leaf).and_then(|map| map.to_global(source.address).next());
            Error::Storage { index: global.map(|index| index.to_vec()), source: source.below() }
        }
        Stop::Fault | Stop::Done => match find(e, suspect, indexes) {
            Ok(Some((index, wrong))) => wrong.at(index),
            Ok(None) => StorageError::new(0, "an element changed between two reads").into(),
            Err(Stop::Fault | Stop::Done) => Error::Arithmetic { index: Vec::new() },
            Err(stop) => error_at(e, suspect, &mut std::iter::empty(), out, stop),
        },
    }
}

/// The first index whose element is not had, and why.
type Found = Option<(Vec<usize>, Wrong)>;

fn find(
    e: &dyn Tree,
    suspect: &mut dyn Suspect,
    indexes: &mut dyn Iterator<Item = Index>,
) -> Result<Found, Stop> {
    let mut maps: PerOperand<&AddressMap> = PerOperand::new();
    e.leaves(&mut |leaf| maps.push(leaf.map));
    let stages: PerOperand<Stages<'_>> = maps.iter().map(|map| Stages(map.rest())).collect();
    let still = Steps { stride: 0, table: None };
    for index in indexes {
        let mut places: PerOperand<Place<'_>> = PerOperand::new();
        places.push(Place { base: 0, rows: still, columns: still, relocate: None });
        for (map, stages) in maps.iter().zip(&stages) {
            let base = map.top().to_local(own_index(map, &index))? as isize;
            let relocate = (!stages.0.is_empty()).then_some(stages as &dyn crate::kernel::Relocate);
            places.push(Place { base, rows: still, columns: still, relocate });
        }
        let tile = Tile { rows: 1, columns: 1, dense: false, places: &places };
        let wrong = match suspect.fault(&tile) {
            Ok(fault) => fault.map(Wrong::Fault),
            Err(Stop::Storage { leaf: 1.., source }) => Some(Wrong::Storage(source)),
            Err(stop) => return Err(stop),
        };
        if let Some(wrong) = wrong {
            return Ok(Some((index.to_vec(), wrong)));
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
