//! Calls of gufuncs on rows, against calls on lists: results, axes, masks, sharing and errors.

use super::chains::chain;
use super::model::{Item, Model, random_kinds, read};
use crate::support::{Random, fails, pool};
use lensor::error::{Cause, CoreAxesFlaw};
use lensor::gufunc::{Elementary, Gufunc, inner1d, norm};
use lensor::lanes::SortOrder;
use lensor::prelude::*;
use lensor::ragged::{Extent, Offsets, Ragged, Stretch};
use quickcheck::quickcheck;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a function makes of each list of the last axis.
fn each(m: &Model<i64>, behind: &[Option<usize>], f: &impl Fn(&[i64]) -> Item<i64>) -> Model<i64> {
    fn walk(item: &Item<i64>, depth: usize, f: &impl Fn(&[i64]) -> Item<i64>) -> Item<i64> {
        if depth > 0 {
            let list = item.list().iter();
            return Item::List(list.map(|item| walk(item, depth - 1, f)).collect());
        }
        let row = item.list().iter().map(|item| match item {
            Item::One(x) => *x,
            Item::List(_) => panic!("an element"),
        });
        f(&row.collect::<Vec<_>>())
    }
    let front = m.rank() - 1;
    let kinds = m.kinds[..front].iter().chain(behind).copied().collect();
    Model { kinds, root: walk(&m.root, front, f) }
}

fn list(row: impl IntoIterator<Item = i64>) -> Item<i64> {
    Item::List(row.into_iter().map(Item::One).collect())
}

fn kinds(extents: &[Extent]) -> Vec<Option<usize>> {
    extents.iter().map(|extent| extent.fixed()).collect()
}

/// Sums, reversed rows, and rows twice with their length in between.
fn mixed() -> Gufunc<[i64; 1], [i64; 3], impl Elementary<[i64; 1], [i64; 3]> + Clone> {
    Gufunc::<[i64; 1], [i64; 3], _>::each(
        "(n)->(),(n),(2*n+1)",
        |[x], [mut sum, mut back, mut twice]| {
            sum[0] = x.iter().sum();
            back.iter_mut().zip(x.iter().rev()).for_each(|(to, x)| *to = *x);
            let n = x.len();
            twice[..n].copy_from_slice(&x);
            twice[n] = n as i64;
            twice[n + 1..].copy_from_slice(&x);
        },
    )
    .unwrap()
}

quickcheck! {
    /// Cores that are rows of views, or a fixed axis behind, on one to three threads.
    fn each_row_is_one_call(seed: u64) -> bool {
        let mut random = Random(seed);
        let mut axes = random_kinds(&mut random);
        if axes.is_empty() || random.below(2) == 0 {
            axes.push(None);
        }
        let model = Model::random_of(&axes, &mut random);
        let own = model.build(-1, &mut random);
        let (a, r) = chain(&model, &own, 2, &mut random);
        if a.rank() == 0 {
            return true;
        }
        let n = a.kinds[a.rank() - 1];
        let twice = |row: &[i64]| list(row.iter().copied().chain([row.len() as i64]).chain(row.iter().copied()));
        let expected = [
            each(&a, &[], &|row| Item::One(row.iter().sum())),
            each(&a, &[n], &|row| list(row.iter().rev().copied())),
            each(&a, &[n.map(|n| 2 * n + 1)], &twice),
        ];
        let call = mixed().call_ragged([&r]);
        let told = call.extents().unwrap();
        let found = pool(1 + random.below(3)).install(|| call.eval().unwrap());
        let deferred = call.clone().outputs();
        for k in 0..3 {
            assert!(read(&found[k]) == expected[k], "{a:?}\n{:?}\n{:?}", read(&found[k]), expected[k]);
            assert_eq!(kinds(&told[k]), expected[k].kinds);
            assert_eq!(deferred[k].extents().unwrap(), told[k]);
            assert!(read(&deferred[k].eval().unwrap()) == expected[k]);
        }
        // Into destinations of the same rows, laid out anyhow; calls that are left out write nothing.
        let mut outs = expected.each_ref().map(|expected| expected.map(|_| 0).build(-1, &mut random));
        let [one, two, three] = &mut outs;
        call.assign_to((one, two, three)).unwrap();
        assert!(outs.iter().zip(&expected).all(|(out, expected)| read(out) == *expected));
        let other = mixed().call_ragged([(&r + 1).eval().unwrap()]);
        other.filter(false).assign_to(outs.each_mut()).unwrap();
        assert!(outs.iter().zip(&expected).all(|(out, expected)| read(out) == *expected));
        // Kept axes, and a mask that leaves out every call or none.
        let sums = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->()", |[x], [mut sum]| sum[0] = x.iter().sum()).unwrap();
        let kept = sums.call_ragged([&r]).keepdims();
        let one = each(&a, &[Some(1)], &|row| list([row.iter().sum()]));
        assert!(read(&kept.eval().unwrap()[0]) == one);
        assert_eq!(kinds(&kept.extents().unwrap()[0]), one.kinds);
        assert_eq!(kept.to_vec(), kept.deferred().to_vec());
        let made = random.below(2) == 0;
        let masked = sums.call_ragged([&r]).filter(made).or([-7]);
        let left = each(&a, &[], &|row| Item::One(if made { row.iter().sum() } else { -7 }));
        assert!(read(&masked.eval().unwrap()[0]) == left);
        let dense = sums.call_ragged([&r]).eval_dense().and_then(|sums| sums.to_vec());
        match left.kinds.contains(&None) {
            true => assert!(matches!(dense, Err(Error::RaggedAxes { .. }))),
            false => assert_eq!(dense, sums.call_ragged([&r]).to_vec()),
        }
        true
    }
}

#[test]
fn core_axes_may_be_others() {
    // 2 * var * 2 * 3
    let items = Tensor::from_vec([3, 2, 3], (0..18).collect()).unwrap();
    let r = Ragged::new([2], Offsets::new(vec![0_u32, 1, 3]).unwrap(), items).unwrap();
    let swapped = r.view().swap_axes(2, 3).unwrap();
    let plain = mixed().call_ragged([&swapped]).eval().unwrap();
    let moved = mixed().call_ragged([&r]).axes([vec![2], vec![], vec![-2], vec![2]]);
    let [sum, back, twice] = moved.eval().unwrap();
    assert_eq!(read(&sum), read(&plain[0]));
    assert_eq!(read(&back), read(&plain[1].view().swap_axes(2, 3).unwrap()));
    assert_eq!(read(&twice), read(&plain[2].view().swap_axes(2, 3).unwrap()));
    let told = moved.extents().unwrap();
    assert_eq!(told[2], [Extent::Fixed(2), Extent::Var, Extent::Fixed(5), Extent::Fixed(3)]);

    let float = r.view().cast::<f64>();
    let [along] = norm().call_ragged([&float]).axis(2).keepdims().eval().unwrap();
    let folded = (&float * &float).sum(2).keepdims();
    assert_eq!(read(&along), read(&folded.sqrt().eval().unwrap()));

    // The axis in an error is that of the operand.
    let mut error = inner1d()
        .call_ragged((&r, Tensor::full([3], 1).unwrap()))
        .axes([[2], [0]])
        .eval()
        .unwrap_err();
    let Error::CoreExtent { argument, axis, extent, so_far, .. } = &mut error else {
        panic!("{error:?}")
    };
    assert_eq!((*argument, *axis, *extent, *so_far), (2, 0, 3, 2));
    let reversed = inner1d().call_ragged((Tensor::full([3], 1).unwrap(), &r)).axes([[0], [2]]);
    assert!(matches!(reversed.eval(), Err(Error::CoreExtent { argument: 2, axis: 2, .. })));
    fails(
        norm().call_ragged([&float]).axis(0).eval(),
        Error::RaggedAxes { axis: 0, crossed: 1 },
        "axis 0 cannot cross axis 1, whose rows differ in length: `padded` or `as_fixed` makes that one a fixed axis",
    );
    let flaw = CoreAxesFlaw::Range { argument: 1, axis: 4, rank: 4 };
    let error = Error::CoreAxes { signature: "(n)->()".into(), flaw };
    assert_eq!(norm().call_ragged([&float]).axis(4).extents().unwrap_err(), error);
}

/// Sums that count their calls.
fn counting(
    calls: &AtomicUsize,
) -> Gufunc<[i64; 1], [i64; 2], impl Elementary<[i64; 1], [i64; 2]> + Clone + use<'_>> {
    Gufunc::<[i64; 1], [i64; 2], _>::each("(n)->(),()", move |[x], [mut sum, mut count]| {
        calls.fetch_add(1, Ordering::Relaxed);
        sum[0] = x.iter().sum();
        count[0] = x.len() as i64;
    })
    .unwrap()
}

#[test]
fn nothing_is_called_before_it_is_asked_for_and_then_once() {
    let calls = AtomicUsize::new(0);
    let r = Ragged::from_nested(vec![vec![1_i64, 2, 3], vec![], vec![4]]).unwrap();
    let call = counting(&calls).call_ragged([&r]);
    let [sum, count] = call.clone().outputs();
    let mean = &sum / count.view().maximum(1) + &sum * 0;
    call.extents().unwrap();
    assert!(call.explain().unwrap().to_string().starts_with("gufunc (n)->(),()"));
    assert!(format!("{sum} {call:?} {sum:?}").contains("not computed yet"));
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert_eq!(mean.eval().unwrap().to_vec().unwrap(), [2, 0, 4]);
    assert_eq!(calls.swap(0, Ordering::Relaxed), 3);
    assert_eq!(mean.eval_with(Stretch::Strict).unwrap().to_vec().unwrap(), [2, 0, 4]);
    assert_eq!(calls.swap(0, Ordering::Relaxed), 3);
    // One output alone is an owned result.
    assert_eq!(count.eval_dense().unwrap().to_vec().unwrap(), [3, 0, 1]);
    assert_eq!(calls.swap(0, Ordering::Relaxed), 3);

    // A call of one output is an operand on both sides, is viewed, sorted and folded.
    let [back] = [Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(n)", |[x], [mut out]| {
        calls.fetch_add(1, Ordering::Relaxed);
        out.iter_mut().zip(x.iter().rev()).for_each(|(to, x)| *to = *x);
    })
    .unwrap()];
    let call = || back.call_ragged([&r]);
    assert_eq!((call() * 10 + call()).eval().unwrap().to_string(), "[[33, 22, 11], [], [44]]");
    assert_eq!(calls.swap(0, Ordering::Relaxed), 6);
    let one = call();
    assert_eq!((&r * 10 + &one).eval().unwrap().to_string(), "[[13, 22, 31], [], [44]]");
    assert_eq!((&r - call()).eval().unwrap().to_string(), "[[-2, 0, 2], [], [0]]");
    assert_eq!(
        call().sort(1, SortOrder::Ascending).eval().unwrap().to_string(),
        "[[1, 2, 3], [], [4]]"
    );
    assert_eq!(call().sum(1).eval().unwrap().to_string(), "[6, 0, 4]");
    assert_eq!(call().deferred().form().unwrap().to_string(), "3 * var");
    assert_eq!(calls.swap(0, Ordering::Relaxed), 12);
    assert_eq!(
        call().lazy().clip(1, ..2).unwrap().eval().unwrap().to_string(),
        "[[3, 2], [], [4]]"
    );
    assert_eq!(calls.swap(0, Ordering::Relaxed), 3);
    let [sum, _] = counting(&calls).call_ragged([&r]).outputs();
    assert_eq!(sum.view().flip(0).unwrap().to_vec().unwrap(), [4, 0, 6]);
    assert_eq!(calls.swap(0, Ordering::Relaxed), 3);
    assert_eq!(back.call_ragged([one]).eval().unwrap()[0].to_string(), r.to_string());
    let mut out = Ragged::from_nested(vec![vec![0_i64, 0, 0], vec![], vec![0]]).unwrap();
    out.assign(call()).unwrap();
    assert_eq!(out.to_string(), "[[3, 2, 1], [], [4]]");
}

#[test]
fn masks_leave_calls_out() {
    let calls = AtomicUsize::new(0);
    let r =
        Ragged::from_nested(vec![vec![vec![1_i64, 2], vec![3]], vec![], vec![vec![4]]]).unwrap();
    let call = || counting(&calls).call_ragged([&r]);
    let mask = Ragged::from_nested(vec![vec![false, true], vec![], vec![true]]).unwrap();
    let [sum, count] = call().filter(&mask).or([-1, -2]).eval().unwrap();
    assert_eq!(
        (sum.to_string(), count.to_string()),
        ("[[-1, 3], [], [4]]".into(), "[[-2, 1], [], [1]]".into())
    );
    assert_eq!(calls.swap(0, Ordering::Relaxed), 2);
    // Stretched, and an expression.
    let [sum, _] = call().filter(r.view().sum(2).greater(3)).or([0, 0]).eval().unwrap();
    assert_eq!(sum.to_string(), "[[0, 0], [], [4]]");
    let columns = Tensor::from_nested([[true], [true], [false]]).unwrap();
    let [sum, _] = call().filter(&columns).or([0, 0]).eval().unwrap();
    assert_eq!(sum.to_string(), "[[3, 3], [], [0]]");
    assert_eq!(calls.swap(0, Ordering::Relaxed), 3);

    assert_eq!(call().filter(&mask).eval().unwrap_err(), Error::MaskedOutput);
    let long = Ragged::from_nested(vec![vec![true; 3], vec![], vec![true]]).unwrap();
    fails(
        call().filter(&long).or([0, 0]).eval(),
        Error::RowLength { row: vec![0], axis: 1, items: 3, expected: 2 },
        "row [0] of axis 1 has 3 items, expected 2",
    );
    assert!(call().filter(&long).or([0, 0]).explain().is_err());
    let other = Tensor::full([4, 1], true).unwrap();
    assert!(matches!(
        call().filter(&other).or([0, 0]).extents(),
        Err(Error::Operands { argument: 2, .. })
    ));
    // Destinations are looked at before the mask, its axes or its rows.
    let mut short = Tensor::full([3, 1], 0).unwrap();
    let mut outs = r.sum(2).eval().unwrap();
    let refused = call().filter(&other).assign_to((&mut outs, &mut short));
    assert!(matches!(refused, Err(Error::RowLength { .. })), "{refused:?}");
    let refused = call().filter(&long).assign_to((&mut outs, &mut short));
    assert!(matches!(refused, Err(Error::RowLength { expected: 1, .. })), "{refused:?}");
    let deeper = Tensor::full([2, 3, 1], true).unwrap();
    fails(
        call().filter(&deeper).or([0, 0]).eval(),
        Error::Operands {
            argument: 2,
            axis: 0,
            shape: vec![2, 3, 1],
            so_far: vec![3, usize::MAX],
            left: false,
        },
        "operands could not be broadcast: argument 2 has shape [2, 3, 1], the result so far is [3, var], axis 0: 2 vs 1",
    );
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[test]
fn destinations_keep_what_a_mask_leaves_out() {
    let r = Ragged::from_nested(vec![vec![3_i64, 1, 2], vec![], vec![5, 4]]).unwrap();
    let call = || mixed().call_ragged([&r]).filter(Tensor::from(vec![true, true, false]));
    let mut sums = Tensor::full([2, 3], 7_i64).unwrap();
    let mut back = Ragged::from_nested(vec![vec![7_i64; 3], vec![], vec![7; 2]]).unwrap();
    let mut twice = Ragged::from_nested(vec![vec![7_i64; 7], vec![7], vec![7; 5]]).unwrap();
    let mut row = sums.view_mut().select((1,)).unwrap();
    call().assign_to((&mut row, &mut back, &mut twice)).unwrap();
    assert_eq!(sums.to_vec().unwrap(), [7, 7, 7, 6, 0, 7]);
    assert_eq!(back.to_string(), "[[2, 1, 3], [], [7, 7]]");
    assert_eq!(twice.to_string(), "[[3, 1, 2, 3, 3, 1, 2], [0], [7, 7, 7, 7, 7]]");
    let mut row = sums.view_mut().select((0,)).unwrap();
    call().or([1, 2, 3]).assign_to((&mut row, &mut back, &mut twice)).unwrap();
    assert_eq!(sums.to_vec().unwrap(), [6, 0, 1, 6, 0, 7]);
    assert_eq!(twice.to_string(), "[[3, 1, 2, 3, 3, 1, 2], [0], [3, 3, 3, 3, 3]]");

    // All destinations are held against the results before the first is written, and none stretches.
    let (mut sums, unchanged) = (Tensor::full([3], 9_i64).unwrap(), [9; 3]);
    let mut short = Ragged::from_nested(vec![vec![7_i64; 7], vec![7; 2], vec![7; 5]]).unwrap();
    fails(
        call().assign_to((&mut sums, &mut back, &mut short)),
        Error::RowLength { row: vec![1], axis: 1, items: 1, expected: 2 },
        "row [1] of axis 1 has 1 item, expected 2",
    );
    let mut deep = Tensor::full([2, 3], 9_i64).unwrap();
    fails(
        call().assign_to((&mut deep, &mut back, &mut twice)),
        Error::Destination { expected: vec![2, 3], found: vec![3] },
        "cannot assign shape [3] to a destination of shape [2, 3]",
    );
    let shared = Ragged::from_views(
        [3],
        vec![0_usize, 0, 0],
        vec![3, 0, 2],
        1,
        Tensor::full([3], 9_i64).unwrap(),
    );
    let mut shared = shared.unwrap();
    fails(
        call().assign_to((&mut sums, &mut shared, &mut twice)),
        Error::OverlappingRows { rows: [0, 2] },
        "rows 0 and 2 of the destination share items",
    );
    assert_eq!(sums.to_vec().unwrap(), unchanged);
    assert_eq!(twice.to_string(), "[[3, 1, 2, 3, 3, 1, 2], [0], [3, 3, 3, 3, 3]]");
    // Functions that fail are called after that.
    let failing = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->()", |[x], [mut sum]| {
        sum[0] = x.iter().sum();
        if x.is_empty() { Err("nothing") } else { Ok(()) }
    })
    .unwrap();
    let failed = failing.call_ragged([&r]).assign_to(&mut sums).unwrap_err();
    assert!(matches!(&failed, Error::Elementary { index, .. } if index == &[1]), "{failed}");
    assert_eq!(sums.to_vec().unwrap(), unchanged);
}

/// Extents that the function gives follow from rows as any others do.
#[test]
fn given_extents_differ_from_row_to_row() {
    let pairs = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(p)", |[x], [mut out]| {
        out.iter_mut().zip(x.chunks(2)).for_each(|(out, pair)| *out = pair.iter().sum());
    })
    .unwrap()
    .with_extents(|dims| match dims.get("n") {
        Some(n) if n % 2 == 0 => dims.set("p", n / 2),
        _ => Err(Error::CoreRefused { extents: vec![], source: Cause::new("odd") }),
    });
    let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![1, 2, 3, 4], vec![]]).unwrap();
    let call = pairs.call_ragged([&r]);
    assert_eq!(call.extents().unwrap(), [[Extent::Fixed(3), Extent::Var]]);
    assert_eq!(call.eval().unwrap()[0].to_string(), "[[3], [3, 7], []]");
    let odd = Ragged::from_nested(vec![vec![1_i64, 2], vec![1]]).unwrap();
    assert!(matches!(pairs.call_ragged([&odd]).eval(), Err(Error::CoreRefused { .. })));
    let unknown = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(p)", |[_], [_]| {}).unwrap();
    assert_eq!(
        unknown.call_ragged([&r]).eval().unwrap_err(),
        Error::CoreUnknown { dim: "p".into() }
    );

    // Fixed extents beside rows are held against them before anything is computed.
    let both =
        Gufunc::<[i64; 3], [i64; 1], _>::each("(n),(n),(n)->(n)", |[_, _, _], [_]| {}).unwrap();
    let (three, four) = (Tensor::full([3], 1).unwrap(), Tensor::full([4], 1).unwrap());
    let wrong = both.call_ragged((&r, &three, &four)).extents().unwrap_err();
    assert!(
        matches!(wrong, Error::CoreExtent { argument: 3, axis: 0, extent: 4, so_far: 3, .. }),
        "{wrong:?}"
    );
}

/// Names that no input has get their extents from destinations, as far as those are the same in all calls.
#[test]
fn destinations_give_extents() {
    let repeat = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(p)", |[x], [mut out]| {
        out.fill(x.iter().sum());
    })
    .unwrap();
    let r = Ragged::from_nested(vec![vec![1_i64, 2], vec![], vec![3]]).unwrap();
    let mut sums = Tensor::full([3, 2], 0).unwrap();
    repeat.call_ragged([&r]).assign_to(&mut sums).unwrap();
    assert_eq!(sums.to_vec().unwrap(), [3, 3, 0, 0, 3, 3]);
    // The core axis of the destination is the first.
    let mut turned = Tensor::full([2, 3], 0).unwrap();
    repeat.call_ragged([&r]).axes([[1], [0]]).assign_to(&mut turned).unwrap();
    assert_eq!(turned.to_vec().unwrap(), [3, 0, 3, 3, 0, 3]);
    let t = Tensor::from_vec([2, 2], vec![1, 2, 3, 4]).unwrap();
    let mut dense = Tensor::full([2, 1], 0).unwrap();
    repeat.call_ragged([t.as_ragged()]).assign_to(&mut dense).unwrap();
    assert_eq!(dense.to_vec().unwrap(), [3, 7]);
    // Extents that functions know see those of destinations.
    let known = repeat.with_extents(|dims| match dims.get("p") {
        Some(2) => Ok(()),
        other => Err(lensor::gufunc::ElementaryError::from(format!("p is {other:?}"))),
    });
    known.call_ragged([&r]).assign_to(&mut sums).unwrap();
    let mut long = Tensor::full([3, 5], 0).unwrap();
    let refused = known.call_ragged([&r]).assign_to(&mut long).unwrap_err();
    assert!(refused.to_string().contains("p is Some(5)"), "{refused}");
    let unknown = Error::CoreUnknown { dim: "p".into() };
    let mut short = Tensor::full([3], 0).unwrap();
    let none = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->(p)", |_, _| ()).unwrap();
    assert_eq!(none.call_ragged([&r]).assign_to(&mut short).unwrap_err(), unknown);
}
