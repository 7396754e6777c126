//! Outputs that are large enough to be written past the caches hold what small ones would.

use lensor::prelude::*;
use lensor::storage::Progression;

/// Side of squares of 8-byte elements that are streamed: 18 MiB, and no power of two.
const N: usize = 1531;

fn square() -> Tensor<Vec<u64>> {
    Tensor::from_vec([N, N], (0..(N * N) as u64).collect()).unwrap()
}

/// Holds a view against a function from the row-major position to the expected address.
fn check(view: &Tensor<&Vec<u64>>, source: impl Fn(usize) -> usize) {
    let copy = view.to_vec().unwrap();
    for (k, &element) in copy.iter().enumerate() {
        assert_eq!(element, source(k) as u64, "element {k} of {:?}", view.shape());
    }
}

#[test]
fn copies_of_views_hold_their_elements() {
    let t = square();
    let columns = N.div_ceil(3);
    let list: Vec<usize> = (0..N).map(|k| k * 911 % N).collect();
    let v = || t.view();
    check(&v(), |k| k);
    check(&v().transpose([1, 0]).unwrap(), |k| k % N * N + k / N);
    check(&v().flip(1).unwrap(), |k| k / N * N + N - 1 - k % N);
    check(&v().rotate([100, 33]).unwrap(), |k| (k / N + N - 100) % N * N + (k % N + N - 33) % N);
    check(&v().select((list.clone(),)).unwrap(), |k| list[k / N] * N + k % N);
    check(&v().select((.., list.clone())).unwrap(), |k| k / N * N + list[k % N]);
    check(&v().broadcast([3, N, N]).unwrap().select((.., .., Select::every(3))).unwrap(), |k| {
        k / columns % N * N + k % columns * 3
    });
    check(&v().transpose([1, 0]).unwrap().reshape([N * N]).unwrap(), |k| k % N * N + k / N);
}

#[test]
fn permuted_small_axes_hold_their_elements() {
    let shape = [16, 16, 16, 16, 8, 9];
    let count: usize = shape.iter().product();
    let t = Tensor::from_vec(shape, (0..count as u32).collect()).unwrap();
    let order = [5, 3, 1, 4, 2, 0];
    let copy = t.view().transpose(order).unwrap().eval().unwrap();
    let mut inverse = [0; 6];
    order.iter().enumerate().for_each(|(k, &axis)| inverse[axis] = k);
    assert_eq!(copy.transpose(inverse).unwrap().to_vec().unwrap(), *t.storage());
}

#[test]
fn expressions_hold_their_elements() {
    let t = square();
    let turned = t.view().transpose([1, 0]).unwrap();
    let (column, row) = (t.view().select((.., [7])).unwrap(), t.view().select((5,)).unwrap());
    let sum = (&t * 3 + &turned - &column + &row).to_vec().unwrap();
    for (k, &element) in sum.iter().enumerate() {
        let (i, j) = ((k / N) as u64, (k % N) as u64);
        let n = N as u64;
        let expected = (i * n + j) * 3 + (j * n + i);
        let expected = expected.wrapping_sub(i * n + 7).wrapping_add(5 * n + j);
        assert_eq!(element, expected, "element {k}");
    }
    let bytes = t.view().map(|x| x as u8).broadcast([8, N, N]).unwrap().to_vec().unwrap();
    assert!(bytes.iter().enumerate().all(|(k, &byte)| byte == (k % (N * N)) as u8));
}

#[test]
fn a_window_of_an_output_is_written_and_nothing_else() {
    let t = square();
    for offset in [0, 1, 3, 6] {
        let mut out = Tensor::full([N + 2, N + 7], 9_u64).unwrap();
        let window = (1..N + 1, offset..N + offset);
        let turned = t.view().transpose([1, 0]).unwrap();
        out.view_mut().select(window.clone()).unwrap().assign(turned.view()).unwrap();
        assert_eq!(out.view().select(window.clone()).unwrap(), turned, "offset {offset}");
        let mut inside = out.view_mut().select(window).unwrap();
        inside += &t;
        inside.fill(9).unwrap();
        assert!(out.storage().iter().all(|&x| x == 9), "offset {offset}");
    }
}

#[test]
fn a_panic_leaves_whole_elements() {
    let t = square();
    let mut out = Tensor::full([N, N], u64::MAX).unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        t.view().map(|x| if x == 2_000_000 { panic!("late") } else { x }).assign_to(&mut out)
    }));
    assert!(caught.is_err());
    let whole = |(k, &x): (usize, &u64)| x == k as u64 || x == u64::MAX;
    assert!(out.storage().iter().enumerate().all(whole));
}

/// Turns matrices whose rows lie a page apart and more, of odd sides.
fn turn_wide<T: Copy + Send + Sync + PartialEq>(columns: usize, element: impl Fn(usize) -> T) {
    for rows in [3, 8, 67, 130] {
        let t = Tensor::from_vec([rows, columns], (0..rows * columns).map(&element).collect());
        let t = t.unwrap();
        let part = t.view().select((.., 1..columns - 2)).unwrap();
        let turned = part.transpose([1, 0]).unwrap().to_vec().unwrap();
        for (k, x) in turned.into_iter().enumerate() {
            assert!(x == element(k % rows * columns + k / rows + 1), "element {k} of {rows} rows");
        }
    }
}

#[test]
fn rows_far_apart_turn_whatever_the_size_of_elements() {
    turn_wide(4107, |k| (k * 7) as u8);
    turn_wide(2061, |k| (k * 7) as u16);
    turn_wide(1037, |k| k as f32);
    turn_wide(523, |k| k as u64);
    turn_wide(523, |k| (k as u64, k as u8));
    turn_wide(301, |k| [k; 5]);
    turn_wide(37, |k| [k; 40]);
}

/// Whether the upper halves of vector registers are in use, if the processor tells. Scalar instructions of closures
/// and of whatever runs later wait for one another then.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "reads a register of the processor")]
fn upper_halves_are_in_use() -> Option<bool> {
    use std::arch::x86_64::{__cpuid_count, _xgetbv};
    #[target_feature(enable = "xsave")]
    fn in_use() -> u64 {
        // SAFETY: the caller has found that the register is there.
        unsafe { _xgetbv(1) }
    }
    let told = is_x86_feature_detected!("avx") && is_x86_feature_detected!("xsavec");
    // SAFETY: `xsave` comes with `xsavec`, and the bit says that register 1 can be read.
    (told && __cpuid_count(0xd, 1).eax & 4 != 0).then(|| unsafe { in_use() } & 4 != 0)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn registers_are_left_clean() {
    #[track_caller]
    fn clean<T>(done: Result<T, Error>) {
        done.unwrap();
        assert!(upper_halves_are_in_use() != Some(true));
    }
    let t = square();
    let small = t.view().select((..300, ..40)).unwrap();
    let mut out = Tensor::full([N, N], 0_u64).unwrap();
    crate::support::pool(1).install(|| {
        for part in [t.view(), small] {
            let turned = part.view().transpose([1, 0]).unwrap();
            let flat = part.view().cast_unchecked::<f32>().eval().unwrap();
            clean(part.eval());
            clean(turned.eval());
            clean(turned.map(|x| x as u8).eval());
            clean(flat.view().transpose([1, 0]).and_then(|view| view.eval()));
            clean((&part * 3 + 1).eval());
            clean(part.cumsum(1).eval());
            clean(flat.sort(0, SortOrder::Ascending).eval());
            clean(flat.sum(0).eval());
            let few = flat.view().transpose([1, 0]).unwrap().select((.., ..8)).unwrap();
            clean(flat.matmul(&few).eval());
        }
        let inside = |x: u64| {
            let dirty = x.is_multiple_of(1009) && upper_halves_are_in_use() == Some(true);
            x + u64::from(dirty)
        };
        t.map(inside).assign_to(&mut out).unwrap();
        assert!(out.storage() == t.storage(), "a closure was called with upper halves in use");
    });
}

/// An axis that wraps is cut there, however long it is: no table is as long.
#[test]
fn rotated_axes_of_many_elements_need_no_table() -> Result<(), Error> {
    let t = Tensor::<Progression<i64>>::iota([2, 1 << 40])?.rotate([0, 5])?;
    t.explain()?;
    let first = Error::Arithmetic { index: vec![0, 5] };
    let quotient = 1_i64 / &t;
    assert_eq!(quotient.slice(1, 0..1 << 21)?.eval().map(drop), Err(first));
    Ok(())
}
