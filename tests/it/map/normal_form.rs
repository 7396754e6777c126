//! Equal functions are equal values.

use super::support::{addresses, contribution, hash, inverts, judges_injectivity, rebuilt};
use crate::model::all_indexes;
use lensor::AddressMap;
use lensor::arbitrary::Chain;
use lensor::map::{AxisMap, Layout, Pattern, Table};
use quickcheck::{TestResult, quickcheck};
use std::collections::HashMap;

quickcheck! {
    /// A layout maps every index as the axes it was made of say.
    fn layout_is_a_sum_of_terms(layout: Layout) -> bool {
        let axes: Vec<AxisMap> = layout.axes().collect();
        all_indexes(&layout.shape()).iter().all(|index| {
            let terms: i128 = axes.iter().zip(index).map(|(a, &i)| contribution(a, i)).sum();
            layout.to_local(index).unwrap() as i128 == layout.offset() as i128 + terms
        })
    }

    /// Normal form is a fixed point: making a layout of its own axes changes nothing.
    fn normal_form_is_a_fixed_point(layout: Layout) -> bool {
        Layout::new(layout.offset() as isize, layout.axes()).unwrap() == layout
    }

    /// Equal functions are equal layouts: one link is fixed by its addresses, however it came about.
    fn one_link_is_fixed_by_its_addresses(chain: Chain) -> TestResult {
        let map = chain.map();
        if map.stages().len() > 1 {
            return TestResult::discard();
        }
        let rebuilt = AddressMap::from(rebuilt(&map));
        TestResult::from_bool(map == rebuilt && hash(&map) == hash(&rebuilt))
    }

    /// The same for layouts of any strides and walks.
    fn any_layout_is_fixed_by_its_addresses(layout: Layout) -> bool {
        let rebuilt = rebuilt(&layout.clone().into());
        layout == rebuilt && hash(&layout) == hash(&rebuilt)
    }

    /// Equal maps are equal functions with equal hashes.
    fn equality_is_sound(a: Chain, b: Chain) -> bool {
        let (a, b) = (a.map(), b.map());
        let same_function = a.shape() == b.shape() && addresses(&a) == addresses(&b);
        (a != b || (same_function && hash(&a) == hash(&b)))
            && (a == b || !same_function || a.stages().len() + b.stages().len() > 2)
    }

    /// An empty view has one link and the form of an empty row-major tensor, whatever led to it.
    fn empty_views_are_all_alike(chain: Chain) -> bool {
        let map = chain.map();
        map.count() > 0 || map == AddressMap::row_major(map.shape()).unwrap()
    }
}

/// Every axis of extent up to `most` and small numbers.
fn small_axes(most: usize, strides: std::ops::RangeInclusive<isize>) -> Vec<AxisMap> {
    let mut axes = Vec::new();
    for extent in 0..=most {
        for stride in strides.clone() {
            axes.push(AxisMap::linear(extent, stride));
        }
    }
    axes
}

fn small_cycles(most: usize, strides: &[isize], periods: usize) -> Vec<AxisMap> {
    let mut axes = Vec::new();
    for extent in 0..=most {
        for &stride in strides {
            for period in 1..=periods {
                for shift in 0..period {
                    for step in 0..period {
                        let walk = Pattern::Cyclic { period, shift, step };
                        axes.push(AxisMap { extent, stride, pattern: walk });
                    }
                }
            }
        }
    }
    axes
}

/// All pairs of axes, placed where they just fit.
fn layouts_of(axes: &[AxisMap], others: &[AxisMap]) -> Vec<Layout> {
    let mut layouts = Vec::new();
    for a in axes {
        layouts.push(placed([a]));
        layouts.extend(others.iter().map(|b| placed([a, b])));
    }
    layouts
}

/// Axes placed where they just fit, whose normal form has the addresses of what was given.
fn placed<const R: usize>(axes: [&AxisMap; R]) -> Layout {
    let digits = |axis: &AxisMap| -> Vec<_> {
        (0..axis.extent).map(|digit| contribution(axis, digit)).collect()
    };
    let offset = -axes.iter().filter_map(|axis| digits(axis).into_iter().min()).sum::<i128>();
    let layout = Layout::new(offset as isize, axes.map(AxisMap::clone)).unwrap();
    let expected = axes.iter().fold(vec![offset], |sums, axis| {
        sums.iter().flat_map(|sum| digits(axis).into_iter().map(move |own| sum + own)).collect()
    });
    let found = addresses(&AddressMap::from(layout.clone()));
    assert!(found.iter().map(|&address| address as i128).eq(expected), "{axes:?}: {found:?}");
    layout
}

/// Holds all laws of single layouts on each, and equality against equality of functions.
#[allow(clippy::mutable_key_type, reason = "the lazy inverse takes no part in hash and equality")]
fn check_exhaustively(layouts: &[Layout]) {
    let mut forms: HashMap<(Vec<usize>, Vec<usize>), &Layout> = HashMap::new();
    let mut functions: HashMap<&Layout, Vec<usize>> = HashMap::new();
    for layout in layouts {
        let map = AddressMap::from(layout.clone());
        let function = addresses(&map);
        let form = forms.entry((map.shape().to_vec(), function.clone())).or_insert(layout);
        assert_eq!(*form, layout, "one function, two forms");
        assert_eq!(functions.entry(layout).or_insert_with(|| function.clone()), &function);
        assert!(inverts(&map), "{map:?}");
        for axis in layout.axes().filter(|axis| axis.pattern != Pattern::Linear) {
            assert!((0..axis.extent).any(|digit| contribution(&axis, digit) == 0), "{axis:?}");
        }
        assert!(judges_injectivity(&map), "{map:?}: {:?}", map.check_injective());
        let span = match (function.iter().min(), function.iter().max()) {
            (Some(&low), Some(&high)) => low..high + 1,
            _ => 0..0,
        };
        assert_eq!(map.span(), span, "{map:?}");
        let consecutive = function.iter().zip(function.iter().skip(1)).all(|(a, b)| a + 1 == *b);
        assert_eq!(map.is_contiguous(), consecutive, "{map:?}");
    }
}

/// All layouts of two linear axes, extents up to 4 and strides from -3 to 3.
#[test]
fn all_small_linear_layouts_keep_every_law() {
    let axes = small_axes(4, -3..=3);
    check_exhaustively(&layouts_of(&axes, &axes));
}

/// All layouts of a small cycle alone, next to and around a linear axis.
#[test]
fn all_small_cyclic_layouts_keep_every_law() {
    let cycles = small_cycles(4, &[-2, 1, 3], 4);
    let linear = small_axes(3, -2..=2);
    check_exhaustively(&layouts_of(&cycles, &linear));
    check_exhaustively(&layouts_of(&linear, &cycles));
}

/// All layouts of two small cycles.
#[test]
fn all_pairs_of_small_cycles_keep_every_law() {
    let mut cycles = small_cycles(3, &[1, -2], 4);
    cycles.retain(|axis| axis.extent == 3);
    check_exhaustively(&layouts_of(&cycles, &cycles));
}

fn small_tables(most: u32, stride: impl Fn(usize) -> isize) -> Vec<AxisMap> {
    let mut tables = Vec::new();
    for extent in 1..=most {
        for code in 0..4_usize.pow(extent) {
            let positions: Vec<usize> = (0..extent).map(|k| code / 4_usize.pow(k) % 4).collect();
            let walk = Pattern::Listed(Table::new(positions));
            tables.push(AxisMap { extent: extent as usize, stride: stride(code), pattern: walk });
        }
    }
    tables
}

/// All layouts of a short table next to a linear axis.
#[test]
fn all_small_listed_layouts_keep_every_law() {
    let tables = small_tables(4, |code| 1 - 3 * (code as isize % 2));
    check_exhaustively(&layouts_of(&tables, &small_axes(2, -2..=2)));
}

/// Normal forms of single axes, longer ones: one for each function, whatever it is made of.
#[test]
fn all_small_axes_have_one_form() {
    let mut axes = small_axes(6, -2..=3);
    axes.extend(small_cycles(6, &[-2, -1, 0, 1, 3], 6));
    axes.extend([-1, 2].map(|stride| small_tables(5, |_| stride)).concat());
    check_exhaustively(&layouts_of(&axes, &[]));
}

/// A stage that is merged to fewer axes by what comes above it may merge with the one below it then.
#[test]
fn stages_below_a_new_one_merge() {
    let map =
        AddressMap::row_major([2]).unwrap().broadcast([6]).unwrap().reshape([1, 3, 2]).unwrap();
    let map = map.broadcast([1, 2, 2, 3, 2]).unwrap().diagonal(0, 2).unwrap();
    let map = map.reshape([3, 4, 1]).unwrap();
    assert_eq!(map.stages().count(), 2, "{map:?}");
    assert_eq!(addresses(&map), [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    assert_eq!(AddressMap::from_stages(map.stages().cloned().collect::<Vec<_>>()).unwrap(), map);
}

/// So do those below a stage that is added for an axis that strides cannot express.
#[test]
fn stages_below_a_stage_of_windows_merge() {
    let map = AddressMap::row_major([6, 5]).unwrap().rotate([1, 0]).unwrap();
    let map = map.reshape([2, 3, 5]).unwrap().rotate([0, 0, 1]).unwrap().windows(2, 2).unwrap();
    assert_eq!(map.stages().count(), 2, "{map:?}");
    assert_eq!(AddressMap::from_stages(map.stages().cloned().collect::<Vec<_>>()).unwrap(), map);
}
