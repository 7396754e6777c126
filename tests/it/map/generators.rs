//! Laws of the generators that the other laws rely on.

use super::support::{addresses, oracle};
use crate::model::Model;
use lensor::AddressMap;
use lensor::Shape;
use lensor::arbitrary::{Chain, ViewOp};
use lensor::map::{AxisMap, Layout, Pattern};
use quickcheck::{Arbitrary, Gen, quickcheck};
use std::collections::BTreeSet;

quickcheck! {
    /// `arbitrary_for` makes operations that both the model and the library accept.
    fn a_generated_operation_is_valid(map: AddressMap, seed: u64) -> bool {
        let shape = map.shape();
        let operation = ViewOp::arbitrary_for(&mut Gen::from_size_and_seed(20, seed), &shape);
        let expected = Model::addresses(&shape).apply(&operation).map(|model| model.shape);
        let found = operation.apply(map).map(|map| map.shape().to_vec());
        expected == Ok(found.unwrap())
    }

    /// What a chain shrinks to is a valid chain and no larger.
    fn a_chain_shrinks_to_valid_chains(chain: Chain) -> bool {
        chain.shrink().take(50).all(|smaller| {
            addresses(&smaller.map()) == oracle(&smaller).data
                && smaller.ops().len() <= chain.ops().len()
        })
    }

    /// What a layout or a map shrinks to has no more indexes than it had.
    fn shrinking_never_adds_indexes(layout: Layout, map: AddressMap) -> bool {
        let volume = |shape: Shape| shape.iter().map(|&e| e.max(1)).product::<usize>();
        layout.shrink().all(|smaller| volume(smaller.shape()) <= volume(layout.shape()))
            && map.shrink().all(|s| s.stages().len() < map.stages().len()
                || volume(s.shape()) <= volume(map.shape()))
    }
}

/// Shapes that nobody could visit are no reason to try.
#[test]
fn huge_shapes_have_chains_too() {
    let mut g = Gen::from_size_and_seed(100, 7);
    let most = isize::MAX as usize;
    for shape in [vec![1 << 40], vec![3, 1 << 20, 1 << 20], vec![most], vec![1, most], vec![1; 64]]
    {
        let shape = Shape::from(shape);
        for _ in 0..500 {
            let chain = Chain::arbitrary_for(&mut g, shape.clone()).unwrap();
            assert_eq!(chain.shape(), &shape);
            let chain = Chain::arbitrary_to(&mut g, &shape);
            assert_eq!(chain.map().shape(), shape);
        }
    }
    let many = Shape::from(vec![1; 65]);
    assert!(Chain::arbitrary_for(&mut g, many.clone()).is_err());
    let refused = std::panic::catch_unwind(move || Chain::arbitrary_to(&mut g, &many));
    let text = *refused.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("65"), "{text}");
}

/// The ugly cases the generators promise do come.
#[test]
fn generators_make_the_ugly_cases_often() {
    let mut g = Gen::from_size_and_seed(100, 7);
    let maps: Vec<AddressMap> = (0..2000).map(|_| AddressMap::arbitrary(&mut g)).collect();
    let layouts: Vec<Layout> = (0..2000).map(|_| Layout::arbitrary(&mut g)).collect();
    let axes = || layouts.iter().flat_map(|layout| layout.axes().collect::<Vec<_>>());
    let often = |what: &str, count: usize| assert!(count >= 20, "{what}: {count} of 2000");

    often("rank 0", maps.iter().filter(|map| map.rank() == 0).count());
    often("empty", maps.iter().filter(|map| map.count() == 0).count());
    often("extent 1", maps.iter().filter(|map| map.shape().contains(&1)).count());
    often("two links", maps.iter().filter(|map| map.stages().len() > 1).count());
    often("three links", 4 * maps.iter().filter(|map| map.stages().len() > 2).count());
    often("overlap", maps.iter().filter(|map| !map.is_injective()).count());
    often("injective", maps.iter().filter(|m| m.count() > 1 && m.is_injective()).count());
    often("stride 0", axes().filter(|axis| axis.extent > 1 && axis.stride == 0).count());
    often("falling", axes().filter(|axis| axis.stride < 0).count());
    let cyclic = |axis: &AxisMap, with: fn(usize) -> bool| match axis.pattern {
        Pattern::Cyclic { step, .. } => with(step),
        _ => false,
    };
    often("cycles", axes().filter(|axis| cyclic(axis, |step| step == 1)).count());
    often("cycles with steps", axes().filter(|axis| cyclic(axis, |step| step > 1)).count());
    let repeats = |axis: &AxisMap| match &axis.pattern {
        Pattern::Listed(table) => {
            let distinct: BTreeSet<_> = table.positions().iter().collect();
            distinct.len() < table.positions().len()
        }
        _ => false,
    };
    often("repeated entries", axes().filter(repeats).count());
    for map in &maps {
        assert!(map.count() <= lensor::arbitrary::MAX_COUNT, "{map:?}");
        assert!(map.rank() <= lensor::arbitrary::MAX_RANK, "{map:?}");
    }
}
