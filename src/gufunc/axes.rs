//! Which axes of the arguments of a call are core axes.

use super::extent::{Extent, Kind};
use super::signature::Signature;
use crate::error::{CoreAxesFlaw, Error, Result};
use crate::ops::cores::{Arrangement, SmallSet};
use crate::shape::{Shape, collect_inline};
use smallvec::SmallVec;

/// Axes of an argument, in some order.
pub(super) type Axes = SmallVec<[usize; 4]>;

/// How the axes of each input of a call go.
pub(super) type InputArrangements = SmallVec<[Arrangement; 3]>;
/// How the axes of each output of a call go.
pub(super) type OutputArrangements = SmallVec<[Arrangement; 2]>;

/// The core axes that a call gives, a list for each argument.
type Lists = SmallVec<[SmallVec<[isize; 4]>; 4]>;

/// What a call says of its axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Options {
    /// For every input, then for outputs.
    pub(super) axes: Option<Vec<Vec<isize>>>,
    pub(super) axis: Option<isize>,
    pub(super) keepdims: bool,
    /// Whether a sum of names one of which is 0 is 0, which is the function's to say.
    pub(super) empty: bool,
}

/// Which names are missing: optional ones of operands that lack axes.
///
/// Names of inputs come before all others, and are at most 128.
pub(super) fn missing(signature: &Signature, shapes: &[Shape]) -> Result<SmallSet> {
    let (names, mut missing) = (signature.names(), SmallSet::default());
    for (k, (axes, shape)) in signature.input_axes().iter().zip(shapes).enumerate() {
        loop {
            let there = || axes.iter().filter(|name| !missing.contains(**name));
            if axes.len() <= shape.rank() || there().count() <= shape.rank() {
                break;
            }
            match there().find(|name| names[**name].kind == Kind::Optional) {
                Some(&name) => missing.insert(name),
                None => {
                    let optional = |name: &&usize| names[**name].kind != Kind::Optional;
                    return Err(Error::CoreRank {
                        argument: k + 1,
                        signature: signature.to_string(),
                        shape: shape.to_vec(),
                        needs: axes.iter().filter(optional).count(),
                    });
                }
            }
        }
    }
    Ok(missing)
}

/// Where the axes of all arguments go.
pub(super) fn arguments(
    signature: &Signature,
    shapes: &[Shape],
    options: &Options,
    missing: SmallSet,
    (inputs, outputs): (&mut InputArrangements, &mut OutputArrangements),
) -> Result<()> {
    let refused = |flaw| Error::CoreAxes { signature: signature.to_string(), flaw };
    let lists = lists(signature, options).map_err(refused)?;
    if (lists.is_some() || options.keepdims) && !missing.is_empty() {
        return Err(refused(CoreAxesFlaw::Missing));
    }
    // Where the axes of an argument with so many core axes go.
    let place =
        |argument: usize, rank: usize, core: usize, lacks: SmallSet| -> Result<Arrangement> {
            let own = core - lacks.len();
            let given = lists.as_ref().and_then(|lists| lists.get(argument));
            let (order, own) = match given.filter(|given| !given.is_empty() || own == 0) {
                None => (collect_inline(rank, 0, |axis| axis), own),
                Some(given) => {
                    let core =
                        resolved(given, rank).map_err(|flaw| refused(flaw.of(argument + 1)))?;
                    let loops = (0..rank).filter(|axis| !core.contains(axis));
                    (loops.chain(core.iter().copied()).collect(), core.len())
                }
            };
            Ok(Arrangement { order, loops: rank - own, core: SmallVec::new(), lacks })
        };
    for (k, (axes, shape)) in signature.input_axes().iter().zip(shapes).enumerate() {
        let lacks = lacking(axes.iter().map(|name| missing.contains(*name)));
        inputs.push(place(k, shape.rank(), axes.len(), lacks)?);
    }
    let loops = inputs.iter().map(|argument| argument.loops).max().unwrap_or(0);
    for (k, extents) in signature.output_axes().iter().enumerate() {
        let lacks = lacking(extents.iter().map(|extent| extent.is_missing(missing)));
        let rank = loops + extents.len() - lacks.len();
        outputs.push(match options.keepdims {
            true => kept(signature, shapes, inputs, lists.as_deref(), loops).map_err(refused)?,
            false => place(signature.inputs() + k, rank, extents.len(), lacks)?,
        });
    }
    Ok(())
}

/// Which core axes are not there.
fn lacking(missing: impl Iterator<Item = bool>) -> SmallSet {
    let mut lacks = SmallSet::default();
    missing.enumerate().filter(|(_, missing)| *missing).for_each(|(axis, _)| lacks.insert(axis));
    lacks
}

/// The axes that were given, a list for each argument, as far as any were.
fn lists(signature: &Signature, options: &Options) -> Result<Option<Lists>, CoreAxesFlaw> {
    let (inputs, outputs) = (signature.input_axes(), signature.output_axes());
    let ranks = || inputs.iter().map(Vec::len).chain(outputs.iter().map(Vec::len));
    if let Some(axis) = options.axis {
        let once = inputs.iter().all(|axes| axes.len() == 1)
            && outputs.iter().all(|axes| matches!(axes.as_slice(), [] | [Extent::Of(_)]));
        let names = signature.names().len();
        if names != 1 || !once {
            return Err(CoreAxesFlaw::Names { names });
        }
        if options.axes.is_some() {
            return Err(CoreAxesFlaw::Both);
        }
        return Ok(Some(ranks().map(|rank| SmallVec::from_elem(axis, rank)).collect()));
    }
    let Some(given) = &options.axes else { return Ok(None) };
    let scalar = |k: usize| outputs.get(k).is_none_or(Vec::is_empty);
    let (mut lists, mut rest) = (Lists::new(), given.iter().peekable());
    let short = given.len() < inputs.len() + outputs.len();
    for (k, rank) in ranks().enumerate() {
        // A list without axes is that of a scalar output, as no other one has such.
        let is_here = rest.peek().is_some_and(|list| list.is_empty());
        let left_out = k >= inputs.len() && scalar(k - inputs.len()) && short && !is_here;
        let list = if left_out { None } else { rest.next() };
        match list {
            None if k >= inputs.len() && (left_out || options.keepdims) => {
                lists.push(SmallVec::new());
            }
            Some(list) if list.len() == rank => lists.push(list.iter().copied().collect()),
            Some(list) => {
                let (argument, found) = (k + 1, list.len());
                return Err(CoreAxesFlaw::Count { argument, expected: rank, found });
            }
            None => {
                let (expected, found) = (ranks().count(), given.len());
                return Err(CoreAxesFlaw::Lists { expected, found });
            }
        }
    }
    match rest.next() {
        None => Ok(Some(lists)),
        Some(_) => Err(CoreAxesFlaw::Lists { expected: ranks().count(), found: given.len() }),
    }
}

/// Axes of an argument as they count from 0.
fn resolved(given: &[isize], rank: usize) -> Result<Axes, CoreAxesFlaw> {
    let mut axes = Axes::new();
    for &axis in given {
        let from_start = if axis < 0 { axis.checked_add(rank as isize) } else { Some(axis) };
        let own = from_start.and_then(|axis| usize::try_from(axis).ok());
        let Some(own) = own.filter(|own| *own < rank) else {
            return Err(CoreAxesFlaw::Range { argument: 0, axis, rank });
        };
        if axes.contains(&own) {
            return Err(CoreAxesFlaw::Repeated { argument: 0, axis });
        }
        axes.push(own);
    }
    Ok(axes)
}

/// An output whose core axes are those of the inputs, with extent 1.
fn kept(
    signature: &Signature,
    shapes: &[Shape],
    inputs: &[Arrangement],
    lists: Option<&[SmallVec<[isize; 4]>]>,
    loops: usize,
) -> Result<Arrangement, CoreAxesFlaw> {
    let count = signature.input_axes().first().map_or(0, Vec::len);
    let same = signature.input_axes().iter().all(|axes| axes.len() == count);
    if !same || !signature.output_axes().iter().all(Vec::is_empty) {
        return Err(CoreAxesFlaw::KeepDims);
    }
    let last = || (-(count as isize)..0).collect::<SmallVec<[isize; 4]>>();
    let given = |k: usize| lists.and_then(|lists| lists.get(k).cloned()).unwrap_or_else(last);
    let mut raw = given(0);
    if (1..inputs.len()).any(|k| given(k) != raw) {
        // Alike if they are counted from the end.
        let from_end = |k: usize| -> SmallVec<[isize; 4]> {
            let rank = shapes[k].rank() as isize;
            inputs[k].core_axes().iter().map(|&axis| axis as isize - rank).collect()
        };
        raw = from_end(0);
        if (1..inputs.len()).any(|k| from_end(k) != raw) {
            return Err(CoreAxesFlaw::KeepDims);
        }
    }
    let rank = loops + count;
    let ones = resolved(&raw, rank).map_err(|flaw| flaw.of(signature.inputs() + 1))?;
    let order = (0..rank).filter(|axis| !ones.contains(axis)).chain(ones.iter().copied()).collect();
    Ok(Arrangement { order, loops, ..Arrangement::default() })
}
