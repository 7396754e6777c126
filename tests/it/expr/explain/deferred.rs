//! Deferred operations, and the two that compute when they are called and have a twin that explains.

use super::{explained, numbers, shown};
use crate::support::pool;
use lensor::diff::Diff;
use lensor::expr::Explanation;
use lensor::gufunc::inner1d;
use lensor::lanes::SortOrder::{Ascending, Descending};
use lensor::lanes::{Interpolation, Lanes, Side, Uniform};
use lensor::linalg::Linalg;
use lensor::prelude::*;
use lensor::product::PlusTimes;
use lensor::stencil::{Border, EdgeOrder, Mode, Stencil};
use lensor::storage::Sparse;

/// The same, without the line that says which sort this processor does.
fn shown_but_lane(explanation: Explanation) -> String {
    let lines: Vec<String> = shown(explanation).lines().map(str::to_string).collect();
    lines.into_iter().filter(|line| !line.starts_with("each lane")).collect::<Vec<_>>().join("\n")
}

#[test]
fn lanes_are_in_memory_or_brought_there() {
    let t = numbers([4096, 512]);
    insta::assert_snapshot!(shown_but_lane(t.sort(1, Ascending).explain().unwrap()), @r#"
    ascending sort of f64 [4096, 512] along axis 1 to f64 [4096, 512]
    lanes: 4096 of 512 elements, 32 at a time
    operand: read where it lies
    results: written where they belong
    bytes: 16777216 read, 16777216 written
    "#);
    // No thread of more is left without lanes.
    let across = pool(2).install(|| t.argsort(0, Descending).explain()).unwrap();
    insta::assert_snapshot!(shown_but_lane(across), @r#"
    descending argsort of f64 [4096, 512] along axis 0 to usize [4096, 512]
    lanes: 512 of 4096 elements, 64 at a time
    operand: evaluated to scratch memory
    results: assigned from scratch memory to their places
    bytes: 16777216 read, 16777216 written
    "#);
    let product = &t * 2.0;
    let by_key = product.sort_by_key(1, Ascending, |x| x as i8).explain().unwrap();
    insta::assert_snapshot!(shown(by_key), @r#"
    ascending sort by key of f64 [4096, 512] along axis 1 to f64 [4096, 512]
    lanes: 4096 of 512 elements, 64 at a time
    operand: evaluated to scratch memory
    results: written where they belong
    each lane: sorted by 1-byte keys with positions, byte by byte
    bytes: 16777216 read, 16777216 written
    "#);
}

#[test]
fn selections_say_ranks() {
    let t = numbers([10, 100]);
    insta::assert_snapshot!(shown(t.top_k(1, 5, Descending).explain().unwrap()), @r#"
    descending top elements of f64 [10, 100] along axis 1 to f64 [10, 5]
    lanes: 10 of 100 elements, all at once
    operand: read where it lies, without a plan
    each lane: 5 of 8-byte keys with positions selected, then sorted
    bytes: 8000 read, 400 written
    "#);
    insta::assert_snapshot!(shown(t.partition(1, 7, Ascending).explain().unwrap()), @r#"
    ascending partition of f64 [10, 100] along axis 1 to f64 [10, 100]
    lanes: 10 of 100 elements, all at once
    operand: read where it lies, without a plan
    each lane: rank 7 of 8-byte keys selected, the others as they come on its sides
    bytes: 8000 read, 8000 written
    "#);
    let quantiles = t.nan_quantiles(1, &[0.25, 0.5], Interpolation::Linear).explain();
    insta::assert_snapshot!(shown(quantiles.unwrap()), @r#"
    quantiles but for NaN of f64 [10, 100] along axis 1 to f64 [10, 2]
    lanes: 10 of 100 elements, all at once
    operand: read where it lies, without a plan
    each lane: ranks [24, 25, 49, 50] of 8-byte keys selected, or such of those that are not NaN
    bytes: 8000 read, 160 written
    "#);
}

#[test]
fn picks_name_both_operands() {
    let t = numbers([10, 100]);
    let indexes = Tensor::full([10, 3], 4_usize).unwrap();
    insta::assert_snapshot!(shown(t.take_along(1, &indexes).explain().unwrap()), @r#"
    taking of f64 [10, 100] at usize [10, 3] along axis 1 to f64 [10, 3]
    lanes: 10 of 100 elements, all at once
    operand 1: read where it lies
    operand 2: read where it lies
    results: written where they belong
    each lane: copied from, index by index
    bytes: 8240 read, 240 written
    "#);
    let needles = numbers([10, 2]);
    insta::assert_snapshot!(shown(t.search_sorted(&needles, Side::Left).explain().unwrap()), @r#"
    sorted: 1000 elements, read where they lie
    positions: usize [10, 2], 1 operand of 20 elements
    loops: 20, one tile without a plan
    operand 1: direct, in memory, 8 bytes an element
    bytes: 160 read, 160 written
    "#);
    let along = t.search_sorted_along(1, &needles, Side::Left).explain().unwrap();
    insta::assert_snapshot!(shown(along), @r#"
    search of f64 [10, 100] for f64 [10, 2] along axis 1 to usize [10, 2]
    lanes: 10 of 100 elements, all at once
    operand 1: read where it lies
    operand 2: read where it lies
    results: written where they belong
    each lane: searched by halves for its needles
    bytes: 8160 read, 160 written
    "#);
    let bytes = Tensor::full([400], 0_u8).unwrap();
    insta::assert_snapshot!(shown(bytes.view().flip(0).unwrap().explain_unique().unwrap()), @r#"
    unique elements of u8 [400]
    operand: evaluated to memory first
    positions: sorted by 1-byte keys with positions, byte by byte, or counted in a table where keys are close
    bytes: 400 read, 3200 written
    "#);
    let bins = Uniform::new(0.0, 1.0, 4).unwrap();
    insta::assert_snapshot!(shown(t.histogram(&bins).explain().unwrap()), @r#"
    histogram of f64 [10, 100] in 4 bins
    operand: read where it lies
    bytes: 8000 read, 32 written
    "#);
    insta::assert_snapshot!(shown(t.histogram_along(0, &bins).explain().unwrap()), @r#"
    histogram of f64 [10, 100] along axis 0 to u64 [4, 100]
    lanes: 100 of 10 elements, all at once
    operand: read where it lies, without a plan
    each lane: counted in the bins
    bytes: 8000 read, 3200 written
    "#);
}

#[test]
fn products_say_who_multiplies() {
    let (a, b) = (numbers([100, 200]), numbers([200, 50]));
    insta::assert_snapshot!(shown(a.matmul(&b).explain().unwrap()), @r#"
    product of f64 [100, 200] and [200, 50] to [100, 50]
    matrices: 1 of 100 x 200 times 200 x 50, by matrixmultiply
    kernel: packs both operands, whatever their strides
    operand 1: direct, with strides [200, 1]
    operand 2: direct, with strides [50, 1]
    bytes: 240000 read, 40000 written
    "#);
    let narrow = numbers([2, 100]);
    let turned = b.view().transpose([1, 0]).unwrap();
    insta::assert_snapshot!(shown(narrow.matmul(&a).explain().unwrap()), @r#"
    product of f64 [2, 100] and [100, 200] to [2, 200]
    matrices: 1 of 2 x 100 times 100 x 200, by own loops because there are less than 4 rows or columns
    kernel: rows of sums, with the second read as it is
    operand 1: direct, with strides [100, 1]
    operand 2: direct, with strides [200, 1]
    bytes: 161600 read, 3200 written
    "#);
    insta::assert_snapshot!(shown((&narrow * 2.0).matmul(&a).explain().unwrap()), @r#"
    product of f64 [2, 100] and [100, 200] to [2, 200]
    matrices: 1 of 2 x 100 times 100 x 200, by own loops because there are less than 4 rows or columns
    kernel: rows of sums, with the second read as it is
    operand 1: evaluated because it is not in memory
    operand 2: direct, with strides [200, 1]
    bytes: 161600 read, 3200 written
    "#);
    insta::assert_snapshot!(shown(turned.tensordot(&a, &[(1, 1)]).explain().unwrap()), @r#"
    product of f64 [50, 200] and [100, 200] to [50, 100]
    matrices: 1 of 50 x 200 times 200 x 100, by matrixmultiply
    kernel: packs both operands, whatever their strides
    operand 1: direct, with strides [1, 50]
    operand 2: direct, with strides [1, 200]
    bytes: 240000 read, 40000 written
    "#);
    insta::assert_snapshot!(explained(&numbers([3, 4]).outer(numbers([5, 6]))), @r#"
    f64 [3, 4, 5, 6], 2 operands of 360 elements
    loops: 12 x 30, one tile without a plan
    operand 1: held, one element a row, in memory, 8 bytes an element
    operand 2: direct, in memory, 8 bytes an element
    bytes: 336 read, 2880 written
    "#);
}

#[test]
fn sparse_products_count_their_terms() {
    let a =
        Tensor::new([3, 3], Sparse::from_dense(&[0, 1, 0, 2, 0, 3, 0, 0, 4], 0).unwrap()).unwrap();
    let turned = a.view().transpose([1, 0]).unwrap();
    let dense = Tensor::full([3, 2], 1).unwrap();
    insta::assert_snapshot!(shown(turned.times_dense(&dense, PlusTimes).explain().unwrap()), @r#"
    product of 4 stored i32 of [3, 3] and [3, 2] to [3, 2]
    rows: 3 of 3 columns, each times 3 rows of 2
    operand 2: read where it lies
    bytes: 72 read, 24 written
    "#);
    insta::assert_snapshot!(shown(a.explain_contract(&turned, &[(a.rank() - 1, 0)], PlusTimes).unwrap()), @r#"
    product of 4 stored i32 of [3, 3] and [3, 3] to [3, 3]
    rows: 4 entries, 6 terms, summed up in an array of 3 columns
    bytes: 96 read, 72 written
    "#);
}

#[test]
fn stencils_say_where_they_read() {
    let t = numbers([300, 400]);
    let spacing = [0.5, 0.3];
    insta::assert_snapshot!(shown(t.gradient(&spacing, EdgeOrder::First).explain().unwrap()), @r#"
    gradient of f64 [300, 400] to [300, 400, 2]
    operand: read where it lies
    along axis 0: differences, times a reciprocal
    along axis 1: differences, divided
    bytes: 960000 read, 1920000 written
    "#);
    insta::assert_snapshot!(shown((&t * 2.0).laplacian(&spacing).explain().unwrap()), @r#"
    laplacian of f64 [300, 400] to [300, 400]
    operand: evaluated 81 indexes of axis 0 at a time, with 2 on either side
    along axis 0: second differences, times a reciprocal
    along axis 1: second differences, divided
    terms: added up a few lines at a time
    bytes: 960000 read, 960000 written
    "#);
    insta::assert_snapshot!(shown(t.hessian(&spacing, EdgeOrder::Second).explain().unwrap()), @r#"
    hessian of f64 [300, 400] to [300, 400, 2, 2]
    operand: read where it lies
    along axis 0: second differences, times a reciprocal
    along axis 1: second differences, divided
    beside the diagonal: derivatives of derivatives, 1 in all
    along axis 0: differences, times a reciprocal
    bytes: 6720000 read, 11520000 written
    "#);
    let kernel = numbers([5, 5]);
    insta::assert_snapshot!(shown(t.convolve(&kernel, Mode::Valid).explain().unwrap()), @r#"
    convolution of f64 [300, 400] with [5, 5] to [296, 396]
    operand: read where it lies
    sums: 25 products each, in lines of 396
    bytes: 960200 read, 937728 written
    "#);
    insta::assert_snapshot!(shown(t.correlate(&kernel, Mode::Same(Border::Wrap)).explain().unwrap()), @r#"
    correlation of f64 [300, 400] with [5, 5] to [300, 400]
    operand: evaluated with its border, 166 indexes of axis 0 at a time
    sums: 25 products each, in lines of 400
    bytes: 960200 read, 960000 written
    "#);
    let cross = [[-1, 0], [0, -1], [0, 1], [1, 0]];
    insta::assert_snapshot!(explained(&t.stencil(cross, |x| x.into_iter().sum::<f64>())), @r#"
    f64 [298, 398], 4 operands of 118604 elements
    loops: 298 x 398, 5 rows of 398 at a time
    operand 1: direct, in memory, 8 bytes an element
    operand 2: direct, in memory, 8 bytes an element
    operand 3: direct, in memory, 8 bytes an element
    operand 4: direct, in memory, 8 bytes an element
    bytes: 3795328 read, 948832 written
    "#);
    insta::assert_snapshot!(explained(&t.diff(0, 2)), @r#"
    f64 [298, 400], 3 operands of 119200 elements
    loops: 119200
    operand 1: direct, in memory, 8 bytes an element
    operand 2: direct, in memory, 8 bytes an element
    operand 3: direct, in memory, 8 bytes an element
    bytes: 2860800 read, 953600 written
    "#);
}

/// What would not be computed is not explained.
#[test]
fn explanations_report_errors_of_shapes() {
    let t = numbers([3, 4]);
    assert_eq!(t.sort(2, Ascending).explain(), Err(Error::Axis { axis: 2, rank: 2 }));
    assert_eq!(
        t.quantile(0, 1.5, Interpolation::Linear).explain(),
        Err(Error::Quantile { quantile: 1.5 })
    );
    assert_eq!(
        t.top_k(0, 4, Ascending).explain(),
        Err(Error::LaneTooShort { axis: 0, count: 4, extent: 3 })
    );
    assert!(matches!(t.matmul(&t).explain(), Err(Error::Contraction { .. })));
    assert!(matches!(t.laplacian([0.0; 0]).explain(), Err(Error::Rank { .. })));
    assert!(matches!(
        t.convolve(&numbers([9, 9]), Mode::Valid).explain(),
        Err(Error::Window { .. })
    ));
}

/// Nothing to do, in every way, is no panic.
#[test]
fn empty_operands_are_explained() {
    let t = numbers([0, 4]);
    let lines = |explanation: Result<Explanation, Error>| explanation.unwrap().lines().len();
    assert!(lines(t.sort(0, Ascending).explain()) > 0);
    assert!(lines(t.sort(1, Ascending).explain()) > 0);
    assert!(lines(t.explain_unique()) > 0);
    assert!(lines(t.search_sorted(1.0, Side::Left).explain()) > 0);
    assert!(lines(t.take_along(1, Tensor::full([1, 0], 0_usize).unwrap()).explain()) > 0);
    assert!(lines(t.matmul(&numbers([4, 5])).explain()) > 0);
    assert!(lines(t.convolve(&numbers([1, 2]), Mode::Same(Border::Wrap)).explain()) > 0);
    assert!(lines(t.histogram(Uniform::new(0.0, 1.0, 1).unwrap()).explain()) > 0);
    assert!(
        lines(Tensor::full([], 1.0).unwrap().hessian([0.0; 0], EdgeOrder::First).explain()) > 0
    );
}

#[test]
fn calls_say_where_their_cores_are() {
    let (rows, columns) = (numbers([4096, 16]), numbers([16, 4096]));
    let row = Tensor::full([16], 1.0).unwrap();
    let text = |explained: lensor::Result<Explanation>| explained.unwrap().to_string();
    let scaled = || inner1d().call((&rows * 2.0, &row * 2.0));
    let evaluated = text(pool(1).install(|| scaled().explain()));
    for line in [
        "operand 1: cores [16] evaluated for a block of calls at a time",
        "operand 2: cores [16] evaluated once, as they are needed again and again",
        "loop: 4096 calls over [4096], ",
    ] {
        assert!(evaluated.contains(line), "{evaluated}");
    }
    assert!(!evaluated.contains("4096 in a block"), "{evaluated}");
    let turned = || columns.view().transpose([1, 0]).unwrap();
    let mask = Tensor::full([4096], true).unwrap();
    let direct = text(inner1d().call((&rows, turned())).filter(&mask).explain());
    for line in [
        "operand 1: cores [16] read where they lie\n",
        "operand 2: cores [16] read where they lie, under strides",
        "mask: read where they lie",
    ] {
        assert!(direct.contains(line), "{direct}");
    }
}
