//! Expressions and reductions, which compute when they are asked to.

use super::{explained, numbers, shown};
use lensor::expr::zip_stored;
use lensor::prelude::*;
use lensor::storage::{Duplicates, Sparse};

#[test]
fn contiguous_operands_are_direct() {
    let (a, b) = (numbers([640, 1000]), numbers([640, 1000]));
    insta::assert_snapshot!(explained(&(&a * 2.0 + &b)), @r#"
    f64 [640, 1000], 2 operands of 640000 elements
    loops: 640000
    operand 1: direct, in memory, 8 bytes an element
    operand 2: direct, in memory, 8 bytes an element
    bytes: 10240000 read, 5120000 written
    "#);
}

/// Without a plan: few elements in memory, wherever they lie; for one thread any that lie in order.
#[test]
fn small_operands_are_one_tile() {
    let (a, b) = (numbers([6, 8]), numbers([8, 6]));
    let sum = &a + b.view().transpose([1, 0]).unwrap();
    insta::assert_snapshot!(explained(&sum), @r#"
    f64 [6, 8], 2 operands of 48 elements
    loops: 6 x 8, one tile without a plan
    operand 1: direct, in memory, 8 bytes an element
    operand 2: packed because its innermost stride is 6, in memory, 8 bytes an element
    bytes: 768 read, 384 written
    "#);
    insta::assert_snapshot!(explained(&(&a * &a)).lines().nth(1).unwrap(), @"loops: 48, one tile without a plan");
    let long = Tensor::full([131_071], 0.0).unwrap();
    let lines = explained(&(&long * 2.0));
    insta::assert_snapshot!(lines.lines().nth(1).unwrap(), @"loops: 131071, one tile without a plan");
    let lines = explained(&(&long * 2.0).boxed());
    insta::assert_snapshot!(lines.lines().nth(1).unwrap(), @"loops: 131071");
    let cube = Tensor::full([2, 3, 4], 0.0).unwrap();
    let turned = cube.view().transpose([2, 1, 0]).unwrap();
    insta::assert_snapshot!(explained(&turned.clone().sqrt()), @r#"
    f64 [4, 3, 2], 1 operand of 24 elements
    loops: 12 x 2, one tile without a plan
    operand 1: packed because its innermost stride is 12, in memory, 8 bytes an element
    bytes: 192 read, 192 written
    "#);
    let list = [4_usize, 0, 5];
    let listed = a.view().select((&list[..], &list[..])).unwrap();
    insta::assert_snapshot!(explained(&listed.lazy()), @r#"
    f64 [3, 3], 1 operand of 9 elements
    loops: 3 x 3, one tile without a plan
    operand 1: copied element by element because it is gathered by a list, 8 bytes an element
    bytes: 72 read, 72 written
    "#);

    insta::assert_snapshot!(folded(&sum.clone().sum(0)), @r#"
    reduction of f64 [6, 8] over axes [0] to f64 [8]
    across rows: 8 results of 6 rows, in leaves of 6 rows
    operand: small, computed without a plan
    bytes: 768 read, 64 written
    "#);
    insta::assert_snapshot!(folded(&turned.clone().sum(0)).lines().nth(2).unwrap(), @"operand: small, computed without a plan");
    insta::assert_snapshot!(shown(sum.cumsum(0).explain().unwrap()), @r#"
    scan of f64 [6, 8] along axis 0 to f64 [6, 8]
    lanes: 8 of 6 elements, up to 8 side by side
    operand: small, computed without a plan
    bytes: 768 read, 384 written
    "#);
    insta::assert_snapshot!(shown(turned.cumsum(0).explain().unwrap()).lines().nth(2).unwrap(), @"operand: small, computed without a plan");
}

#[test]
fn a_transposed_operand_is_packed_in_blocks() {
    let (a, b) = (numbers([512, 512]), numbers([512, 512]));
    insta::assert_snapshot!(explained(&(&a + b.view().transpose([1, 0]).unwrap())), @r#"
    f64 [512, 512], 2 operands of 262144 elements
    loops: 512 x 512, in blocks of 64 x 64
    operand 1: direct, in memory, 8 bytes an element
    operand 2: packed because its innermost stride is 512, in memory, 8 bytes an element
    bytes: 4194304 read, 2097152 written
    "#);
}

#[test]
fn a_rotated_view_is_several_nests() {
    let a = numbers([100, 200]);
    insta::assert_snapshot!(explained(&a.view().rotate([30, 50]).unwrap().lazy()), @r#"
    f64 [100, 200], 1 operand of 20000 elements
    loops: 4 nests, the first 30 x 50, 30 rows of 50 at a time
    operand 1: direct, in memory, 8 bytes an element
    bytes: 160000 read, 160000 written
    "#);
}

#[test]
fn a_reshape_of_a_transposed_view_is_cancelled() {
    let a = numbers([100, 200]);
    let view = a.view().transpose([1, 0]).unwrap().reshape([20_000]).unwrap();
    insta::assert_snapshot!(explained(&view.lazy()), @r#"
    f64 [20000], 1 operand of 20000 elements
    evaluated as [200, 100]: a reshape is cancelled
    loops: 200 x 100, in blocks of 64 x 64
    operand 1: copied element by element because its innermost stride is 200, 8 bytes an element
    bytes: 160000 read, 160000 written
    "#);
}

#[test]
fn broadcast_operands_are_repeated() {
    let (a, b) = (numbers([300, 1]), numbers([1, 400]));
    insta::assert_snapshot!(explained(&(&a + &b)), @r#"
    f64 [300, 400], 2 operands of 120000 elements
    loops: 300 x 400, 5 rows of 400 at a time
    operand 1: held, one element a row, in memory, 8 bytes an element
    operand 2: direct, in memory, 8 bytes an element
    bytes: 5600 read, 960000 written
    "#);
}

#[test]
fn nothing_to_do_is_said() {
    let a = numbers([0, 3]);
    insta::assert_snapshot!(explained(&(&a + 1.0)), @r#"
    f64 [0, 3], 1 operand of 0 elements
    loops: none, there are no elements
    operand 1: direct, in memory, 8 bytes an element
    bytes: 0 read, 0 written
    "#);
}

/// As [`explained`], of a reduction.
fn folded<R: lensor::reduce::Reducer<f64>>(
    reduction: &lensor::reduce::Reduction<impl Expr<Elem = f64>, R>,
) -> String {
    shown(reduction.explain().unwrap())
}

#[test]
fn reductions_go_across_or_along_rows() {
    let t = numbers([1000, 600]);
    insta::assert_snapshot!(folded(&t.sum(0)), @r#"
    reduction of f64 [1000, 600] over axes [0] to f64 [600]
    across rows: 600 results of 1000 rows, in leaves of 64 rows
    operand: read where it lies
    bytes: 4800000 read, 4800 written
    "#);
    insta::assert_snapshot!(folded(&t.mean(1)), @r#"
    reduction of f64 [1000, 600] over axes [1] to f64 [1000]
    along rows: 1000 results of 600 elements, in leaves of 512
    operand: read where it lies
    bytes: 4800000 read, 8000 written
    "#);
    let turned = t.view().transpose([1, 0]).unwrap();
    insta::assert_snapshot!(folded(&(&turned * 2.0).sum(..)), @r#"
    reduction of f64 [600, 1000] over axes [0, 1] to f64 []
    along rows: 1 result of 600000 elements, in leaves of 512
    operand: packed and evaluated many rows at a time
    bytes: 4800000 read, 8 written
    "#);
    let rotated = t.view().rotate([3, 1]).unwrap();
    insta::assert_snapshot!(folded(&rotated.max(..)), @r#"
    reduction of f64 [1000, 600] over axes [0, 1] to f64 []
    along rows: 1 result of 600000 elements, in leaves of 512
    operand: evaluated piece by piece, as a map is more than strides
    bytes: 4800000 read, 8 written
    "#);
}

#[test]
fn reductions_of_sparse_operands_fold_entries() {
    let t = Tensor::sparse([1 << 20, 1 << 20], 0.0).unwrap();
    insta::assert_snapshot!(folded(&t.sum(0)), @r#"
    reduction of f64 [1048576, 1048576] over axes [0] to f64 [1048576]
    entries: 0 stored, sorted by result and folded in order
    fill values: what entries leave of 1048576 elements to a result
    bytes: 0 read, 8388608 written
    "#);
    let t = Tensor::new([2, 3], Sparse::from_sorted(6, 0.0, vec![1, 5], vec![2.0, 3.0]).unwrap());
    insta::assert_snapshot!(folded(&t.unwrap().max(1)), @r#"
    reduction of f64 [2, 3] over axes [1] to f64 [2]
    entries: 2 stored, folded as they come, to a state for each of 2
    fill values: what entries leave of 3 elements to a result
    bytes: 32 read, 16 written
    "#);
    let t = Tensor::new([3, 2], Sparse::from_sorted(6, 0.0, vec![1, 5], vec![2.0, 3.0]).unwrap());
    insta::assert_snapshot!(folded(&t.unwrap().max(1)), @r#"
    reduction of f64 [3, 2] over axes [1] to f64 [3]
    entries: 2 stored, folded as they come, one result after another
    fill values: what entries leave of 2 elements to a result
    bytes: 32 read, 24 written
    "#);
}

/// A fold does not list entries that are repeated so often that it takes less to read the elements; it counts repeats
/// where it chooses how entries come to results.
#[test]
fn reductions_count_repeated_entries() {
    let at = [[5, 7]];
    let x = Tensor::from_coordinates([1 << 20, 1000], 0.0, &at, vec![2.0], Duplicates::Refuse);
    let (x, all) =
        (x.unwrap(), Sparse::from_sorted(1000, 0.0, (0..1000).collect(), vec![1.5; 1000]));
    let row = Tensor::new([1000], all.unwrap()).unwrap();
    let text = (&x * &row).sum(1).explain().unwrap().to_string();
    let densely = "operand 2 is sparse and read densely: 1.0e9 elements for 1.0e3 entries";
    assert!(text.contains(densely) && !text.contains("entries: "), "{text}");
    let few = Sparse::from_sorted(1000, 0.0, vec![1, 7, 9], vec![1.5; 3]).unwrap();
    let row = Tensor::new([1000], few).unwrap();
    let text = (&x * &row).sum(1).explain().unwrap().to_string();
    let how = "entries: 4 stored, folded as they come, to a state for each of 1048576";
    assert!(text.contains(how), "{text}");

    let (at, n) = ([[0, 1], [1, 0], [1, 1]], 1 << 17);
    let x = Tensor::from_coordinates([2, 2], 0.0, &at, vec![1.0; 3], Duplicates::Refuse).unwrap();
    let table = Tensor::from_fn([2, n], |address| address as f64).unwrap();
    let terms = zip_stored((x.insert_axis(2).unwrap(), &table), 0.0, |(x, y)| x * y);
    let text = terms.sum(1).explain().unwrap().to_string();
    let how = "entries: 393216 stored, folded as they come, to a state for each of 262144";
    assert!(text.contains(how), "{text}");
}

#[test]
fn sparse_operands_are_merged_by_their_entries() {
    let matrix = |indexes: &[[usize; 2]]| {
        let values = vec![1.0; indexes.len()];
        Tensor::from_coordinates([100, 100], 0.0, indexes, values, Duplicates::Refuse).unwrap()
    };
    let (a, b) = (matrix(&[[0, 5], [7, 7]]), matrix(&[[9, 9]]));
    let text = (&a + &b.view().flip(0).unwrap()).explain().unwrap().to_string();
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        [
            "f64 [100, 100], 2 operands of 10000 elements",
            "entries: 3 stored, merged in one pass for a sparse result; a dense one is filled and \
             written at them",
            "operand 1: sparse, 2 entries, 8 bytes an element",
            "operand 2: sparse, 1 entry, 8 bytes an element",
            "threads: 1",
            "bytes: 48 read, 80000 written",
        ]
    );
    let few = (&a * 2.0).select((0, 4..8)).unwrap().explain().unwrap().to_string();
    assert!(few.contains("entries: 2 stored, visited in one pass for a sparse result"), "{few}");
    assert!(few.contains("a dense one reads every element"), "{few}");
    assert!(few.contains("packed because it is not in memory, sparse, 2 entries"), "{few}");

    let dense = Tensor::full([100, 100], 1.0).unwrap();
    let mixed = (&a + &dense).explain().unwrap().to_string();
    assert!(!mixed.contains("entries:"), "{mixed}");
    assert!(mixed.contains("operand 1: packed because it is not in memory, sparse, 2 entries"));
    let numbers = "operand 1 is sparse and read densely: 1.0e4 elements for 2.0e0 entries";
    assert!(mixed.contains(numbers), "{mixed}");
}
