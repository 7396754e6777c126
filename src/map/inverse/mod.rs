//! The inverse of a map: which indexes read a given address.
//!
//! All ways to reach an address are found at once where they are few, see [`boxes`]. Where they are
//! many, one stage is searched index by index, see [`search`], and several stages are scanned. All three
//! give the same indexes in the same order, and none keeps more of them than a bound or digits than a table has.

mod boxes;
mod search;

use super::AddressMap;
use crate::shape::Index;
pub(crate) use boxes::Finder;
use boxes::{Boxes, KEPT};
use search::Search;

/// Indexes of a view that read one address, ascending. See [`AddressMap::to_global`].
#[derive(Debug, Clone)]
pub struct Globals(Lookup);

#[derive(Debug, Clone)]
enum Lookup {
    Boxes(Boxes),
    Search(Search),
    Scan(Scan),
}

impl Globals {
    pub(super) fn new(map: &AddressMap, address: usize) -> Self {
        let few = positions(map, address);
        Self(match few.and_then(|positions| Boxes::new(&map.top, &positions)) {
            Some(boxes) => Lookup::Boxes(boxes),
            None if map.rest.is_none() => Lookup::Search(Search::new(&map.top, address)),
            None => Lookup::Scan(Scan { map: map.clone(), address, next: 0 }),
        })
    }
}

/// Addresses of the top stage that lead to `address` through the stages below; `None` if too many.
fn positions(map: &AddressMap, address: usize) -> Option<Vec<usize>> {
    let mut positions = vec![address];
    for stage in map.rest() {
        let shape = stage.shape();
        let indexes = Boxes::new(stage, &positions)?;
        positions = indexes.map(|index| shape.ravel(&index)).take(KEPT + 1).collect();
        if positions.len() > KEPT {
            return None;
        }
    }
    Some(positions)
}

impl Iterator for Globals {
    type Item = Index;

    fn next(&mut self) -> Option<Index> {
        match &mut self.0 {
            Lookup::Boxes(boxes) => boxes.next(),
            Lookup::Search(search) => search.next(),
            Lookup::Scan(scan) => scan.next(),
        }
    }
}

/// Tries all indexes one after another.
#[derive(Debug, Clone)]
struct Scan {
    map: AddressMap,
    address: usize,
    /// Row-major position of the index to try next.
    next: usize,
}

impl Iterator for Scan {
    type Item = Index;

    fn next(&mut self) -> Option<Index> {
        let found = (self.next..self.map.count())
            .find(|&position| self.map.address_at(position) == self.address);
        self.next = found.map_or(self.map.count(), |position| position + 1);
        found.map(|position| self.map.shape().unravel(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::table::Table;
    use crate::map::{AxisMap, Layout, Pattern};

    /// Layouts of rank up to 3 with all mixtures of overlapping, repeated, falling and cyclic axes.
    fn layouts() -> Vec<Layout> {
        let mut axes = Vec::new();
        for stride in [-3, -1, 0, 1, 2, 4, 6] {
            axes.extend([AxisMap::linear(1, stride), AxisMap::linear(3, stride)]);
            let pattern = Pattern::Cyclic { period: 3, shift: 2, step: 1 };
            axes.push(AxisMap { extent: 4, stride, pattern });
            let listed = |positions: [usize; 4]| Pattern::Listed(Table::new(positions));
            axes.push(AxisMap { extent: 4, stride, pattern: listed([4, 0, 3, 0]) });
        }
        let mut layouts = vec![Layout::new(5, []), Layout::new(0, [AxisMap::linear(0, 1)])];
        for a in &axes {
            layouts.push(Layout::new(20, [a.clone()]));
            for b in &axes {
                layouts.push(Layout::new(20, [a.clone(), b.clone()]));
                let middle = AxisMap::linear(2, 3);
                layouts.push(Layout::new(20, [a.clone(), middle, b.clone()]));
            }
        }
        layouts.into_iter().flatten().collect()
    }

    /// The quick way, the search and the scan give the same indexes in the same order.
    #[test]
    fn all_methods_agree() {
        for layout in layouts() {
            let map = AddressMap::from(layout.clone());
            for address in 0..60 {
                let scan = Scan { map: map.clone(), address, next: 0 };
                let expected: Vec<Index> = scan.collect();
                let boxes = Boxes::new(&layout, &[address]).map(Iterator::collect);
                assert_eq!(boxes, Some(expected.clone()), "{layout:?} {address}");
                if map.count() > 0 {
                    let search: Vec<Index> = Search::new(&layout, address).collect();
                    assert_eq!(search, expected, "{layout:?} {address}");
                }
            }
        }
    }

    /// Where boxes are too many, or too hard to find, they are given up.
    #[test]
    fn boxes_are_bounded() {
        let side = KEPT + 1;
        let overlap = |strides: [isize; 2]| {
            Layout::new(0, strides.map(|stride| AxisMap::linear(side, stride))).unwrap()
        };
        assert!(Boxes::new(&overlap([1, 1]), &[side - 2]).is_some());
        assert!(Boxes::new(&overlap([1, 1]), &[side - 1]).is_none());
        assert!(Boxes::new(&overlap([1, 1]), &[side - 2, 0]).is_none());
    }
}
