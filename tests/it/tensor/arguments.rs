//! What views and folds take: ranges with any ends, shapes and axes in any list.

use lensor::gufunc::{det, inner1d};
use lensor::map::{IntoMask, Layout};
use lensor::prelude::*;
use lensor::tensor::pad;
use lensor::{AddressMap, Align, Result};
use std::ops::Bound::{Excluded, Included, Unbounded};

fn cube() -> Tensor<Vec<i64>> {
    Tensor::from_index([2, 3, 4], |index| (index[0] * 12 + index[1] * 4 + index[2]) as i64).unwrap()
}

/// Ranges mean the same as with both ends, and reach outside with the same error.
#[test]
fn ranges_may_lack_an_end() -> Result<()> {
    let t = cube();
    let slice = |start, end| t.view().slice(2, (start, end)).and_then(|view| view.to_vec());
    for start in 0..6 {
        for end in 0..6 {
            let expected = t.view().slice(2, start..end).and_then(|view| view.to_vec());
            assert_eq!(slice(Included(start), Excluded(end)), expected);
            if let Some(last) = end.checked_sub(1) {
                assert_eq!(slice(Included(start), Included(last)), expected);
            }
            if let Some(before) = start.checked_sub(1) {
                assert_eq!(slice(Excluded(before), Excluded(end)), expected);
            }
            if start == 0 {
                assert_eq!(slice(Unbounded, Excluded(end)), expected);
            }
            if end == 4 {
                assert_eq!(slice(Included(start), Unbounded), expected);
            }
        }
    }
    assert_eq!(
        slice(Included(0), Included(usize::MAX)),
        Err(Error::Index { axis: 2, index: 4, extent: 4 })
    );
    assert_eq!(t.view().slice(1, ..)?, t);
    assert_eq!(t.view().merge_axes(..)?.shape(), [24]);
    assert_eq!(t.view().merge_axes(1..)?.shape(), [2, 12]);
    assert_eq!(t.view().merge_axes(..=1)?.shape(), [6, 4]);
    assert_eq!(t.view().merge_axes(2..=3).unwrap_err(), Error::AxisRange { axes: 2..4, rank: 3 });
    Ok(())
}

/// Lists are taken by value and by reference, of any length.
#[test]
fn lists_are_taken_by_reference() -> Result<()> {
    let (t, axes, shape) = (cube(), vec![1, 2], vec![6, 4]);
    assert_eq!(t.sum(&axes).eval()?, t.sum([1, 2]).eval()?);
    assert_eq!(t.sum(1..3).eval()?, t.sum([1, 2]).eval()?);
    assert_eq!(t.sum([0, 2]).shape()?, [3]);
    assert_eq!(t.sum(2..2).to_vec()?, t.to_vec()?);
    assert_eq!(t.sum(1..usize::MAX).eval().unwrap_err(), Error::Axis { axis: 3, rank: 3 });
    assert_eq!(t.view().reshape(&shape)?, t.view().reshape([6, 4])?);
    assert_eq!(t.view().reshape(&shape)?.shape(), shape);
    assert_eq!(t.get([1, 2, 3])?, t.get(vec![1, 2, 3])?);
    assert_eq!(pad(&t, [(0, 0); 3], 0)?, pad(t.view(), [(0, 0); 3], 0)?);
    Ok(())
}

/// A stretch repeats extents of 1 and missing axes, at either end, and nothing else.
#[test]
fn stretched_views_repeat() -> Result<()> {
    let t = Tensor::from_vec([2, 1], vec![1, 2])?;
    assert_eq!(t.view().stretch([2, 3], Align::Right)?.to_vec()?, [1, 1, 1, 2, 2, 2]);
    assert_eq!(t.view().stretch([2, 2, 2], Align::Right)?.to_vec()?, [1, 1, 2, 2, 1, 1, 2, 2]);
    assert_eq!(t.view().stretch([2, 2, 2], Align::Left)?.to_vec()?, [1, 1, 1, 1, 2, 2, 2, 2]);
    assert_eq!(t.view().stretch([2, 0], Align::Right)?.shape(), [2, 0]);
    assert_eq!((&t + 1).stretch([2, 2], Align::Right)?.to_vec()?, [2, 2, 3, 3]);
    assert!(matches!(t.view().stretch([4, 1], Align::Right), Err(Error::Stretch { .. })));
    Ok(())
}

/// Expressions and operations are compared as tensors are.
#[test]
fn all_operands_are_compared() -> Result<()> {
    let t = cube().cast::<f64>().eval()?;
    let (twice, sums) = (&t * 2.0, t.sum(0));
    assert!(twice.try_equal(&t + &t)? && twice.all_close(&t + &t, 0.0, 0.0)?);
    assert!(
        !twice.try_equal(&t)? && !twice.try_equal(t.sum(0))? && !twice.all_close(&t, 0.1, 0.1)?
    );
    assert!(
        sums.try_equal(&sums.eval()?)?
            && sums.view().flip(0)?.try_equal(sums.eval()?.flip(0)?.lazy())?
    );
    let odd = Tensor::from(vec![1.0, 2.0, 3.0]);
    assert!(matches!(sums.all_close(&odd, 0.0, 0.0), Err(Error::Operands { .. })));
    let failing = Tensor::from(vec![1, 0]).lazy();
    let failing = Tensor::from(vec![1, 1]).lazy() / failing;
    assert!(matches!(failing.try_equal(failing.view()), Err(Error::Arithmetic { .. })));
    Ok(())
}

/// Calls of gufuncs are operands like all others.
#[test]
fn calls_have_views_and_products() -> Result<()> {
    let t = cube().cast::<f64>().eval()?;
    let products = inner1d().call([&t, &t]);
    let kept = products.clone().eval()?[0].clone();
    assert_eq!(products.shape()?, [2, 3]);
    assert_eq!(products.clone().transpose([1, 0])?.eval()?, kept.view().transpose([1, 0])?);
    assert_eq!(
        products.clone().matmul(kept.view().transpose([1, 0])?).eval()?,
        kept.matmul(kept.view().transpose([1, 0])?).eval()?
    );
    assert_eq!(
        products.clone().gradient([1.0, 1.0], lensor::stencil::EdgeOrder::First).eval()?.shape(),
        [2, 3, 2]
    );
    assert!(products.to_string().ends_with("not computed yet: `.eval()?` computes it"));
    assert!(det::<f64>().call([&t]).to_string().contains("without a result"));
    Ok(())
}

/// Maps take what tensors take.
#[test]
fn maps_take_lists_of_any_kind() -> Result<()> {
    let shape = Shape::from([2, 3]);
    let map = AddressMap::row_major([2, 3])?;
    assert_eq!(AddressMap::row_major(&shape)?, map);
    assert_eq!(AddressMap::row_major(vec![2, 3])?, map);
    assert_eq!(AddressMap::row_major(shape.clone())?, map);
    assert_eq!(AddressMap::row_major(6)?, map.clone().reshape(6)?);
    assert_eq!(AddressMap::from_strides(&shape, 0, vec![3, 1])?, map);
    assert_eq!(AddressMap::from(Layout::row_major([2, 3])?), map);
    assert_eq!(Layout::row_major(&shape)?.to_local(&[1, 2][..])?, 5);
    for address in 0..6 {
        let index = shape.index_at(address).unwrap();
        let list = index.to_vec();
        assert_eq!((map.to_local(index)?, map.to_local(list)?), (address, address));
    }
    let tall = map.clone().stretch([4, 2, 3], Align::Right)?;
    assert_eq!(map.clone().stretch(Shape::from([4, 2, 3]), Align::Right)?, tall);
    assert_eq!(tall.to_local([3, 1, 2])?, 5);
    let mask = [true, false, true];
    let taken = map.clone().compress(1, mask)?;
    let operand = Tensor::from(mask.to_vec());
    assert_eq!(map.clone().compress(1, &operand)?, taken);
    assert_eq!(map.clone().compress(1, mask.into_mask()?)?, taken);
    assert_eq!(map.clone().select((.., [0, 2]))?, taken);
    let t = Tensor::with_map(map.clone(), (0..6).collect::<Vec<_>>())?;
    assert_eq!(t.view().compress(1, mask.into_mask()?)?.to_vec()?, [0, 2, 3, 5]);
    let counts = vec![2, 0, 1];
    let repeated = map.clone().repeat(1, [2, 0, 1])?;
    assert_eq!(map.clone().repeat(1, &counts)?, repeated);
    assert_eq!(map.clone().repeat(1, &counts[..])?, repeated);
    assert_eq!(map.clone().select((.., [0, 0, 2]))?, repeated);
    assert_eq!(map.clone().repeat(0, 2)?.shape(), [4, 3]);
    let error = Error::ListLength { what: "counts", axis: 1, extent: 3, found: 1 };
    assert_eq!(map.repeat(1, vec![1]), Err(error));
    Ok(())
}

/// Everything that has views has its axes reversed, at any rank.
#[test]
fn axes_are_reversed() -> Result<()> {
    let t = cube();
    let turned = t.view().transpose([2, 1, 0])?.to_vec()?;
    assert_eq!(t.view().reverse_axes()?.shape(), [4, 3, 2]);
    assert_eq!(t.view().reverse_axes()?.to_vec()?, turned);
    assert_eq!((&t + 0).reverse_axes()?.to_vec()?, turned);
    assert_eq!(t.cumsum(0).reverse_axes()?.shape()?, [4, 3, 2]);
    let products = inner1d().call([&t, &t]);
    assert_eq!(products.view().reverse_axes()?.shape()?, [3, 2]);
    assert_eq!(
        products.reverse_axes()?.reverse_axes()?.to_vec()?,
        inner1d().call([&t, &t]).to_vec()?
    );
    assert_eq!(t.sum(..).reverse_axes()?.shape()?.rank(), 0);
    let refused = (&t + Tensor::full([5], 1)?).reverse_axes().map(drop);
    assert!(matches!(refused, Err(Error::Operands { .. })));
    assert_eq!(t.sum(3).reverse_axes().map(drop), Err(Error::Axis { axis: 3, rank: 3 }));
    Ok(())
}
