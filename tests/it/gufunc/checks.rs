//! Errors of calls beyond their shapes, the order of checks, and that nothing is written after one of them fails.

use crate::support::{fails, offline};
use crate::views::Slots;
use lensor::error::Cause;
use lensor::gufunc::{Gufunc, inner1d, minmax, sort};
use lensor::prelude::*;
use lensor::{Result, StorageError};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn zeros<const N: usize>(shape: [usize; N]) -> Tensor<Vec<i64>> {
    Tensor::full(shape, 0).unwrap()
}

#[test]
fn elementary_functions_fail_at_their_first_index() {
    let odd = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->()", |[x], [mut out]| {
        out[0] = x[0];
        if x[0] % 2 == 0 { Ok(()) } else { Err(format!("{} is odd", x[0])) }
    })
    .unwrap();
    let t = Tensor::from_vec([2, 3, 1], vec![2, 4, 6, 8, 9, 11]).unwrap();
    let error = |index: &[usize], text: &str| Error::Elementary {
        index: index.to_vec(),
        source: Cause::new(text),
    };
    let text = "elementary function failed at [1, 1]: 9 is odd";
    fails(odd.call([&t]).eval(), error(&[1, 1], "9 is odd"), text);
    fails(odd.call([&t]).lazy().eval(), error(&[1, 1], "9 is odd"), text);
    fails((&zeros([2, 3]) + odd.call([&t])).eval(), error(&[1, 1], "9 is odd"), text);
    let flipped = t.view().flip(1).unwrap();
    let text = "elementary function failed at [1, 0]: 11 is odd";
    fails(odd.call([&flipped]).eval(), error(&[1, 0], "11 is odd"), text);
    let item = Tensor::from(vec![3]);
    let text = "elementary function failed at []: 3 is odd";
    fails(odd.call([&item]).eval(), error(&[], "3 is odd"), text);
    // What the mask leaves out does not fail.
    let mask = Tensor::from_nested([[true, true, true], [true, false, true]]).unwrap();
    let text = "elementary function failed at [1, 2]: 11 is odd";
    fails(odd.call([&t]).filter(&mask).or([0]).eval(), error(&[1, 2], "11 is odd"), text);
    let source = std::error::Error::source(&error(&[0], "why")).map(ToString::to_string);
    assert_eq!(source.as_deref(), Some("why"));
}

#[test]
fn masks_want_values_or_a_destination() {
    let t = zeros([2, 3]);
    let mask = Tensor::from(vec![true, false]);
    let call = inner1d::<i64>().call([&t, &t]).filter(&mask);
    let text = "results that the mask leaves out have no values: give some by `.or(..)`, or an output to keep";
    fails(call.eval(), Error::MaskedOutput, text);
    assert!(call.explain().unwrap().to_string().contains("2 calls"));
    fails(call.lazy().eval(), Error::MaskedOutput, text);
    let mut out = Tensor::from(vec![5, 6]);
    inner1d::<i64>().call([&t, &t]).filter(&mask).assign_to(&mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), [0, 6]);
}

#[test]
fn destinations_have_just_the_shape() {
    let t = zeros([2, 3]);
    let call = minmax::<i64>().call([&t]);
    let error = |own: &[usize]| Error::Destination { expected: own.to_vec(), found: vec![2] };
    let mut ones = Tensor::full([2], 1_i64).unwrap();
    for shape in [vec![1], vec![3], vec![1, 2], vec![2, 1], vec![]] {
        let mut wrong = Tensor::full(shape.clone(), 1_i64).unwrap();
        assert_eq!(call.assign_to([&mut ones, &mut wrong]).unwrap_err(), error(&shape));
        assert!(ones.to_vec().unwrap() == [1, 1] && !wrong.to_vec().unwrap().contains(&0));
    }
    let mut shared = Tensor::full([1], 1_i64).unwrap().broadcast([2]).unwrap();
    fails(
        call.assign_to([&mut shared, &mut ones]),
        Error::NotInjective { axis: 0 },
        "cannot write through this view, as axis 0 repeats elements: a copy by `.eval()?` can be written",
    );
    assert_eq!(ones.to_vec().unwrap(), [1, 1]);
    let (mut least, mut most) = (zeros([2]), zeros([2]));
    call.assign_to((&mut least, &mut most)).unwrap();
    // A view that is too small for the result, in the axes that the call names.
    let turned = sort::<i64>().call([&t]).axes([[0], [1]]);
    assert_eq!(turned.eval().unwrap()[0].shape(), [3, 2]);
    fails(
        turned.assign_to(&mut zeros([2, 3])),
        Error::Destination { expected: vec![2, 3], found: vec![3, 2] },
        "cannot assign shape [3, 2] to a destination of shape [2, 3]",
    );
}

/// Each call has one fault more than the one before, which is reported first.
#[test]
fn checks_have_an_order() {
    let calls = AtomicUsize::new(0);
    let gufunc = Gufunc::<[i64; 2], [i64; 1], _>::each("(n),(n)->(p,n-2)", |_, _| {
        calls.fetch_add(1, Relaxed);
    })
    .unwrap();
    let three = zeros([2, 3]);
    let mut out = Tensor::new([2, 4, 1], Slots::new(&[7; 8])).unwrap();
    let mut kind = |a: &Tensor<Vec<i64>>, axes: [&[isize]; 3], out_shape: bool, mask: usize| {
        let mask = Tensor::full([mask], true).unwrap();
        let call = gufunc.call([a, &three]).axes(axes).filter(&mask);
        let mut view = out.view_mut();
        if !out_shape {
            view = view.slice(0, 0..1).unwrap();
        }
        let error = call.assign_to(&mut view).unwrap_err();
        assert!(out.storage().writes.iter().all(|writes| *writes == 0));
        error
    };
    let good: [&[isize]; 3] = [&[-1], &[-1], &[-2, -1]];
    let bad: [&[isize]; 3] = [&[-1], &[-1], &[-2, -2]];
    // The mask last, which joins to the loop but does not have its shape.
    let error = kind(&three, good, true, 3);
    assert!(matches!(error, Error::Operands { argument: 3, .. }), "{error}");
    assert!(matches!(kind(&three, good, false, 3), Error::Destination { .. }));
    let short = |shape: [usize; 2]| zeros(shape);
    let error = kind(&short([5, 3]), good, false, 3);
    assert!(matches!(error, Error::Operands { argument: 2, .. }), "{error}");
    assert!(matches!(kind(&short([5, 1]), good, false, 3), Error::CoreExtent { .. }));
    assert!(matches!(kind(&short([5, 1]), bad, false, 3), Error::CoreAxes { .. }));
    assert!(matches!(kind(&Tensor::full([], 0).unwrap(), bad, false, 3), Error::CoreRank { .. }));
    // Names that nothing gives an extent come before masks, and after what joins.
    let call = |a: [usize; 2], b: [usize; 2]| {
        let mask = Tensor::full([3], true).unwrap();
        gufunc.call([&zeros(a), &zeros(b)]).filter(&mask).eval().unwrap_err()
    };
    assert_eq!(call([2, 3], [2, 3]), Error::CoreUnknown { dim: "p".into() });
    assert!(matches!(call([2, 3], [5, 3]), Error::Operands { .. }));
    let mut out = zeros([9, 4, 1]);
    let error = gufunc.call([&zeros([2, 1]), &zeros([2, 1])]).assign_to(&mut out).unwrap_err();
    assert!(matches!(error, Error::CoreComputed { value: Some(-1), .. }), "{error}");
    // A mask that stretches the loop is no mask of it.
    let mask = Tensor::full([3, 2], true).unwrap();
    fails(
        inner1d::<i64>().call([&three, &three]).filter(&mask).or([1]).eval(),
        Error::Operands { argument: 3, axis: 0, shape: vec![3, 2], so_far: vec![2], left: false },
        "operands could not be broadcast: argument 3 has shape [3, 2], the result so far is [2], axis 0: 3 vs 1",
    );
    assert_eq!(calls.load(Relaxed), 0);
}

/// Operands are looked at in order, however they are read, and before the function and the mask.
#[test]
fn faults_of_operands_come_first_and_in_their_order() {
    let broken = |shape: &[usize], bad: usize| {
        let len = shape.iter().product();
        Tensor::new(shape.to_vec(), offline(len, bad..bad + 1)).unwrap()
    };
    let fails_always =
        Gufunc::<[i32; 2], [i32; 1], _>::each("(n),(n)->()", |_, _| Err::<(), _>("never")).unwrap();
    let error = |index: &[usize], address| Error::Storage {
        index: Some(index.to_vec()),
        source: StorageError::new(address, "offline"),
    };
    let (wide, narrow, whole) = (broken(&[4, 3], 10), broken(&[1, 3], 2), broken(&[4, 3], 12));
    let call = |a, b| fails_always.call([a, b]).eval().unwrap_err();
    assert_eq!(call(&wide, &narrow), error(&[3, 1], 10));
    assert_eq!(call(&narrow, &wide), error(&[0, 2], 2));
    assert_eq!(call(&whole, &wide), error(&[3, 1], 10));
    let never = Error::Elementary { index: vec![0], source: Cause::new("never") };
    assert_eq!(call(&whole, &whole), never);
    // In a tuple as well.
    assert_eq!(fails_always.call((&wide, &narrow)).eval().unwrap_err(), error(&[3, 1], 10));
    assert_eq!(fails_always.call((&narrow, &wide)).eval().unwrap_err(), error(&[0, 2], 2));
    // And the mask last.
    let mask = broken(&[1], 0);
    let masked = |a, b| {
        let call = fails_always.call([a, b]).filter(mask.equal(0)).or([0]);
        call.eval().unwrap_err()
    };
    assert_eq!(masked(&wide, &narrow), error(&[3, 1], 10));
    assert_eq!(masked(&whole, &whole), error(&[0], 0));
    let quotient = zeros([4, 3]) / zeros([1, 3]);
    let sum = Gufunc::<[i64; 1], [i64; 1], _>::each("(n)->()", |[_], [_]| Err::<(), _>("never"));
    let done: Result<_> = sum.unwrap().call([&quotient]).axis(0).eval();
    fails(done, Error::Arithmetic { index: vec![0, 0] }, "division by zero at index [0, 0]");
}
