//! Maps at the limits: sizes that overflow, views of 2^40 elements, chains of a million operations.
//!
//! What could hang, abort or overflow the stack runs in a child process with a limit on its memory
//! and time, so that a failure is one failed test.
//!
//! Longer than 400 lines because it is one table of limits; each test stands alone.

use crate::support::{MILLION, test_name};
use lensor::map::{AxisMap, Layout, Pattern};
use lensor::{AddressMap, Error, Select, Shape};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// 2^40, or 2^24 where words have 32 bits, and its square root.
const LARGE: usize = SIDE * SIDE;
const SIDE: usize = 1 << (usize::BITS / 4 + 4);
/// Half of the bits of a `usize`, and the first number that does not fit in `isize`.
const HALF: usize = 1 << (usize::BITS / 2);
const BEYOND: usize = 1 << (usize::BITS - 1);

fn row_major<const N: usize>(extents: [usize; N]) -> AddressMap {
    AddressMap::row_major(extents).unwrap()
}

/// Runs `body` in a process of its own: the test `test`, once more.
#[track_caller]
fn in_child(test: &str, body: impl FnOnce()) {
    const MARK: &str = "LENSOR_TEST_CHILD";
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let limited = "ulimit -v 4000000; ulimit -c 0; exec \"$0\" \"$@\"";
    let mut child = Command::new("sh")
        .args(["-c", limited])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test_name(module_path!(), test), "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{test} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{test}: {status}");
}

/// Runs `body` with a stack that recursion over a long chain would overflow.
fn on_small_stack(body: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(body).unwrap().join().unwrap();
}

// Sizes.

#[test]
fn products_that_wrap_are_refused() {
    for shape in [
        vec![HALF, HALF],
        vec![BEYOND + 2, 2],
        vec![1 << (usize::BITS / 8); 8],
        vec![usize::MAX],
        vec![usize::MAX; 9],
        vec![BEYOND],
        vec![3, BEYOND / 2],
    ] {
        let shape = Shape::from(shape);
        let error = Error::ShapeOverflow { shape: shape.to_vec() };
        assert_eq!(shape.count(), Err(error.clone()));
        assert_eq!(AddressMap::row_major(&shape), Err(error));
    }
    assert_eq!(Shape::from([isize::MAX as usize]).count(), Ok(isize::MAX as usize));
    assert_eq!(Shape::from([HALF / 2, HALF / 2]).count(), Ok(BEYOND / 2));
}

#[test]
fn zero_does_not_hide_an_overflow() {
    for shape in [[HALF, 0, HALF], [0, BEYOND, 2], [BEYOND, 0, 1], [usize::MAX, 0, 0]] {
        let error = Error::ShapeOverflow { shape: shape.to_vec() };
        assert_eq!(Shape::from(shape).count(), Err(error.clone()));
        assert_eq!(AddressMap::row_major(shape), Err(error.clone()));
        assert_eq!(row_major([0]).reshape(shape), Err(error));
    }
}

/// Where the nonzero extents fit, every operation works on the empty view.
#[test]
fn empty_views_with_huge_axes_take_every_operation() {
    let huge = BEYOND / 4;
    let map = || row_major([huge, 0, 3]);
    assert_eq!(map().count(), 0);
    assert_eq!(map().span(), 0..0);
    assert!(map().is_contiguous() && map().is_injective());
    assert_eq!(map().to_global(0).next(), None);
    assert_eq!(map().transpose([2, 1, 0]).unwrap().shape(), [3, 0, huge]);
    assert_eq!(map().rotate([1, isize::MIN, isize::MAX]), Ok(map()));
    assert_eq!(map().flip(0), Ok(map()));
    assert_eq!(map().flip(1), Ok(map()));
    assert_eq!(map().broadcast([1, huge, 0, 3]).unwrap().rank(), 4);
    assert_eq!(map().reshape([0]), Ok(row_major([0])));
    assert_eq!(map().diagonal(0, 2), Ok(row_major([0, 3])));
    assert_eq!(map().select((huge - 1, .., [0, 0])), Ok(row_major([0, 2])));
    assert_eq!(map().slice(0, 5..9), Ok(row_major([4, 0, 3])));
    assert_eq!(map().merge_axes(0..2), Ok(row_major([0, 3])));
    assert_eq!(map().insert_axis(3).unwrap().remove_axis(3), Ok(map()));
    assert_eq!(map().windows(2, 3).unwrap().shape(), [huge, 0, 1, 3]);
    assert_eq!(map().windows(2, 2), Err(Error::ShapeOverflow { shape: vec![huge, 0, 2, 2] }));
    assert!(map().split_axis(0, [HALF / 4, HALF / 2]).is_ok());
}

/// An empty layout reaches no address, so no stride is too large for it.
#[test]
fn an_empty_layout_has_no_address_to_overflow() {
    let empty = Layout::row_major([0, 3]).unwrap();
    for stride in [isize::MIN, -1, 1, isize::MAX] {
        for offset in [isize::MIN, -1, 0, isize::MAX] {
            let axes = [AxisMap::linear(0, stride), AxisMap::linear(3, stride)];
            assert_eq!(Layout::new(offset, axes), Ok(empty.clone()), "{offset} {stride}");
        }
    }
}

#[test]
fn extreme_offsets_and_strides_are_decided_exactly() {
    let max = isize::MAX;
    let linear = AxisMap::linear;
    // The last address that fits is `isize::MAX - 1`, as a span ends one past it.
    assert_eq!(Layout::new(max - 1, []).unwrap().span(), max as usize - 1..max as usize);
    assert_eq!(
        Layout::new(max, []),
        Err(Error::AddressOverflow { address: max as i128, shape: vec![] })
    );
    assert_eq!(
        Layout::new(isize::MIN, []),
        Err(Error::NegativeAddress { lowest: isize::MIN, offset: isize::MIN, shape: vec![] })
    );
    let falling = Layout::new(max - 1, [linear(2, 1 - max)]).unwrap();
    assert_eq!(falling.to_local([1]), Ok(0));
    assert_eq!(falling.span(), 0..max as usize);
    let opposed = Layout::new(0, [linear(2, max - 1), linear(1, isize::MIN)]).unwrap();
    assert_eq!(opposed.to_local([1, 0]), Ok(max as usize - 1));
    assert!(Layout::new(0, [linear(2, isize::MIN)]).is_err());
    assert!(Layout::new(max, [linear(2, isize::MIN)]).is_err());
    assert!(Layout::new(0, [linear(2, max), linear(2, max)]).is_err());
    assert!(Layout::new(0, [linear(usize::MAX, 0)]).is_err());
    assert!(Layout::new(0, [linear(max as usize, 0)]).is_ok());
    assert!(Layout::new(0, [linear(max as usize, 2)]).is_err());
    assert!(Layout::new(0, [linear(max as usize, -1)]).is_err());
    // Extent 1 and 0 never move by their stride.
    assert!(Layout::new(7, [linear(1, isize::MIN), linear(1, max)]).is_ok());
}

#[test]
fn extreme_cycles_keep_their_addresses() {
    let period = isize::MAX as usize;
    let cycle = |extent, shift, step| AxisMap {
        extent,
        stride: 1,
        pattern: Pattern::Cyclic { period, shift, step },
    };
    let layout = Layout::new(0, [cycle(4, period - 2, 1)]).unwrap();
    let map = AddressMap::from(layout);
    let found: Vec<usize> = (0..4).map(|i| map.to_local([i]).unwrap()).collect();
    assert_eq!(found, [period - 2, period - 1, 0, 1]);
    assert_eq!(map.span(), 0..period);
    assert_eq!(map.to_global(0).next().unwrap().as_slice(), [2]);
    assert_eq!(map.to_global(5).next(), None);
    let back = AddressMap::from(Layout::new(0, [cycle(3, 1, period - 1)]).unwrap());
    assert_eq!(back.to_global(period - 1).next().unwrap().as_slice(), [2]);
    assert!(back.is_injective());
}

#[test]
fn rotation_by_any_number_is_modulo_the_extent() {
    for extent in [1, 2, 3, 7, 1 << 20, LARGE] {
        let map = || row_major([extent]);
        for shift in [isize::MIN, isize::MIN + 1, -1, 0, 1, isize::MAX - 1, isize::MAX] {
            let once = (shift as i128).rem_euclid(extent as i128) as isize;
            let rotated = map().rotate([shift]).unwrap();
            assert_eq!(rotated, map().rotate([once]).unwrap(), "{extent} {shift}");
            assert_eq!(rotated.to_local([once as usize]), Ok(0));
        }
    }
    assert_eq!(row_major([0]).rotate([isize::MIN]), Ok(row_major([0])));
    assert_eq!(row_major([2, 0]).rotate([1, 5]), Ok(row_major([2, 0])));
}

#[test]
fn ranges_with_extreme_steps_take_one() {
    for step in [isize::MIN, isize::MAX] {
        let taken = row_major([5]).select([Select::every(step)]).unwrap();
        assert_eq!(taken.shape(), [1]);
        assert_eq!(taken.to_local([0]), Ok(if step < 0 { 4 } else { 0 }));
        let rotated = row_major([5]).rotate([1]).unwrap().select([Select::every(step)]).unwrap();
        assert_eq!(rotated.to_local([0]), Ok(if step < 0 { 3 } else { 4 }));
    }
}

// Reshape.

#[test]
fn reshape_follows_the_view_not_the_memory() {
    let turned = row_major([2, 3]).transpose([1, 0]).unwrap();
    let flat = turned.reshape([6]).unwrap();
    let found: Vec<usize> = (0..6).map(|i| flat.to_local([i]).unwrap()).collect();
    assert_eq!(found, [0, 3, 1, 4, 2, 5]);
}

#[test]
fn ranks_beyond_the_inline_limit_work() {
    const RANK: usize = LARGE.ilog2() as usize;
    let wide = row_major([2; RANK]);
    assert_eq!(wide.count(), LARGE);
    let order: Vec<usize> = (0..RANK).rev().collect();
    let turned = wide.clone().transpose(&order).unwrap();
    assert_eq!(turned.to_local([1; RANK]), Ok(LARGE - 1));
    assert_eq!(turned.to_global(1).next().unwrap()[0], 1);
    assert_eq!(turned.clone().reshape([LARGE]).unwrap().reshape([2; RANK]), Ok(turned));
    assert!(wide.is_injective());
    let ones = row_major([1; 64]);
    assert_eq!(ones.reshape(Shape::default()).unwrap().to_local([]), Ok(0));
}

#[test]
fn rank_0_takes_every_operation() {
    let scalar = || AddressMap::row_major(Shape::default()).unwrap();
    assert_eq!(scalar().to_local([]), Ok(0));
    assert_eq!(scalar().to_global(0).next().unwrap().len(), 0);
    assert_eq!(scalar().to_global(1).next(), None);
    assert_eq!(scalar().transpose([]), Ok(scalar()));
    assert_eq!(scalar().rotate([]), Ok(scalar()));
    assert_eq!(scalar().select([]), Ok(scalar()));
    assert_eq!(scalar().reshape([1, 1]), Ok(row_major([1, 1])));
    assert_eq!(scalar().reshape_infer([None]), Ok(row_major([1])));
    assert_eq!(scalar().insert_axis(0), Ok(row_major([1])));
    assert_eq!(scalar().merge_axes(0..0), Ok(row_major([1])));
    assert_eq!(scalar().broadcast([LARGE]).unwrap().span(), 0..1);
    assert!(scalar().is_contiguous() && scalar().is_injective());
}

// Views of 2^40 elements, or 2^24.

#[test]
fn large_views_are_as_cheap_as_small_ones() {
    in_child("large_views_are_as_cheap_as_small_ones", || {
        let side = SIDE;
        let map = || row_major([side, side]);
        assert_eq!(map().span(), 0..LARGE);
        let rotated = map().rotate([1, 1]).unwrap();
        assert_eq!(rotated.to_local([0, 0]), Ok(LARGE - 1));
        assert_eq!(rotated.to_global(LARGE - 1).next().unwrap().as_slice(), [0, 0]);
        assert!(rotated.is_injective());
        assert_eq!(rotated.clone().rotate([-1, -1]), Ok(map()));
        let flat = rotated.clone().reshape([LARGE]).unwrap();
        assert_eq!(flat.to_local([LARGE - 1]), Ok((side - 2) * side + side - 2));
        assert_eq!(flat.to_global(0).next().unwrap().as_slice(), [side + 1]);
        assert_eq!(flat.reshape([side, side]), Ok(rotated.clone()));
        let windows = map().windows(1, 3).unwrap();
        assert_eq!(windows.to_local([side - 1, side - 3, 2]), Ok(LARGE - 1));
        assert_eq!(windows.check_injective(), Err(Error::NotInjective { axis: 2 }));
        assert_eq!(windows.to_global(2).count(), 3);
        let repeated = row_major([2]).broadcast([LARGE]).unwrap();
        assert_eq!(repeated.span(), 0..2);
        assert_eq!(repeated.to_global(1).nth(5).unwrap().as_slice(), [11]);
        assert_eq!(repeated.check_injective(), Err(Error::NotInjective { axis: 0 }));
        let diagonal = map().diagonal(0, 1).unwrap();
        assert_eq!(diagonal.to_local([side - 1]), Ok(LARGE - 1));
        assert!(format!("{rotated:?}{repeated:?}").len() < 400);
        assert_eq!(
            map().select((Select::every(-1), side - 1)).unwrap().to_local([0]),
            Ok(LARGE - 1)
        );
    });
}

/// Part of a large cycle does not close, so rotating it once more takes a link and no table.
#[test]
fn a_large_open_cycle_rotates() {
    in_child("a_large_open_cycle_rotates", || {
        let open = row_major([LARGE]).rotate([2]).unwrap().slice(0, 0..LARGE - 1).unwrap();
        let again = open.clone().rotate([1]).unwrap();
        let n = LARGE - 1;
        for i in [0, 1, 2, 3, n - 1] {
            assert_eq!(again.to_local([i]), open.to_local([(i + n - 1) % n]));
        }
        assert_eq!(again.to_global(0).next().unwrap().as_slice(), [3]);
        assert_eq!(again.to_global(LARGE - 3).next(), None);
        assert!(again.is_injective());
        let back = again.rotate([-1]).unwrap();
        assert_eq!(back, open);
    });
}

/// The same for repeating it, also after another axis was repeated.
#[test]
fn a_large_open_cycle_repeats() {
    in_child("a_large_open_cycle_repeats", || {
        let half = LARGE / 2;
        let open = row_major([2, half]).rotate([0, 2]).unwrap().slice(1, 0..half - 1).unwrap();
        let n = half - 1;
        let repeated = open.clone().broadcast([2, 3 * n]).unwrap();
        for (i, j) in [(0, 0), (1, 1), (1, n - 1), (0, n), (1, 2 * n + 2), (0, 3 * n - 1)] {
            assert_eq!(repeated.to_local([i, j]), open.to_local([i, j % n]), "{i} {j}");
        }
        let both = open.clone().broadcast([4, 3 * n]).unwrap();
        for (i, j) in [(0, 0), (3, 1), (2, n - 1), (1, n), (3, 2 * n + 2), (2, 3 * n - 1)] {
            assert_eq!(both.to_local([i, j]), open.to_local([i % 2, j % n]), "{i} {j}");
        }
        assert_eq!(both.to_global(0).next().unwrap().as_slice(), [0, 2]);
    });
}

/// The diagonal of a large matrix has strides; that of two large cycles takes a link and no table.
#[test]
fn large_cycles_have_a_diagonal() {
    in_child("large_cycles_have_a_diagonal", || {
        let side = HALF / 2;
        let map = row_major([side, side]);
        let strided = map.clone().diagonal(0, 1).unwrap().as_strided().unwrap();
        assert_eq!((strided.offset, strided.strides), (0, vec![side as isize + 1]));
        let map = map.rotate([1, 2]).unwrap();
        let diagonal = map.clone().diagonal(0, 1).unwrap();
        for i in [0, 1, 2, side - 1] {
            assert_eq!(diagonal.to_local([i]), map.to_local([i, i]));
        }
    });
}

/// Windows over a large cycle take a link and no table.
#[test]
fn large_cycles_have_windows() {
    in_child("large_cycles_have_windows", || {
        let map = row_major([LARGE]).rotate([1]).unwrap();
        let windows = map.clone().windows(0, 3).unwrap();
        for (i, j) in [(0, 0), (0, 2), (1, 0), (LARGE - 3, 2)] {
            assert_eq!(windows.to_local([i, j]), map.to_local([i + j]));
        }
        assert_eq!(windows.to_global(LARGE - 1).count(), 1);
        assert_eq!(windows.to_global(2).count(), 3);
    });
}

/// Two links that could merge into a table only are not merged where the table would be large.
#[test]
fn merging_links_makes_no_large_table() {
    in_child("merging_links_makes_no_large_table", || {
        let half = LARGE / 2;
        let map = row_major([LARGE]).rotate([1]).unwrap().reshape([2, half]).unwrap();
        let turned = map.rotate([0, 1]).unwrap();
        let expected = turned.to_local([1, 0]);
        let row = turned.select((1,)).unwrap();
        assert_eq!(row.to_local([0]), expected);
    });
}

/// A set of more members than memory holds indexes is an error, not an abort.
#[cfg(feature = "roaring")]
#[test]
fn a_large_set_selects_or_is_refused() {
    in_child("a_large_set_selects_or_is_refused", || {
        let mut set = roaring::RoaringTreemap::new();
        set.insert_range(1..LARGE as u64 >> 10);
        let map = row_major([LARGE]).select((set.clone(),)).unwrap();
        assert_eq!(map.as_strided().map(|strided| strided.offset), Some(1));
        set.remove(7);
        match row_major([LARGE]).select((set,)) {
            Ok(map) => assert_eq!((map.to_local([5]), map.to_local([6])), (Ok(6), Ok(8))),
            Err(error) => assert!(matches!(error, Error::OutOfMemory { .. }), "{error}"),
        }
    });
}

/// Indexes are found as the iterator advances, also where very many share an address.
#[test]
fn the_inverse_of_large_windows_is_lazy() {
    in_child("the_inverse_of_large_windows_is_lazy", || {
        let window = HALF / 4;
        let windows = row_major([2 * window]).windows(0, window).unwrap();
        let first: Vec<_> = windows.to_global(window).take(2).map(|i| i.to_vec()).collect();
        assert_eq!(first, [[1, window - 1], [2, window - 2]]);
    });
}

/// The same through a link that repeats.
#[test]
fn the_inverse_through_large_repeats_is_lazy() {
    in_child("the_inverse_through_large_repeats_is_lazy", || {
        let side = SIDE;
        let map = row_major([3]).broadcast([3 * side * side]).unwrap();
        let square = map.reshape([3 * side, side]).unwrap();
        let first: Vec<_> = square.to_global(1).take(2).map(|i| i.to_vec()).collect();
        assert_eq!(first, [[0, 1], [0, 4]]);
    });
}

/// Strides with gaps, axes of stride 0 and cycles: every index found reads the address, and they rise.
#[test]
fn the_inverse_of_large_overlaps_is_exact() {
    in_child("the_inverse_of_large_overlaps_is_exact", || {
        let (n, linear) = (1 << (usize::BITS * 5 / 16), AxisMap::linear);
        let offset = 1 << (usize::BITS - 14);
        let cycle = AxisMap {
            extent: n,
            stride: -3,
            pattern: Pattern::Cyclic { period: n, shift: 5, step: 1 },
        };
        for axes in [
            vec![linear(n, 1), linear(n, 0), linear(n, 1)],
            vec![linear(n, 2), linear(n, 3)],
            vec![linear(n, -6), linear(n, 10), linear(4, 15)],
            vec![linear(4, 1), linear(n, -6), linear(n, 6), linear(3, 100)],
            vec![cycle, linear(n, 3), linear(2, 1)],
        ] {
            let map = AddressMap::from(Layout::new(offset as isize, axes).unwrap());
            for address in offset + n / 26..offset + n / 26 + 7 {
                let found: Vec<_> = map.to_global(address).take(3000).collect();
                assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{map:?}");
                assert!(found.iter().all(|index| map.to_local(index) == Ok(address)), "{map:?}");
            }
        }
        // Nothing leads to an odd address, however often the other axis repeats it.
        let axes = [linear(1 << (usize::BITS - 24), 0), linear(1 << 11, 4), linear(1 << 11, 6)];
        let even = AddressMap::from(Layout::new(0, axes).unwrap());
        assert_eq!(even.to_global(4001).next(), None);
        assert_eq!(even.to_global(4000).next().unwrap().as_slice(), [0, 1, 666]);
    });
}

/// The search for two indexes of one address keeps to its bound, whatever the walks. Words of 32 bits have no
/// axes on which it would be long.
#[cfg(target_pointer_width = "64")]
#[test]
fn injectivity_is_decided_in_bounded_time() {
    in_child("injectivity_is_decided_in_bounded_time", || {
        // Steps near the golden ratio spread 2^30 positions so evenly that no two are close.
        let period = 1_000_000_000_000_000_000;
        let walk = Pattern::Cyclic { period, shift: 0, step: 618_033_988_749_894_849 };
        let spread = AxisMap { extent: 1 << 30, stride: 1, pattern: walk };
        let map = AddressMap::from(Layout::new(0, [spread, AxisMap::linear(1000, 1)]).unwrap());
        let _ = map.check_injective();
    });
}

/// The last address of a cycle may be the last one there is, however far one position more would lead.
#[test]
fn a_cycle_may_end_at_the_last_address() {
    let last = isize::MAX as usize - 1;
    let walk = Pattern::Cyclic { period: 2, shift: 1, step: 1 };
    let cycle = AxisMap { extent: 3, stride: last as isize, pattern: walk };
    let map = AddressMap::from(Layout::new(0, [cycle]).unwrap());
    assert_eq!([0, 1, 2].map(|digit| map.to_local([digit]).unwrap()), [last, 0, last]);
}

// Chains of a million views.

#[test]
fn a_million_transposes_and_flips_stay_flat() {
    on_small_stack(|| {
        let start = row_major([3, 4, 5]);
        let mut map = start.clone();
        for k in 0..MILLION {
            map = if k % 2 == 0 { map.transpose([1, 2, 0]) } else { map.flip(k % 3) }.unwrap();
        }
        assert_eq!(map.stages().len(), 1);
        assert_eq!(map.span(), start.span());
        assert!(map.is_injective());
    });
}

#[test]
fn a_million_rotations_stay_flat() {
    on_small_stack(|| {
        let start = row_major([3, 5]);
        let mut map = start.clone();
        for k in 0..MILLION as isize {
            map = map.rotate([k % 4 - 1, 2]).unwrap();
        }
        assert_eq!(map.stages().len(), 1);
        let whole = [(2 * MILLION / 4 % 3) as isize, (2 * MILLION % 5) as isize];
        assert_eq!(map, start.rotate(whole).unwrap());
    });
}

#[test]
fn a_million_reshapes_stay_flat() {
    on_small_stack(|| {
        let start = row_major([3, 4]).transpose([1, 0]).unwrap();
        let mut map = start.clone();
        for _ in 0..MILLION / 2 {
            map = map.reshape([2, 6]).unwrap().reshape([4, 3]).unwrap();
        }
        assert_eq!(map, start);
    });
}

#[test]
fn a_million_selections_stay_flat() {
    on_small_stack(|| {
        let start = row_major([5, 2]);
        let mut map = start.clone();
        for _ in 0..MILLION / 4 {
            map = map.select((Select::Reverse, [1, 0])).unwrap();
            map = map.select(([1, 0, 2, 3, 4],)).unwrap();
            map = map.select(([1, 0, 2, 3, 4], [1, 0])).unwrap();
            map = map.select((Select::Reverse,)).unwrap();
        }
        assert_eq!(map, start);
    });
}

/// Where nothing merges the chain grows, and still nothing recurses: in use, comparison or drop.
#[test]
fn a_chain_that_cannot_merge_does_not_recurse() {
    on_small_stack(|| {
        let build = || {
            let mut map = row_major([2, 3]);
            for k in 0..MILLION / 5 {
                let (shifts, to) = if k % 2 == 0 { ([0, 1], [3, 2]) } else { ([1, 0], [2, 3]) };
                map = map.rotate(shifts).unwrap().reshape(to).unwrap();
            }
            map
        };
        let map = build();
        let copy = map.clone();
        assert!(map.stages().len() > 1000);
        let mut reached: Vec<usize> =
            map.shape().indexes().unwrap().map(|i| map.to_local(&i).unwrap()).collect();
        let index = map.to_global(reached[4]).next().unwrap();
        assert_eq!(map.to_local(&index), Ok(reached[4]));
        reached.sort();
        assert_eq!(reached, [0, 1, 2, 3, 4, 5]);
        assert_eq!(map, build());
        assert!(map.is_injective());
        assert!(format!("{map:?}").len() < 2000);
        let grown = copy.rotate([1, 1]).unwrap().reshape([6]).unwrap();
        drop(map);
        drop(grown);
    });
}

/// Without elements, counts are no reason to make a list.
#[test]
fn nothing_is_repeated_any_number_of_times() {
    let empty = lensor::Tensor::full([0, 2], 0).unwrap();
    let found = empty.view().repeat(1, [1 << 40, 1]).unwrap();
    assert_eq!(found.shape(), [0, (1 << 40) + 1]);
}
