//! Random calls of random signatures, and what they mean: nested loops over copies, with index arithmetic of their own.

use super::grammar::{Dim, Grammar, Kind};
use crate::model::{Model, all_indexes};
use crate::support::Random;

/// Where the axes of one argument are.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    pub(super) shape: Vec<usize>,
    /// Which axes are core axes, in the order of the signature without what is missing.
    pub(super) core_axes: Vec<usize>,
    /// The core as the function sees it.
    pub(super) seen: Vec<usize>,
    /// Which axes of it are missing.
    pub(super) lacks: Vec<bool>,
}

/// A call: a signature, the axes that are given, and shapes.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) grammar: Grammar,
    pub(super) axes: Option<Vec<Vec<isize>>>,
    pub(super) axis: Option<isize>,
    pub(super) keepdims: bool,
    pub(super) loops: Vec<usize>,
    pub(super) inputs: Vec<Argument>,
    pub(super) outputs: Vec<Argument>,
    /// What `dimensions` holds behind the number of calls.
    pub(super) dimensions: Vec<usize>,
}

/// Some distinct numbers below a limit.
fn distinct(count: usize, limit: usize, random: &mut Random) -> Vec<usize> {
    let mut all: Vec<usize> = (0..limit).collect();
    random.shuffle(&mut all);
    all.truncate(count);
    all
}

/// Axes as they may be written: from the start, or from the end.
fn written(axes: &[usize], rank: usize, random: &mut Random) -> Vec<isize> {
    let one = |axis: usize, back| axis as isize - if back { rank as isize } else { 0 };
    axes.iter().map(|axis| one(*axis, random.below(2) == 0)).collect()
}

impl Argument {
    /// The axes that are not core axes.
    pub(super) fn loop_axes(&self) -> Vec<usize> {
        (0..self.shape.len()).filter(|axis| !self.core_axes.contains(axis)).collect()
    }

    /// The index of an element: of a call, and within the core as the function sees it.
    pub(super) fn index(&self, call: &[usize], within: &[usize]) -> Vec<usize> {
        let loop_axes = self.loop_axes();
        let mut index = vec![0; self.shape.len()];
        // Loop axes are aligned at their end; an extent of 1 stretches, here and in a core.
        let call = &call[call.len() - loop_axes.len()..];
        let present = within.iter().zip(&self.lacks).filter(|(_, lacks)| !**lacks);
        let digits = loop_axes
            .iter()
            .zip(call)
            .chain(self.core_axes.iter().zip(present.map(|(digit, _)| digit)));
        for (axis, digit) in digits {
            index[*axis] = if self.shape[*axis] == 1 { 0 } else { *digit };
        }
        index
    }
}

impl Plan {
    /// A call with so many inputs and outputs, or none if the outputs would have no extent.
    pub(super) fn random(inputs: usize, outputs: usize, random: &mut Random) -> Option<Self> {
        let grammar = Grammar::random(inputs, outputs, true, random);
        let is_optional =
            |dim: &Dim| matches!(dim, Dim::Name(name) if grammar.names[*name].1 == Kind::Optional);
        // Operands in order; where one lacks axes, its optional names go from left to right, everywhere.
        let mut dropped: Vec<usize> = Vec::new();
        let mut ranks = Vec::new();
        for dims in &grammar.inputs {
            let least = dims.iter().filter(|dim| !is_optional(dim)).count();
            let rank = match random.below(3) {
                0 => least + random.below(dims.len() - least + 1),
                _ => dims.len() + random.below(3),
            };
            let mut left = dims.iter().filter(|dim| is_optional(dim));
            let has = |dropped: &[usize]| {
                dims.iter()
                    .filter(|dim| !dropped.iter().any(|own| **dim == Dim::Name(*own)))
                    .count()
            };
            while has(&dropped) > rank {
                let Some(Dim::Name(name)) = left.next() else { panic!("{dims:?} {rank}") };
                dropped.push(*name);
            }
            ranks.push(rank);
        }
        let lacks = |dims: &[Dim]| -> Vec<bool> {
            dims.iter().map(|dim| dropped.iter().any(|own| *dim == Dim::Name(*own))).collect()
        };
        let own = |dims: &[Dim]| lacks(dims).iter().filter(|lacks| !**lacks).count();
        let loop_ranks: Vec<usize> =
            grammar.inputs.iter().zip(&ranks).map(|(dims, rank)| rank - own(dims)).collect();
        let loop_rank = loop_ranks.iter().copied().max().unwrap_or(0);

        let few = |random: &mut Random| [0, 1, 2, 3, 2, 3, 1, 2, 3, 4][random.below(10)];
        let wanted: Vec<usize> = (0..loop_rank).map(|_| few(random)).collect();
        let names: Vec<usize> = grammar.names.iter().map(|_| few(random)).collect();
        let mut loops = vec![1; loop_rank];
        let mut extents: Vec<Option<usize>> = vec![None; names.len()];
        dropped.iter().for_each(|name| extents[*name] = Some(1));
        let mut arguments: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for (dims, own_rank) in grammar.inputs.iter().zip(&loop_ranks) {
            let mut own_loops = wanted[loop_rank - own_rank..].to_vec();
            for (extent, joint) in own_loops.iter_mut().zip(&mut loops[loop_rank - own_rank..]) {
                if random.below(4) == 0 {
                    *extent = 1;
                }
                if *extent != 1 {
                    *joint = *extent;
                }
            }
            let mut core = Vec::new();
            for dim in dims {
                core.push(match dim {
                    Dim::Fixed(extent) => *extent,
                    Dim::Name(name) if dropped.contains(name) => continue,
                    Dim::Name(name) => {
                        let stretches = grammar.names[*name].1 == Kind::Stretching;
                        let one = stretches && random.below(2) == 0;
                        let extent = if one { 1 } else { names[*name] };
                        if extents[*name].is_none_or(|so_far| so_far == 1) {
                            extents[*name] = Some(extent);
                        }
                        extent
                    }
                    Dim::Sum(_) => panic!("a sum in an input"),
                });
            }
            arguments.push((own_loops, core));
        }
        let sees = |dim: &Dim| match dim {
            Dim::Fixed(extent) => Some(*extent),
            Dim::Name(name) => extents[*name],
            Dim::Sum(sum) => usize::try_from(sum.value(&extents)?).ok(),
        };
        let seen = |dims: &[Dim]| dims.iter().map(sees).collect::<Option<Vec<usize>>>();

        // Which axes are core axes.
        let output_ranks: Vec<usize> =
            grammar.outputs.iter().map(|dims| loop_rank + own(dims)).collect();
        let input_ranks: Vec<usize> = grammar.inputs.iter().map(Vec::len).collect();
        let scalars = grammar.outputs.iter().all(Vec::is_empty);
        let alike = input_ranks.windows(2).all(|pair| pair[0] == pair[1]) && !ranks.is_empty();
        let single = grammar.single(&input_ranks);
        let (mut axes, mut axis, mut keepdims) = (None, None, false);
        let mut places: Vec<Vec<usize>> = Vec::new();
        let last = |rank: usize, count: usize| (rank - count..rank).collect::<Vec<usize>>();
        for (dims, rank) in grammar.inputs.iter().zip(&ranks) {
            places.push(last(*rank, own(dims)));
        }
        for (dims, rank) in grammar.outputs.iter().zip(&output_ranks) {
            places.push(last(*rank, own(dims)));
        }
        let least = ranks.iter().copied().min().unwrap_or(0);
        match random.below(6) {
            0 if dropped.is_empty() && alike && scalars => {
                // The same axes from the start, or from the end.
                let count = input_ranks[0];
                let (own, back) = (distinct(count, least, random), random.below(2) == 0);
                let place = |rank: usize| -> Vec<usize> {
                    own.iter().map(|axis| if back { rank - least + axis } else { *axis }).collect()
                };
                let joint_rank = loop_rank + count;
                places = ranks.iter().map(|rank| place(*rank)).collect();
                places.extend(output_ranks.iter().map(|_| place(joint_rank)));
                let lists = places.iter().zip(&ranks).map(|(place, rank)| match back {
                    // From the end it does not matter how they are written.
                    true if ranks.iter().all(|own| own == rank) => written(place, *rank, random),
                    true => place.iter().map(|axis| *axis as isize - *rank as isize).collect(),
                    false => place.iter().map(|axis| *axis as isize).collect(),
                });
                axes = Some(lists.collect());
                keepdims = true;
            }
            1 if dropped.is_empty() && alike && scalars => {
                let count = input_ranks[0];
                places.truncate(ranks.len());
                places.extend(output_ranks.iter().map(|rank| last(rank + count, count)));
                keepdims = true;
            }
            2 | 3 if dropped.is_empty() && single => {
                let back = random.below(2) == 0;
                let own = random.below(least);
                let place = |rank: usize| if back { rank - least + own } else { own };
                axis = Some(own as isize - if back { least as isize } else { 0 });
                keepdims = scalars && random.below(2) == 0;
                places = ranks.iter().map(|rank| vec![place(*rank)]).collect();
                for (dims, rank) in grammar.outputs.iter().zip(&output_ranks) {
                    places.push(match (dims.is_empty(), keepdims) {
                        (true, false) => Vec::new(),
                        (true, true) => vec![place(rank + 1)],
                        (false, _) => vec![place(*rank)],
                    });
                }
            }
            0..=4 if dropped.is_empty() => {
                let all = ranks.iter().chain(&output_ranks);
                for (place, rank) in places.iter_mut().zip(all.clone()) {
                    *place = distinct(place.len(), *rank, random);
                }
                let short = random.below(2) == 0;
                let mut lists = Vec::new();
                for (k, (place, rank)) in places.iter().zip(all).enumerate() {
                    if k < ranks.len() || !place.is_empty() || !short {
                        lists.push(written(place, *rank, random));
                    }
                }
                axes = Some(lists);
            }
            _ => {}
        }

        let mut inputs = Vec::new();
        for (k, (dims, (own_loops, core))) in grammar.inputs.iter().zip(&arguments).enumerate() {
            let mut argument = Argument {
                shape: vec![0; ranks[k]],
                core_axes: places[k].clone(),
                seen: seen(dims)?,
                lacks: lacks(dims),
            };
            let order = [argument.loop_axes(), argument.core_axes.clone()].concat();
            order
                .iter()
                .zip(own_loops.iter().chain(core))
                .for_each(|(axis, extent)| argument.shape[*axis] = *extent);
            inputs.push(argument);
        }
        let mut outputs = Vec::new();
        for (k, dims) in grammar.outputs.iter().enumerate() {
            let (seen, core_axes) = (seen(dims)?, places[ranks.len() + k].clone());
            let mut lacks = lacks(dims);
            let mut shape = vec![1; loop_rank + core_axes.len()];
            let present = seen.iter().zip(&lacks).filter(|(_, lacks)| !**lacks);
            core_axes.iter().zip(present).for_each(|(axis, (extent, _))| shape[*axis] = *extent);
            if keepdims {
                lacks.clear();
            }
            let mut argument = Argument { shape, core_axes, seen, lacks };
            let loop_axes = argument.loop_axes();
            loop_axes.iter().zip(&loops).for_each(|(axis, extent)| argument.shape[*axis] = *extent);
            outputs.push(argument);
        }
        if outputs.iter().any(|argument| argument.shape.iter().product::<usize>() > 20_000) {
            return None;
        }
        let dimensions = grammar.first_uses().iter().map(|dim| sees(dim).unwrap()).collect();
        Some(Self { grammar, axes, axis, keepdims, loops, inputs, outputs, dimensions })
    }

    /// What the function `mix` sums up of call `call`: each element times numbers of input and place.
    pub(super) fn mixed(&self, operands: &[Model<i64>], call: &[usize]) -> i64 {
        let mut sum = 0_i64;
        for (i, (input, operand)) in self.inputs.iter().zip(operands).enumerate() {
            for (q, within) in all_indexes(&input.seen).iter().enumerate() {
                let x = *operand.get(&input.index(call, within));
                sum = sum.wrapping_add(x.wrapping_mul((i as i64 + 1) * (q as i64 + 1)));
            }
        }
        sum
    }

    /// The results of `mix` where `made` says so, what is there before elsewhere.
    pub(super) fn results(
        &self,
        operands: &[Model<i64>],
        made: impl Fn(&[usize]) -> bool,
        before: &[Model<i64>],
    ) -> Vec<Model<i64>> {
        let mut results = before.to_vec();
        for call in all_indexes(&self.loops).iter().filter(|call| made(call)) {
            let sum = self.mixed(operands, call);
            for (o, (output, result)) in self.outputs.iter().zip(&mut results).enumerate() {
                for (p, within) in all_indexes(&output.seen).iter().enumerate() {
                    *result.get_mut(&output.index(call, within)) =
                        (1000 * (o as i64 + 1) + p as i64).wrapping_add(sum);
                }
            }
        }
        results
    }
}
