//! Chains of a million views and of as many boxes (failure mode 22), on a stack that recursion over
//! them would overflow.

use crate::support::MILLION;
use lensor::prelude::*;
use lensor::tensor::Flat;
use lensor::{BoxReader, Reader, Tensor};

fn on_small_stack(body: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(body).unwrap().join().unwrap();
}

#[test]
fn a_million_views_of_a_tensor_read_like_a_few() {
    on_small_stack(|| {
        let data: Vec<i32> = (0..60).collect();
        let mut t = Tensor::from_vec([3, 4, 5], data.clone()).unwrap();
        for _ in 0..MILLION / 4 {
            t = t.transpose([1, 2, 0]).unwrap().rotate([1, 2, 3]).unwrap();
            t = t.rotate([-1, -2, -3]).unwrap().transpose([2, 0, 1]).unwrap();
        }
        assert_eq!(t.to_vec().unwrap(), data);
    });
}

#[test]
fn a_million_views_of_an_expression_read_like_a_few() {
    on_small_stack(|| {
        let t = Tensor::from_vec([3, 4], (0..12).collect()).unwrap();
        let mut e = &t + 1;
        let mut boxed = (&t + 1).boxed();
        for _ in 0..MILLION / 20 {
            e = e.transpose([1, 0]).unwrap().flip(0).unwrap().flip(0).unwrap();
            e = e.transpose([1, 0]).unwrap();
            boxed = boxed.rotate([1, 1]).unwrap().rotate([-1, -1]).unwrap();
        }
        assert_eq!(e.to_vec().unwrap(), (1..13).collect::<Vec<i32>>());
        assert_eq!(boxed.to_vec().unwrap(), (1..13).collect::<Vec<i32>>());
    });
}

/// Boxes within boxes are counted; beyond the limit an error takes the place of a stack overflow.
#[test]
fn three_hundred_thousand_boxes_are_refused() {
    on_small_stack(|| {
        let t = Tensor::from_vec([2], vec![1, 2]).unwrap();
        let mut e = (&t + 0).boxed();
        let mut first = None;
        for k in 1..300_000 {
            e = (e + 1).boxed();
            if first.is_none() && e.shape().is_err() {
                first = Some((k, e.eval().map(drop).unwrap_err()));
            }
        }
        let (depth, error) = first.unwrap();
        let Error::TooDeep { depth: found, limit } = error else { panic!("{error}") };
        assert_eq!((found, limit), (depth + 1, depth));
        assert!(matches!(e.eval().map(drop), Err(Error::TooDeep { .. })));
        assert!(matches!((e.clone() + &t).boxed().shape(), Err(Error::TooDeep { .. })));
    });
}

/// The deepest expression that is accepted evaluates on a small stack.
#[test]
fn the_deepest_boxes_evaluate() {
    on_small_stack(|| {
        let t = Tensor::from_vec([2, 3], vec![1; 6]).unwrap();
        let mut e = (&t + 0).boxed();
        let mut depth = 1;
        loop {
            let deeper = (e.clone() + 1).boxed();
            if deeper.shape().is_err() {
                break;
            }
            e = deeper;
            depth += 1;
        }
        assert!(depth > 50);
        assert_eq!(e.to_vec().unwrap(), [depth; 6]);
        assert_eq!(e.flip(0).unwrap().to_vec().unwrap(), [depth; 6]);
    });
}

/// Views of erased storage of views: each level is one more call, so depth is the caller's, but dropping
/// and printing a moderate one is fine.
#[test]
fn erased_views_nest() {
    on_small_stack(|| {
        let mut t: Tensor<BoxReader<'static, i32>> =
            Tensor::from_vec([4], vec![1, 2, 3, 4]).unwrap().erase();
        for _ in 0..100 {
            let turned: Tensor<Flat<BoxReader<'static, i32>>> =
                Tensor::new([4], t.flip(0).unwrap().flat()).unwrap();
            t = turned.erase();
        }
        assert_eq!(t.storage().len(), 4);
        assert_eq!(t.to_vec().unwrap(), [1, 2, 3, 4]);
        assert_eq!(format!("{t}"), "[1, 2, 3, 4]");
    });
}
