//! Views, copied into an output.

use lensor::Tensor;
use ndarray::{ArrayD, ArrayViewD, IxDyn, SliceInfoElem};
use report::{Bench, Case, check};

/// A naive loop: output element `k` from source element `source(k)`.
fn by_address<T: Copy>(out: &mut [T], from: &[T], source: impl Fn(usize) -> usize) {
    for (k, slot) in out.iter_mut().enumerate() {
        *slot = from[source(k)];
    }
}

struct Copied<'a, T> {
    name: &'a str,
    reach: f64,
    bytes: usize,
    view: Tensor<&'a Vec<T>>,
    ndarray: Option<ArrayViewD<'a, T>>,
}

/// Runs a copy of a view by all contestants, with a naive loop over addresses.
fn copy<T>(
    bench: &mut Bench,
    case: Copied<'_, T>,
    from: &[T],
    source: impl Fn(usize) -> usize + Sync,
) where
    T: Copy + Send + Sync + Default + PartialEq + std::fmt::Debug,
{
    let Copied { name, reach, bytes, view, ndarray } = case;
    if !bench.wants(name) {
        return;
    }
    let count = view.len();
    let shape = view.shape();
    let mut ours = Tensor::from_vec(shape.clone(), vec![T::default(); count]).expect("an output");
    let mut naive = vec![T::default(); count];
    let mut theirs = ndarray.as_ref().map(|view| ArrayD::from_elem(view.shape(), T::default()));
    view.assign_to(&mut ours).expect("a copy");
    by_address(&mut naive, from, &source);
    check(name, ours.storage(), &naive);
    if let (Some(view), Some(theirs)) = (&ndarray, &mut theirs) {
        theirs.assign(view);
        check(name, theirs.as_slice().expect("contiguous"), &naive);
    }
    let mut nd = theirs.as_mut().zip(ndarray).map(|(theirs, view)| move || theirs.assign(&view));
    bench.run(Case {
        name,
        bytes,
        reach,
        ours: &mut || view.assign_to(&mut ours).expect("a copy"),
        naive: &mut || by_address(&mut naive, from, &source),
        ndarray: nd.as_mut().map(|nd| nd as &mut (dyn FnMut() + Send)),
    });
}

pub(crate) fn run(bench: &mut Bench) {
    let n = bench.side();
    let data: Vec<f64> = (0..n * n).map(|i| i as f64).collect();
    let t = Tensor::from_vec([n, n], data.clone()).expect("an input");
    let nd = ArrayD::from_shape_vec(IxDyn(&[n, n]), data.clone()).expect("an input");
    let both = 16 * n * n;
    let case = |name, reach, bytes, view, ndarray| Copied { name, reach, bytes, view, ndarray };

    copy(bench, case("copy/f64", 1.0, both, t.view(), Some(nd.view())), &data, |k| k);
    let view = t.view().transpose([1, 0]).expect("a view");
    copy(bench, case("transpose/f64", 1.8, both, view, Some(nd.t())), &data, |k| k % n * n + k / n);

    let single: Vec<f32> = (0..n * n).map(|i| (i % 65521) as f32).collect();
    let t32 = Tensor::from_vec([n, n], single.clone()).expect("an input");
    let nd32 = ArrayD::from_shape_vec(IxDyn(&[n, n]), single.clone()).expect("an input");
    let view = t32.view().transpose([1, 0]).expect("a view");
    copy(bench, case32("transpose/f32", 2.2, 8 * n * n, view, Some(nd32.t())), &single, |k| {
        k % n * n + k / n
    });

    permute(bench, "permute/3120/f32/64x48x40x96", 2.5, &[64, 48, 40, 96], &[3, 1, 2, 0]);
    permute(bench, "permute/531420/f32/16^5x8", 2.6, &[16, 16, 16, 16, 16, 8], &[5, 3, 1, 4, 2, 0]);

    let (a, b) = (1000 % n, 333 % n);
    let view = t.view().rotate([a as isize, b as isize]).expect("a view");
    let rolled = |k: usize| (k / n + n - a) % n * n + (k % n + n - b) % n;
    copy(bench, case("rotate/1000,333/f64", 1.1, both, view, None), &data, rolled);

    let m = n / 4;
    let tile = Tensor::from_vec([m, m], data[..m * m].to_vec()).expect("an input");
    let view = tile.view().broadcast([n, n]).expect("a view");
    copy(
        bench,
        case("tile/4x4/f64", 1.2, 8 * n * n + 8 * m * m, view, None),
        tile.storage(),
        |k| k / n % m * m + k % n % m,
    );

    let order = permutation(n);
    let view = t.view().select((order.clone(),)).expect("a view");
    let list = order.clone();
    copy(bench, case("gather/rows/f64", 1.05, both, view, None), &data, |k| {
        list[k / n] * n + k % n
    });
    let view = t.view().select((.., order.clone())).expect("a view");
    copy(bench, case("gather/columns/f64", 2.5, both, view, None), &data, |k| {
        k / n * n + list[k % n]
    });

    // Every second row, every third column: all lines of every second row are touched.
    let stepped = [lensor::Select::every(2), lensor::Select::every(3)];
    let view = t.view().select(stepped).expect("a view");
    let (rows, columns) = (n.div_ceil(2), n.div_ceil(3));
    let slice = [
        SliceInfoElem::Slice { start: 0, end: None, step: 2 },
        SliceInfoElem::Slice { start: 0, end: None, step: 3 },
    ];
    let touched = 8 * rows * n + 8 * rows * columns;
    copy(bench, case("step/2,3/f64", 1.4, touched, view, Some(nd.slice(&slice[..]))), &data, |k| {
        k / columns * 2 * n + k % columns * 3
    });

    let view = t.view().transpose([1, 0]).and_then(|t| t.reshape([n * n])).expect("a view");
    copy(bench, case("reshape-of-transpose/f64", 2.2, both, view, None), &data, |k| {
        k % n * n + k / n
    });

    let c = 128;
    let cached = Tensor::from_vec([c, c], data[..c * c].to_vec()).expect("an input");
    let ndc = ArrayD::from_shape_vec(IxDyn(&[c, c]), data[..c * c].to_vec()).expect("an input");
    let view = cached.view().transpose([1, 0]).expect("a view");
    copy(
        bench,
        case("transpose/f64/128 cached", 3.0, 16 * c * c, view, Some(ndc.t())),
        cached.storage(),
        |k| k % c * c + k / c,
    );
}

fn case32<'a>(
    name: &'a str,
    reach: f64,
    bytes: usize,
    view: Tensor<&'a Vec<f32>>,
    ndarray: Option<ArrayViewD<'a, f32>>,
) -> Copied<'a, f32> {
    Copied { name, reach, bytes, view, ndarray }
}

fn permute(bench: &mut Bench, name: &str, reach: f64, extents: &[usize], order: &[usize]) {
    let extents: Vec<usize> =
        if bench.quick { extents.iter().map(|n| n / 2).collect() } else { extents.to_vec() };
    let count: usize = extents.iter().product();
    let data: Vec<f32> = (0..count).map(|i| (i % 65521) as f32).collect();
    let t = Tensor::from_vec(extents.as_slice(), data.clone()).expect("an input");
    let nd = ArrayD::from_shape_vec(IxDyn(&extents), data.clone()).expect("an input");
    let view = t.view().transpose(order).expect("a view");
    let shape = view.shape().to_vec();
    let mut strides = vec![1; extents.len()];
    for k in (1..extents.len()).rev() {
        strides[k - 1] = strides[k] * extents[k];
    }
    let source = |mut k: usize| {
        let mut address = 0;
        for axis in (0..shape.len()).rev() {
            address += k % shape[axis] * strides[order[axis]];
            k /= shape[axis];
        }
        address
    };
    let theirs = nd.view().permuted_axes(IxDyn(order));
    copy(bench, case32(name, reach, 8 * count, view, Some(theirs)), &data, source);
}

/// A fixed permutation of `0..n` that looks random.
fn permutation(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut state = 88172645463325252_u64;
    for k in (1..n).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(k, (state % (k as u64 + 1)) as usize);
    }
    order
}
