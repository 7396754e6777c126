//! Span, injectivity, contiguity and strides against trying all indexes.

use super::support::{addresses, judges_injectivity, strides_of};
use lensor::AddressMap;
use lensor::arbitrary::Chain;
use lensor::map::{AxisMap, Layout, Pattern, Table};
use quickcheck::quickcheck;

quickcheck! {
    /// The span holds every address, and its ends are addresses if there is one link.
    fn span_is_exact_for_one_link_and_encloses_otherwise(chain: Chain) -> bool {
        let map = chain.map();
        let reached = addresses(&map);
        let (Some(&low), Some(&high)) = (reached.iter().min(), reached.iter().max()) else {
            return map.span() == (0..0);
        };
        let span = map.span();
        if map.stages().len() == 1 {
            return span == (low..high + 1);
        }
        span.start <= low && high < span.end && span.end <= chain.shape().count().unwrap()
    }

    /// A map is injective when no two indexes share an address; the axis is the first whose prefix is not.
    fn injectivity_is_that_of_trying_all(chain: Chain) -> bool {
        judges_injectivity(&chain.map())
    }

    /// The same for layouts of any strides and walks.
    fn injectivity_of_layouts_is_that_of_trying_all(layout: Layout) -> bool {
        judges_injectivity(&layout.into())
    }

    /// Contiguous means consecutive addresses; for one link in both directions.
    fn contiguous_means_consecutive(chain: Chain) -> bool {
        let map = chain.map();
        let reached = addresses(&map);
        let consecutive = reached.windows(2).all(|pair| pair[1] == pair[0] + 1);
        if map.stages().len() == 1 {
            map.is_contiguous() == consecutive
        } else {
            !map.is_contiguous() || consecutive
        }
    }

    /// Strides are given when they explain all addresses; for one link exactly then.
    fn strided_means_explained_by_strides(chain: Chain) -> bool {
        let map = chain.map();
        let found = map.as_strided().map(|strided| (strided.offset, strided.strides));
        match strides_of(&map) {
            _ if map.count() == 0 => found == Some((0, vec![0; map.rank()])),
            expected if map.stages().len() == 1 => found == expected,
            expected => found.is_none() || found == expected,
        }
    }
}

/// All layouts of three axes with small strides: many overlap, and of those many are injective all the same.
#[test]
fn injectivity_of_three_axes_is_that_of_trying_all() {
    let linear = |most: usize| {
        let axes = move |extent| (1..=9).map(move |stride| AxisMap::linear(extent, stride));
        (2..=most).flat_map(axes).collect::<Vec<_>>()
    };
    let mut odd = linear(4);
    for stride in [1, 2, 3, -2] {
        for (extent, period, step) in
            [(3, 5, 2), (4, 5, 2), (5, 5, 2), (4, 7, 2), (5, 10, 3), (4, 11, 4)]
        {
            let walk = Pattern::Cyclic { period, shift: 1, step };
            odd.push(AxisMap { extent, stride, pattern: walk });
        }
        for positions in [[0, 1, 4, 6], [0, 5, 6, 8], [7, 0, 1, 3]] {
            odd.push(AxisMap {
                extent: 4,
                stride,
                pattern: Pattern::Listed(Table::new(positions)),
            });
        }
    }
    for a in &odd {
        for b in &linear(3) {
            for c in &linear(2) {
                let axes = [a.clone(), b.clone(), c.clone()];
                let map = AddressMap::from(Layout::new(30, axes).unwrap());
                assert!(judges_injectivity(&map), "{map:?}");
            }
        }
    }
}

/// The axis that is named is the right one for maps of several links too.
#[test]
fn injectivity_of_several_links_is_that_of_trying_all() {
    let flat = AddressMap::row_major([4, 6]).unwrap().transpose([1, 0]).unwrap();
    let linked = flat.reshape([8, 3]).unwrap();
    assert!(linked.stages().len() > 1);
    let mut maps = vec![linked.clone()];
    for to in [[16, 3], [8, 6], [16, 6]] {
        maps.push(linked.clone().broadcast(to).unwrap());
    }
    for axis in [0, 1] {
        maps.push(linked.clone().windows(axis, 2).unwrap());
        maps.push(linked.clone().windows(axis, 2).unwrap().slice(axis, 0..1).unwrap());
    }
    maps.push(linked.clone().broadcast([2, 8, 3]).unwrap());
    maps.push(linked.clone().select((lensor::Select::All, [2, 0, 2])).unwrap());
    maps.push(linked.select(([7, 1, 1],)).unwrap());
    for map in maps {
        assert!(judges_injectivity(&map), "{map:?}");
    }
}

/// Axes of extent 1 take no search of their own.
#[test]
fn axes_of_one_index_are_not_tried() {
    let map = AddressMap::row_major([1 << 9, 1 << 9]).unwrap().transpose([1, 0]).unwrap();
    let mut map = map.reshape([1 << 18]).unwrap();
    for _ in 0..63 {
        map = map.insert_axis(1).unwrap();
    }
    let mut shape = vec![1; 64];
    (shape[0], shape[63]) = (1 << 18, 2);
    let found = map.broadcast(shape).unwrap().check_injective();
    assert_eq!(found, Err(lensor::Error::NotInjective { axis: 63 }));
}
