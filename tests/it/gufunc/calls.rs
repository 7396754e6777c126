//! Random calls against the model: every storage, every way to take results, both kinds of function.

use super::model::Plan;
use super::operands::{Hole, Source, mask};
use crate::model::{Model, all_indexes};
use crate::support::Random;
use crate::views::Slots;
use lensor::Result;
use lensor::error::Cause;
use lensor::gufunc::{Args, Call, Core, CoreMut, Elementary, ElementaryError, Gufunc};
use lensor::gufunc::{Held, Several};
use lensor::prelude::*;
use quickcheck::quickcheck;
use std::sync::Arc;

type Ints<const N: usize> = [i64; N];
type Operands<'a, const N: usize> = Several<BoxExpr<'a, i64>, N>;

/// What the function knows of its cores, and when it fails.
#[derive(Debug, Clone)]
struct Known {
    inputs: Vec<Vec<usize>>,
    outputs: Vec<Vec<usize>>,
    dimensions: Vec<usize>,
    /// Fails where the sum is a multiple of it, if that is not 0.
    modulus: i64,
}

impl Known {
    fn new(plan: &Plan, modulus: i64) -> Arc<Self> {
        Arc::new(Self {
            inputs: plan.inputs.iter().map(|argument| argument.seen.clone()).collect(),
            outputs: plan.outputs.iter().map(|argument| argument.seen.clone()).collect(),
            dimensions: plan.dimensions.clone(),
            modulus,
        })
    }

    fn fails(&self, sum: i64) -> Option<String> {
        (self.modulus != 0 && sum % self.modulus == 0).then(|| format!("sum of {sum}"))
    }

    /// The function on cores. It adds to outputs, which must be cleared.
    fn mix<const N: usize, const M: usize>(
        &self,
        inputs: [Core<'_, i64>; N],
        outputs: [CoreMut<'_, i64>; M],
    ) -> Result<(), String> {
        let mut sum = 0_i64;
        for (i, core) in inputs.iter().enumerate() {
            assert_eq!(core.shape(), self.inputs[i]);
            assert_eq!(core.len(), core.shape().iter().product::<usize>());
            for (q, x) in core.iter().enumerate() {
                sum = sum.wrapping_add(x.wrapping_mul((i as i64 + 1) * (q as i64 + 1)));
            }
        }
        if let Some(failed) = self.fails(sum) {
            return Err(failed);
        }
        for (o, mut core) in outputs.into_iter().enumerate() {
            assert_eq!(core.shape(), self.outputs[o]);
            assert!(core.iter().all(|x| *x == 0), "not cleared: {core:?}");
            for (p, x) in core.iter_mut().enumerate() {
                *x += (1000 * (o as i64 + 1) + p as i64).wrapping_add(sum);
            }
        }
        Ok(())
    }
}

/// The same as a loop in the manner of C: slices, offsets, extents and steps.
struct Strided(Arc<Known>);

impl<const N: usize, const M: usize> Elementary<Ints<N>, Ints<M>> for Strided {
    const STRIDED: bool = true;

    fn call<'c>(
        &self,
        _: [Core<'c, i64>; N],
        _: [CoreMut<'c, i64>; M],
    ) -> Result<(), ElementaryError> {
        Err("one call at a time".into())
    }

    fn run(&self, args: &mut Args<'_, Ints<N>, Ints<M>>) -> Result<(), (usize, ElementaryError)> {
        args.check().map_err(|error| (0, error.into()))?;
        let known = &self.0;
        assert_eq!(args.dimensions[1..], known.dimensions);
        assert_eq!(args.len(), args.dimensions[0]);
        let (steps, mut strides) = args.steps.split_at(N + M);
        let mut of = |core: &[usize]| {
            let (own, rest) = strides.split_at(core.len());
            strides = rest;
            all_indexes(core)
                .iter()
                .map(|index| {
                    index.iter().zip(own).map(|(digit, stride)| *digit as isize * stride).sum()
                })
                .collect::<Vec<isize>>()
        };
        let within: Vec<Vec<isize>> =
            known.inputs.iter().chain(&known.outputs).map(|core| of(core)).collect();
        assert!(strides.is_empty());
        for call in 0..args.len() {
            let at = |argument: usize, within: isize| {
                let start = args.offset(argument) as isize + steps[argument] * call as isize;
                (start + within) as usize
            };
            let mut sum = 0_i64;
            for (i, within) in within[..N].iter().enumerate() {
                for (q, offset) in within.iter().enumerate() {
                    let x = args.inputs[i][at(i, *offset)];
                    sum = sum.wrapping_add(x.wrapping_mul((i as i64 + 1) * (q as i64 + 1)));
                }
            }
            if let Some(failed) = known.fails(sum) {
                return Err((call, failed.into()));
            }
            for o in 0..M {
                for (p, offset) in within[N + o].iter().enumerate() {
                    let address = (args.offset(N + o) as isize
                        + steps[N + o] * call as isize
                        + offset) as usize;
                    args.outputs[o][address] +=
                        (1000 * (o as i64 + 1) + p as i64).wrapping_add(sum);
                }
            }
        }
        Ok(())
    }
}

/// What a call should give: results, or the error.
struct Expected {
    results: Vec<Model<i64>>,
    error: Option<Error>,
}

/// The results of a call in every way there is.
fn check<const N: usize, const M: usize, F, X, K>(
    call: &Call<Ints<N>, Ints<M>, F, X, K>,
    plan: &Plan,
    random: &mut Random,
    whole: Option<&Expected>,
    kept: impl Fn(&[Model<i64>]) -> Expected,
) where
    F: Elementary<Ints<N>, Ints<M>>,
    X: Held<Ints<N>> + Clone,
    K: Expr<Elem = bool> + Clone,
{
    let about = format!("{} {plan:?}", plan.grammar.text());
    match whole {
        Some(Expected { error: Some(error), .. }) => {
            assert_eq!(call.eval().unwrap_err(), *error, "{about}");
            let [first, ..] = &call.clone().outputs()[..] else { panic!("no output") };
            assert_eq!(first.eval().unwrap_err(), *error, "{about}");
        }
        Some(Expected { results, .. }) => {
            let shapes = call.shapes().unwrap_or_else(|error| panic!("{about}: {error}"));
            assert_eq!(shapes.loops.to_vec(), plan.loops, "{about}");
            let evaluated = call.eval().unwrap_or_else(|error| panic!("{about}: {error}"));
            let operands = call.clone().outputs();
            for (o, (expected, result)) in results.iter().zip(&evaluated).enumerate() {
                assert_eq!(shapes.outputs[o].to_vec(), expected.shape, "{about}");
                assert_eq!(result.shape().to_vec(), expected.shape, "{about}");
                assert_eq!(result.to_vec().unwrap(), expected.data, "{about}");
                let reversed = (0..result.rank()).rev().collect::<Vec<_>>();
                let turned = expected.transpose(&reversed).unwrap();
                let lazy = (&operands[o] + 1).transpose(&reversed).unwrap().eval().unwrap();
                let found: Vec<i64> = lazy.to_vec().unwrap().iter().map(|x| x - 1).collect();
                assert_eq!(found, turned.data, "{about}");
            }
        }
        None => assert_eq!(call.eval().unwrap_err(), Error::MaskedOutput, "{about}"),
    }
    // Into existing memory, and into storage that is none.
    let holes: Vec<Hole> =
        plan.outputs.iter().map(|out| Hole::random(&out.shape, random)).collect();
    let before: Vec<Vec<i64>> = holes
        .iter()
        .map(|hole| (0..hole.base.iter().product()).map(|k: usize| -1 - k as i64).collect())
        .collect();
    let addresses: Vec<Model<usize>> = holes.iter().map(Hole::addresses).collect();
    let of_base = |base: &[Vec<i64>]| -> Vec<Model<i64>> {
        let of = |(base, own): (&Vec<i64>, &Model<usize>)| {
            Model::new(&own.shape, own.data.iter().map(|address| base[*address]).collect())
        };
        base.iter().zip(&addresses).map(of).collect()
    };
    let expected = kept(&of_base(&before));
    let mut bases = before.clone();
    for ((base, own), result) in bases.iter_mut().zip(&addresses).zip(&expected.results) {
        own.data.iter().zip(&result.data).for_each(|(address, x)| base[*address] = *x);
    }
    let holes = &holes;
    let run = |found: Vec<Vec<i64>>, done: Result<()>| match &expected.error {
        Some(error) => assert_eq!(done.unwrap_err(), *error, "{about}"),
        None => {
            done.unwrap_or_else(|error| panic!("{about} {holes:?}: {error}"));
            assert_eq!(found, bases, "{about} {holes:?}");
        }
    };
    if random.below(2) == 0 {
        let mut outs: Vec<Tensor<Vec<i64>>> = (0..M)
            .map(|o| {
                holes[o].view(Tensor::from_vec(holes[o].base.clone(), before[o].clone()).unwrap())
            })
            .collect();
        let mut all = outs.iter_mut();
        let done = call
            .assign_to::<[&mut Tensor<Vec<i64>>; M]>(std::array::from_fn(|_| all.next().unwrap()));
        run(outs.iter().map(|out| out.storage().clone()).collect(), done);
    } else {
        let mut outs: Vec<Tensor<Slots<i64>>> = (0..M)
            .map(|o| {
                holes[o].view(Tensor::new(holes[o].base.clone(), Slots::new(&before[o])).unwrap())
            })
            .collect();
        let mut all = outs.iter_mut();
        let done = call.assign_to::<[&mut Tensor<Slots<i64>>; M]>(std::array::from_fn(|_| {
            all.next().unwrap()
        }));
        run(outs.iter().map(|out| out.storage().data.clone()).collect(), done);
    }
}

/// One random call.
fn random_call<const N: usize, const M: usize>(random: &mut Random) {
    let Some(plan) = Plan::random(N, M, random) else { return };
    let faulty = random.below(5) == 0;
    let faults: Vec<bool> = (0..N).map(|_| faulty && random.below(2) == 0).collect();
    let sources: Vec<Source> = (0..N)
        .map(|k| {
            let shape = &plan.inputs[k].shape;
            // What is not read has no faults.
            let read = !shape.contains(&0) && !plan.inputs[k].seen.contains(&0);
            Source::random(shape, faults[k] && read, random)
        })
        .collect();
    let modulus = if random.below(3) == 0 { 2 + random.below(9) as i64 } else { 0 };
    let known = Known::new(&plan, modulus);
    let operands: Vec<Model<i64>> = sources.iter().map(|source| source.model.clone()).collect();
    let calls = all_indexes(&plan.loops);
    let fault =
        sources.iter().find_map(|source| source.fault.clone()).filter(|_| !calls.is_empty());
    let expected = |made: &dyn Fn(&[usize]) -> bool, before: &[Model<i64>]| {
        let failed = calls.iter().filter(|call| made(call)).find_map(|call| {
            let text = known.fails(plan.mixed(&operands, call))?;
            Some(Error::Elementary { index: call.clone(), source: Cause::new(text) })
        });
        let results = plan.results(&operands, made, before);
        Expected { results, error: fault.clone().or(failed) }
    };
    let full = |values: &[i64; M]| -> Vec<Model<i64>> {
        let of = |(out, x): (&super::model::Argument, &i64)| {
            Model::new(&out.shape, vec![*x; out.shape.iter().product()])
        };
        plan.outputs.iter().zip(values).map(of).collect()
    };
    let text = plan.grammar.loose_text(random);
    let exprs: [BoxExpr<'_, i64>; N] = std::array::from_fn(|k| sources[k].expr());
    let strided = random.below(2) == 0;
    let mut mask_shape = plan.loops[random.below(plan.loops.len() + 1)..].to_vec();
    mask_shape.iter_mut().for_each(|n| *n = if random.below(4) == 0 { 1 } else { *n });
    let (mask, masked) = mask(&mask_shape, random);
    let made = |call: &[usize]| {
        let own = &call[call.len() - masked.shape.len()..];
        let index: Vec<usize> = own
            .iter()
            .zip(&masked.shape)
            .map(|(digit, n)| if *n == 1 { 0 } else { *digit })
            .collect();
        *masked.get(&index)
    };
    let all = |_: &[usize]| true;
    let how = random.below(3);
    macro_rules! with {
        ($function:expr) => {{
            let gufunc = $function.unwrap_or_else(|error| panic!("{text}: {error}"));
            let call = options(gufunc.call(exprs), &plan);
            match how {
                0 => {
                    let whole = expected(&all, &full(&[0; M]));
                    check(&call, &plan, random, Some(&whole), |before| expected(&all, before));
                }
                1 if !faulty => {
                    let call = call.filter(mask.boxed());
                    check(&call, &plan, random, None, |before| expected(&made, before));
                }
                _ if !faulty => {
                    let values: [i64; M] = std::array::from_fn(|o| o as i64 - 77);
                    let call = call.filter(mask.boxed()).or(values);
                    let whole = expected(&made, &full(&values));
                    check(&call, &plan, random, Some(&whole), |_| expected(&made, &full(&values)));
                }
                _ => {
                    let whole = expected(&all, &full(&[0; M]));
                    check(&call, &plan, random, Some(&whole), |before| expected(&all, before));
                }
            }
        }};
    }
    if strided {
        with!(Gufunc::<Ints<N>, Ints<M>, _>::of(&text, Strided(known.clone())));
    } else {
        let function = known.clone();
        with!(Gufunc::<Ints<N>, Ints<M>, _>::each(&text, move |inputs, outputs| function
            .mix(inputs, outputs)));
    }
}

fn options<'a, const N: usize, const M: usize, F: Elementary<Ints<N>, Ints<M>>>(
    mut call: Call<Ints<N>, Ints<M>, F, Operands<'a, N>>,
    plan: &Plan,
) -> Call<Ints<N>, Ints<M>, F, Operands<'a, N>> {
    if let Some(axes) = &plan.axes {
        call = call.axes(axes);
    }
    if let Some(axis) = plan.axis {
        call = call.axis(axis);
    }
    if plan.keepdims { call.keepdims() } else { call }
}

quickcheck! {
    /// One input, two outputs.
    fn calls_of_one_input_are_nested_loops(seed: u64) -> bool {
        random_call::<1, 2>(&mut Random(seed));
        true
    }

    /// Two inputs, one output.
    fn calls_of_two_inputs_are_nested_loops(seed: u64) -> bool {
        random_call::<2, 1>(&mut Random(seed));
        true
    }

    /// Three inputs, one output.
    fn calls_of_three_inputs_are_nested_loops(seed: u64) -> bool {
        random_call::<3, 1>(&mut Random(seed));
        true
    }
}

/// Others that are stretched and do not lie in memory are evaluated before all calls.
#[test]
fn cores_are_updated_by_any_operand() {
    let scale = Gufunc::<[i64; 2], [i64; 1], _>::each("(n),(m)->(n)", |[x, by], [mut out]| {
        out.iter_mut().zip(x.iter()).for_each(|(slot, x)| *slot = x * by[0] + by[by.len() - 1]);
    })
    .unwrap();
    let row = Tensor::from(vec![2_i64, 5]);
    for calls in [3, 5000] {
        let mut t = Tensor::from_index([calls, 2], |at| (at[0] * 2 + at[1]) as i64).unwrap();
        scale.update(&mut t, [&row + 1]).unwrap();
        let expected: Vec<i64> = (0..2 * calls as i64).map(|x| x * 3 + 6).collect();
        assert_eq!(t.to_vec().unwrap(), expected);
        scale.update(&mut t, [&row]).unwrap();
        let expected: Vec<i64> = expected.iter().map(|x| x * 2 + 5).collect();
        assert_eq!(t.to_vec().unwrap(), expected);
    }
    let add = Gufunc::<[i64; 2], [i64; 1], _>::each("(),()->()", |[x, y], [mut out]| {
        out[0] = x[0] + y[0];
    })
    .unwrap();
    let mut t = Tensor::from_vec([2, 2], vec![1_i64, 2, 3, 4]).unwrap();
    add.update(&mut t, [10_i64]).unwrap();
    assert_eq!(t.to_vec().unwrap(), [11, 12, 13, 14]);
}
