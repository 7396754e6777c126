//! Every error of rows, with its fields and its text.

use crate::support::fails;
use lensor::gufunc::{Gufunc, cross, inner1d, trace};
use lensor::lanes::SortOrder;
use lensor::ragged::{
    LanesRagged, Offsets, Ragged, ReduceRagged, Stretch, align, concat, zip_ragged,
};
use lensor::{Align, Error, Select, Tensor};

fn rows() -> Ragged<Vec<i64>> {
    Ragged::from_nested(vec![vec![1_i64, 2, 3], vec![], vec![4]]).unwrap()
}

/// `2 * var * var`.
fn deep() -> Ragged<Vec<i64>> {
    Ragged::from_nested(vec![vec![vec![1_i64, 2], vec![3]], vec![vec![], vec![4, 5, 6], vec![7]]])
        .unwrap()
}

fn table(numbers: &[i64]) -> Offsets {
    Offsets::new(numbers).unwrap()
}

fn content() -> Tensor<Vec<i64>> {
    Tensor::from((0..6).collect::<Vec<_>>())
}

#[test]
fn tables_that_do_not_fit() {
    let wrong = |numbers: &[i64], at, offset, least| {
        let error = Error::InvalidOffsets { at, offset, least, axis: 0, extent: 6 };
        let text = format!("offset {at} of axis 0 is {offset}, expected {least} to 6");
        fails(Ragged::new([numbers.len() - 1], table(numbers), content()), error, &text);
    };
    wrong(&[0, 4, 3, 6], 2, 3, 4);
    wrong(&[0, 7, 7], 1, 7, 0);
    wrong(&[-1, 2], 0, -1, 0);
    wrong(&[1, 2, i64::MIN], 2, i128::from(i64::MIN), 2);
    wrong(&[0, i64::MAX], 1, i128::from(i64::MAX), 0);
    let huge = Offsets::new(vec![0, u64::MAX]).unwrap();
    let error =
        Error::InvalidOffsets { at: 1, offset: u64::MAX.into(), least: 0, axis: 0, extent: 6 };
    fails(
        Ragged::new([1], huge, content()),
        error,
        "offset 1 of axis 0 is 18446744073709551615, expected 0 to 6",
    );
    let text = "3 rows need 4 offsets, found 3";
    fails(
        Ragged::new([3], table(&[0, 1, 6]), content()),
        Error::OffsetCount { rows: 3, found: 3 },
        text,
    );
    let text = "0 rows need 1 offsets, found 0";
    fails(Ragged::new([0], table(&[]), content()), Error::OffsetCount { rows: 0, found: 0 }, text);
    fails(
        rows().nest([2], table(&[0, 3])),
        Error::OffsetCount { rows: 2, found: 2 },
        "2 rows need 3 offsets, found 2",
    );
    let error = Error::InvalidOffsets { at: 1, offset: 4, least: 0, axis: 0, extent: 3 };
    fails(rows().nest([1], table(&[0, 4])), error, "offset 1 of axis 0 is 4, expected 0 to 3");
    let scalar = Tensor::from_vec([], vec![1]).unwrap();
    assert!(matches!(
        Ragged::new([0], table(&[0]), scalar),
        Err(Error::ExpectedRank { expected: 1, .. })
    ));
}

#[test]
fn views_that_do_not_fit() {
    let wrong = |start, items, step| {
        let found = Ragged::from_views([2], vec![0, start], vec![6, items], step, content());
        let found = if step == 1 {
            found
        } else {
            Ragged::from_views([2], vec![0, start], vec![0, items], step, content())
        };
        let error = Error::RowBounds { row: 1, start, items, step, extent: 6 };
        let count = if items == 1 { "1 item".to_string() } else { format!("{items} items") };
        fails(
            found,
            error,
            &format!("row 1 has {count} from {start} on by step {step}: the content has 6"),
        );
    };
    wrong(6, 1, 1);
    wrong(4, 3, 1);
    wrong(1, 3, -1);
    wrong(0, 2, isize::MAX);
    wrong(5, 2, isize::MIN);
    wrong(0, usize::MAX, 1);
    wrong(usize::MAX, usize::MAX, isize::MIN);
    assert_eq!(
        Ragged::from_views([1], vec![usize::MAX], vec![0], -3, content()).unwrap().to_string(),
        "[[]]"
    );
    assert_eq!(
        Ragged::from_views([1], vec![2], vec![3], 0, content()).unwrap().to_string(),
        "[[2, 2, 2]]"
    );
    for (starts, lens) in [(vec![0], vec![1, 1]), (vec![0, 1], vec![1; 3])] {
        assert!(matches!(
            Ragged::from_views([2], starts, lens, 1, content()),
            Err(Error::ListLength { extent: 2, .. })
        ));
    }
}

#[test]
fn indexes_that_rows_lack() {
    let lacks = |index, row: &[usize], axis, items| Error::RowIndex {
        index,
        row: row.to_vec(),
        axis,
        items,
    };
    fails(
        rows().select((.., 2)),
        lacks(2, &[1], 1, 0),
        "index 2 is out of bounds: row [1] of axis 1 has 0 items",
    );
    fails(
        rows().select((.., -1)),
        lacks(-1, &[0], 1, 3),
        "index -1 is out of bounds: row [0] of axis 1 has 3 items",
    );
    let some = || rows().select(([0_usize, 2],)).unwrap();
    fails(
        some().select((.., ..2)),
        lacks(1, &[1], 1, 1),
        "index 1 is out of bounds: row [1] of axis 1 has 1 item",
    );
    fails(
        some().select((.., [0_usize, 3])),
        lacks(3, &[0], 1, 3),
        "index 3 is out of bounds: row [0] of axis 1 has 3 items",
    );
    fails(
        deep().select((.., .., 1)),
        lacks(1, &[0, 1], 2, 1),
        "index 1 is out of bounds: row [0, 1] of axis 2 has 1 item",
    );
    let picks = Ragged::from_nested(vec![vec![0_usize], vec![], vec![0, 1]]).unwrap();
    fails(
        rows().take(1, &picks),
        lacks(1, &[2], 1, 1),
        "index 1 is out of bounds: row [2] of axis 1 has 1 item",
    );
    assert!(matches!(
        rows().select((.., Select::between(None, None, 0))),
        Err(Error::ZeroStep { axis: 1 })
    ));
    assert!(matches!(
        rows().clip(1, Select::between(None, None, 0)),
        Err(Error::ZeroStep { axis: 1 })
    ));
    assert!(matches!(rows().select((.., .., ..)), Err(Error::Rank { expected: 2, found: 3, .. })));
    assert!(matches!(rows().flip(2), Err(Error::Axis { axis: 2, rank: 2 })));
}

#[test]
fn rows_of_other_lengths() {
    let wrong = |row: &[usize], axis, items, expected| Error::RowLength {
        row: row.to_vec(),
        axis,
        items,
        expected,
    };
    fails(rows().as_fixed(1), wrong(&[1], 1, 0, 3), "row [1] of axis 1 has 0 items, expected 3");
    let mask = Ragged::from_nested(vec![vec![true; 3], vec![], vec![true; 2]]).unwrap();
    fails(rows().keep(1, &mask), wrong(&[2], 1, 2, 1), "row [2] of axis 1 has 2 items, expected 1");
    fails(
        rows().padded(1, Some(2), 0),
        wrong(&[0], 1, 3, 2),
        "row [0] of axis 1 has 3 items, expected 2",
    );
    let lens = Tensor::from_vec([2, 1], vec![2, 4]).unwrap();
    let t = Tensor::from_vec([2, 1, 3], vec![0; 6]).unwrap();
    fails(
        Ragged::from_padded(t, &lens),
        wrong(&[1, 0], 2, 4, 3),
        "row [1, 0] of axis 2 has 4 items, expected 3",
    );
    fails(
        deep().assign(&deep().flip(2).unwrap().flip(1).unwrap()),
        wrong(&[0, 1], 2, 2, 1),
        "row [0, 1] of axis 2 has 2 items, expected 1",
    );
}

#[test]
fn operands_that_do_not_align() {
    let short = Ragged::from_nested(vec![vec![1_i64], vec![], vec![4, 5]]).unwrap();
    let error = |argument, items, so_far, row: &[usize], axis| Error::RaggedOperands {
        argument,
        items,
        so_far,
        row: row.to_vec(),
        axis,
    };
    let two = Ragged::from_nested(vec![vec![1_i64, 2], vec![], vec![4]]).unwrap();
    let text = "operands could not be broadcast: argument 2 has 2 items in row [0] of axis 1, the result so far 3";
    fails((&rows() + &two).eval(), error(2, 2, 3, &[0], 1), text);
    assert_eq!((&rows() + &short).eval().unwrap().to_string(), "[[2, 3, 4], [], [8, 9]]");
    let text = "operands could not be broadcast: argument 2 has 1 item in row [0] of axis 1, the result so far 3";
    fails((&rows() + &short).eval_with(Stretch::Strict), error(2, 1, 3, &[0], 1), text);
    let none = Ragged::from_nested(vec![vec![1_i64], vec![0, 0], vec![4]]).unwrap();
    let text = "operands could not be broadcast: argument 3 has 2 items in row [1] of axis 1, the result so far 0";
    fails(
        zip_ragged((&rows(), &short, &none), |(x, y, z)| x + y + z).eval(),
        error(3, 2, 0, &[1], 1),
        text,
    );
    let fixed = Tensor::from_vec([3], vec![1_i64, 2, 3]).unwrap();
    let text = "operands could not be broadcast: argument 2 has 3 items in row [1] of axis 1, the result so far 0";
    fails((&rows() + &fixed).eval(), error(2, 3, 0, &[1], 1), text);
    let four = Tensor::from_vec([4, 1], vec![1_i64; 4]).unwrap();
    let refused = Error::Operands {
        argument: 2,
        shape: vec![4, 1],
        so_far: vec![3, usize::MAX],
        axis: 0,
        left: false,
    };
    let found = (&rows() + &four).eval().err().unwrap();
    assert_eq!(found, refused);
    assert!(found.to_string().contains("[3, var]"), "{found}");
    assert_eq!((&rows() + &four).extents().err(), Some(refused.clone()));
    assert_eq!((&rows() + &four).explain().err(), Some(refused));
    assert!(matches!(
        align(Align::Left, &rows(), &four).map(|(a, b)| (a + b).eval().is_err()),
        Ok(true)
    ));
}

#[test]
fn folds_of_nothing() {
    let empty = |row: &[usize], axis| Error::EmptyRow { row: row.to_vec(), axis };
    fails(
        rows().max(1).eval(),
        empty(&[1], 1),
        "row [1] of axis 1 has no items, and there is no result for none",
    );
    fails(
        deep().argmin(2).eval(),
        empty(&[1, 0], 2),
        "row [1, 0] of axis 2 has no items, and there is no result for none",
    );
    let hollow = Ragged::from_nested(vec![vec![Vec::<i64>::new()], vec![vec![1]]]).unwrap();
    fails(
        hollow.min([1, 2]).eval(),
        empty(&[0], 1),
        "row [0] of axis 1 has no items, and there is no result for none",
    );
}

#[test]
fn axes_that_cannot_cross() {
    let crosses = |axis, crossed| Error::RaggedAxes { axis, crossed };
    fails(
        rows().transpose([1, 0]),
        crosses(0, 1),
        "axis 0 cannot cross axis 1, whose rows differ in length: `padded` or `as_fixed` makes that one a fixed axis",
    );
    let alone = |axis| {
        format!(
            "axis {axis} has rows that differ in length: `padded` or `as_fixed` makes it a fixed axis"
        )
    };
    fails(rows().as_tensor().map(|_| ()), crosses(1, 1), &alone(1));
    fails((&rows() + 1).eval_dense(), crosses(1, 1), &alone(1));
    assert!(matches!(deep().sum(1).eval(), Err(Error::RaggedAxes { crossed: 1, .. })));
    assert!(matches!(deep().sum([0, 1]).eval(), Err(Error::RaggedAxes { .. })));
    assert!(matches!(deep().cumsum(1).eval(), Err(Error::RaggedAxes { .. })));
    assert!(matches!(deep().sort(0, SortOrder::Ascending).eval(), Err(Error::RaggedAxes { .. })));
    assert!(matches!(deep().padded(2, None, 0), Err(Error::RaggedAxes { .. })));
    assert!(matches!(deep().mask(1), Err(Error::RaggedAxes { .. })));
    let one = Ragged::new([], table(&[1, 3]), content()).unwrap();
    let row = "axis 0 is one row of any length: `as_fixed(0)` makes it a fixed axis";
    fails(one.nest([1], table(&[0, 1])), crosses(0, 0), row);
    fails(rows().sum(0).eval_dense(), crosses(0, 0), row);
    let sums = rows().sum(0).as_fixed(0).unwrap().eval_dense().unwrap();
    assert_eq!(sums.to_vec(), rows().sum(0).to_vec());
}

#[test]
fn what_fixed_axes_and_the_first_lack() {
    let picks = Ragged::from_nested(vec![0_usize]).unwrap();
    let text = "axis 0 is fixed, where one whose rows may differ in length is needed";
    fails(rows().take(0, &picks), Error::FixedAxis { axis: 0 }, text);
    fails(
        rows().keep(0, Ragged::from_nested(vec![true; 3]).unwrap()),
        Error::FixedAxis { axis: 0 },
        text,
    );
    fails(rows().padded(0, None, 0), Error::FixedAxis { axis: 0 }, text);
    fails(
        rows().flatten(0),
        Error::FirstAxis { axis: 0 },
        "axis 0 has no axis in front to be merged with",
    );
}

#[test]
fn destinations_that_are_refused() {
    let overlap = |rows| Error::OverlappingRows { rows };
    let mut t = content();
    let mut twice = Ragged::from_views([3], vec![0, 4, 1], vec![2, 1, 2], 1, t.view_mut()).unwrap();
    fails(twice.assign(7), overlap([0, 2]), "rows 0 and 2 of the destination share items");
    assert_eq!(t.to_vec().unwrap(), content().to_vec().unwrap());
    let mut r = rows();
    fails(
        r.view_mut().select(([0_usize, 0],)).unwrap().assign(7),
        overlap([0, 1]),
        "rows 0 and 1 of the destination share items",
    );
    assert!(r.view_mut().select((2.., [0_usize, 0])).unwrap().assign(7).is_err());
    let more = Tensor::from_vec([1, 1, 1], vec![7_i64]).unwrap();
    let found = r.assign(&more).err().unwrap();
    assert_eq!(found, Error::Destination { expected: vec![3, usize::MAX], found: vec![1, 1, 1] });
    assert!(found.to_string().contains("[3, var]"), "{found}");
    let error = Error::RowLength { row: vec![1], axis: 1, items: 2, expected: 0 };
    fails(
        r.assign(&Tensor::from(vec![1_i64, 2])),
        Error::RowLength { row: vec![0], axis: 1, items: 2, expected: 3 },
        "row [0] of axis 1 has 2 items, expected 3",
    );
    let source = Ragged::from_nested(vec![vec![7_i64; 3], vec![8; 2], vec![9]]).unwrap();
    fails(r.assign(&source), error, "row [1] of axis 1 has 2 items, expected 0");
    assert_eq!(r.to_string(), rows().to_string());
    assert!(concat(1, Vec::<Ragged<Vec<i64>>>::new()).is_err());
    let found = concat(1, [rows().view(), deep().view().flatten(2).unwrap()]).err().unwrap();
    assert!(matches!(found, Error::Join { tensor: 2, .. }), "{found:?}");
    assert!(found.to_string().contains("var"), "{found}");
}

/// Axes of a destination are its own, also where some of them are written as one.
#[test]
fn repeated_axes_of_destinations_are_named() {
    let mut t = Tensor::from(vec![0; 4]).broadcast([3, 4]).unwrap();
    let mut t = t.as_ragged_mut();
    let fours = Ragged::from_nested(vec![vec![1; 4]; 3]).unwrap();
    assert_eq!(t.assign(&fours), Err(Error::NotInjective { axis: 0 }));
    let content = Tensor::from(vec![0; 12]).reshape([3, 1, 4]).unwrap().broadcast([3, 2, 4]);
    let mut r = Ragged::new([2], table(&[0, 1, 3]), content.unwrap()).unwrap();
    assert_eq!(r.assign(1), Err(Error::NotInjective { axis: 2 }));
    let row = vec![vec![1; 4]; 2];
    let rows = Ragged::from_nested(vec![vec![row.clone()], vec![row.clone(), row]]).unwrap();
    assert_eq!(r.assign(&rows), Err(Error::NotInjective { axis: 2 }));
}

/// Indexes are told as they were given.
#[test]
fn the_largest_index_is_told() {
    let index = usize::MAX as i128;
    let mut r = rows();
    let error = || Error::RowIndex { index, row: vec![0], axis: 1, items: 3 };
    assert_eq!(r.get([0, usize::MAX]), Err(error()));
    assert_eq!(r.set([0, usize::MAX], 1), Err(error()));
    assert_eq!(r.get([usize::MAX, 0]), Err(Error::Index { index, axis: 0, extent: 3 }));
}

/// Names of cores agree row by row: the first row where they do not is named.
#[test]
fn cores_that_differ_in_a_row() {
    type Fields = [usize; 5];
    let error = |signature: &str, dim: &str, fields: Fields, row: Option<&[usize]>| {
        let [argument, axis, extent, so_far, first] = fields;
        let (signature, dim, row) = (signature.into(), dim.into(), row.map(<[usize]>::to_vec));
        Error::CoreExtent { signature, dim, argument, axis, extent, so_far, first, row }
    };
    let other = vec![vec![vec![1_i64, 2], vec![3]], vec![vec![], vec![4, 5], vec![7, 8]]];
    let other = Ragged::from_nested(other).unwrap();
    fails(
        inner1d().call_ragged([&deep(), &other]).eval(),
        error("(n),(n)->()", "n", [2, 2, 2, 3, 1], Some(&[1, 1])),
        "core dimension n of (n),(n)->() is 3 in argument 1, 2 in argument 2 (axis 2) in row [1, 1]",
    );
    fails(
        cross().call_ragged([&deep(), &deep()]).eval(),
        error("(3),(3)->(3)", "3", [1, 2, 2, 3, 0], Some(&[0, 0])),
        "core dimension 3 of (3),(3)->(3) is 3, 2 in argument 1 (axis 2) in row [0, 0]",
    );
    let refused = trace().call_ragged([&deep()]).extents().unwrap_err();
    assert_eq!(refused, Error::RaggedAxes { axis: 1, crossed: 2 });
    // Extents that are known are held against each other, not against rows.
    let all = Gufunc::<[i64; 3], [i64; 1], _>::each("(n),(n),(n)->(n)", |_, _| {}).unwrap();
    let (three, four) = (Tensor::full([3], 1).unwrap(), Tensor::full([4], 1).unwrap());
    let found = all.call_ragged((&rows(), &three, &four)).extents().unwrap_err();
    assert_eq!(found, error("(n),(n),(n)->(n)", "n", [3, 0, 4, 3, 2], None));
}
