//! Items that no memory holds.

use super::model::evaluated;
use lensor::ragged::{LanesRagged, Offsets, Ragged, ReduceRagged, concat};
use lensor::{Error, Reader, Tensor};

/// Numbers that follow from their address.
#[derive(Debug)]
struct Computed(usize);

impl Reader for Computed {
    type Elem = u64;

    fn len(&self) -> usize {
        self.0
    }

    fn read(&self, address: usize) -> u64 {
        address as u64 % 1000
    }
}

/// Rows that are joined end to end, of more items than are read at once.
#[test]
fn rows_of_many_parts_are_joined() {
    let lens = (0..8000).map(|row| row * 7 % 11);
    let count: usize = lens.clone().sum();
    let of = |part: u32| {
        let items = Tensor::from((0..count as u32).map(|k| 2 * k + part).collect::<Vec<_>>());
        Ragged::new([8000], Offsets::from_lengths(lens.clone()).unwrap(), items).unwrap()
    };
    let joined = concat(1, [&of(0), &of(1), &of(0), &of(1)]).unwrap().to_vec().unwrap();
    let (mut expected, mut start) = (Vec::new(), 0);
    for len in lens {
        for part in [0, 1, 0, 1] {
            expected.extend((start..start + len).map(|k| 2 * k as u32 + part));
        }
        start += len;
    }
    assert!(joined == expected);
}

/// An item among few long rows is found without a list of items.
#[test]
fn long_rows_are_few() {
    let t = Tensor::from(vec![1, 2]);
    let repeated = lensor::ragged::repeat(&t, 0, [1 << 42, 1]).unwrap();
    assert_eq!([3, 1 << 42].map(|k| repeated.get([k]).unwrap()), [1, 2]);
    let padded = Ragged::from_nested(vec![vec![1], vec![2]]).unwrap().padded(1, Some(1), 0);
    let mut one = [0];
    assert!(padded.unwrap().storage().read_run(usize::MAX, 1, &mut one).is_err());
}

/// Rows beyond 2^32 items, by tables of 64 bits.
#[test]
fn rows_lie_beyond_32_bits() {
    const FAR: usize = 1 << 36;
    let content = Tensor::new([FAR], Computed(FAR)).unwrap();
    let offsets = vec![0_u64, 3, 1 << 33, (1 << 33) + 4, FAR as u64 - 2, FAR as u64];
    let r = Ragged::new([5], Offsets::new(offsets.clone()).unwrap(), content).unwrap();
    let form = r.form().unwrap();
    assert_eq!((form.count(), form.to_string()), (Ok(FAR), "5 * var".to_string()));
    let at = |k: usize| k as u64 % 1000;
    let short = r.view().select((vec![0, 2, 4],)).unwrap();
    let expected: Vec<u64> =
        (0..3).chain((1 << 33)..(1 << 33) + 4).chain(FAR - 2..FAR).map(at).collect();
    assert_eq!(short.to_vec().unwrap(), expected);
    assert_eq!(
        (&short * 2).sum(1).eval().unwrap().to_string(),
        format!(
            "[6, {}, {}]",
            2 * expected[3..7].iter().sum::<u64>(),
            2 * expected[7..].iter().sum::<u64>()
        )
    );
    let ends = r.view().clip(1, -1..2).unwrap();
    assert_eq!(
        ends.to_vec().unwrap(),
        [0, 3, 1 << 33, (1 << 33) + 4, FAR - 2].map(|k| [at(k), at(k + 1)]).concat()
    );
    let last = r.view().flip(1).unwrap().select((.., 0)).unwrap();
    assert_eq!(last.to_vec().unwrap(), [2, (1 << 33) - 1, (1 << 33) + 3, FAR - 3, FAR - 1].map(at));
    for table in [
        Offsets::new(&offsets).unwrap(),
        Offsets::new(offsets.iter().map(|&x| x as i64).collect::<Vec<_>>()).unwrap(),
    ] {
        let content = Tensor::new([FAR], Computed(FAR)).unwrap();
        let same = Ragged::new([5], table, content).unwrap();
        assert_eq!(same.form(), r.form());
        assert!(same.to_string().len() < 1000);
    }
    assert_eq!(r.view().flatten(1).unwrap().into_tensor().unwrap().shape().to_vec(), [FAR]);
}

/// Blocks without rows, of which there may be any number.
#[test]
fn joins_of_no_rows_take_no_time() {
    let none = || {
        let offsets = Offsets::from_lengths([]).unwrap();
        Ragged::new([1 << 62, 0], offsets, Tensor::from(Vec::<f64>::new())).unwrap()
    };
    let joined = concat(1, [none(), none()]).unwrap();
    assert_eq!(joined.form().unwrap().to_string(), format!("{} * 0 * var", 1_u64 << 62));
    let shape = vec![usize::MAX, 0];
    let refused = concat(0, [none(), none(), none(), none()]).unwrap_err();
    assert_eq!(refused, Error::ShapeOverflow { shape });
    let inner = || none().nest([1], Offsets::new(vec![0_u64, 1 << 62]).unwrap()).unwrap();
    let joined = concat(2, [inner(), inner(), inner(), inner()]).unwrap();
    assert_eq!(joined.form().unwrap().to_string(), "1 * var * 0 * var");
}

/// Extents that no shape has are refused, also where there are no rows.
#[test]
fn extents_that_cannot_be_counted_are_refused() {
    let items = Tensor::from(Vec::<f64>::new());
    let rows = Ragged::new([0, 1 << 62], Offsets::new(vec![0_u32]).unwrap(), items).unwrap();
    let r = rows.nest([1], Offsets::new(vec![0_u32, 0]).unwrap()).unwrap();
    let refused = r.select((.., .., .., vec![0_usize; 4])).map(drop).unwrap_err();
    assert_eq!(refused, Error::ShapeOverflow { shape: vec![0, 1 << 62, 4] });
}

/// Folds of a fixed axis where there are no rows behind it, but any number of items in front of these.
#[test]
fn folds_in_front_of_no_rows_take_no_time() {
    let none = |lead: &[usize]| {
        let offsets = Offsets::from_lengths([]).unwrap();
        Ragged::new(lead, offsets, Tensor::from(Vec::<f64>::new())).unwrap()
    };
    let long = Offsets::new(vec![0_u64, 1 << 60, 1 << 60, 1 << 60]).unwrap();
    for (r, axis) in [
        (none(&[1 << 60, 3, 0]), 1),
        (none(&[3, 1 << 60, 0]), 0),
        (none(&[1 << 60, 0]), 0),
        (none(&[0, 1 << 60]), 1),
        (none(&[1 << 60, 0]).nest([3], long).unwrap(), 0),
    ] {
        let mut kept = r.extents();
        kept.remove(axis);
        assert_eq!(evaluated(r.sum(axis)).unwrap().extents(), kept);
        assert_eq!(evaluated(r.median(axis)).unwrap().extents(), kept);
        assert!(r.max(axis).or(0.0).explain().is_ok());
    }
}

/// Rows that overlap have more items together than there are addresses.
#[test]
fn rows_that_overlap_are_not_added_up_unseen() {
    let content = Tensor::constant([1 << 62], 0).unwrap();
    let rows = Ragged::from_views([1, 4], vec![0; 4], vec![1 << 62; 4], 1, content).unwrap();
    let refused = rows.flatten(2).map(drop).unwrap_err();
    assert!(
        matches!(refused, Error::ShapeOverflow { .. } | Error::OutOfMemory { .. }),
        "{refused}"
    );
}

/// Views of one row among many with rows of their own take the time of that row.
#[test]
fn views_of_single_rows_visit_no_others() {
    const ROWS: usize = 1 << 16;
    let rows = Offsets::from_lengths(vec![3; 3 * ROWS]).unwrap();
    let inner = Ragged::new([ROWS, 3], rows, Tensor::constant([9 * ROWS], 1).unwrap()).unwrap();
    let r = inner.nest([ROWS], Offsets::from_lengths(vec![1; ROWS]).unwrap()).unwrap();
    assert_eq!(r.form().unwrap().to_string(), format!("{ROWS} * var * 3 * var"));
    let mut items = 0;
    for (k, row) in r.rows().enumerate() {
        let row = row.unwrap();
        let shown = match k % 4 {
            0 => row.select((.., 1)),
            1 => row.flip(1),
            2 => row.rotate([0, 1, 0]),
            _ => row.flatten(1),
        };
        items += shown.unwrap().len().unwrap();
    }
    assert_eq!(items, ROWS / 4 * (3 + 9 + 9 + 9));
}

/// Where there are no elements, nothing is done for each of very many rows.
#[test]
fn rows_without_elements_take_no_time() {
    let rows = 1 << 60;
    let one = Ragged::new([], Offsets::from_lengths([1]).unwrap(), Tensor::from(vec![1.0]));
    let one = one.unwrap();
    let nested = Ragged::from_nested(vec![vec![1.0]]).unwrap();
    let mut none = Tensor::full([rows, 0], 0.0).unwrap();
    for sum in [&one + &none, &nested + &none] {
        let sum = sum.eval().unwrap();
        assert_eq!((sum.form().unwrap().to_string(), sum.len()), (format!("{rows} * 0"), Ok(0)));
    }
    none.as_ragged_mut().assign(&one).unwrap();
    none.as_ragged_mut().assign(&nested).unwrap();
    let pair =
        Ragged::new([2, 1], Offsets::from_lengths([1, 1]).unwrap(), Tensor::from(vec![1.0; 2]));
    let pair = pair.unwrap();
    let mut nones = Tensor::full([2, rows, 0], 0.0).unwrap();
    assert_eq!(
        (&pair + &nones).eval().unwrap().form().unwrap().to_string(),
        format!("2 * {rows} * 0")
    );
    nones.as_ragged_mut().assign(&pair).unwrap();
    let two = Ragged::from_nested(vec![vec![1.0, 2.0]]).unwrap();
    let error = (&two + &none).eval().map(drop).unwrap_err();
    assert!(matches!(error, Error::RaggedOperands { .. }), "{error}");
    let error = none.as_ragged_mut().assign(&two).unwrap_err();
    assert!(matches!(error, Error::RowLength { .. }), "{error}");
    let items = Tensor::from(vec![1.0; 3]);
    let other = Ragged::new([2, 1], Offsets::from_lengths([1, 2]).unwrap(), items).unwrap();
    let error = (&other + &nones).eval().map(drop).unwrap_err();
    let row = vec![1, 0];
    let expected =
        Error::RaggedOperands { argument: 2, items: 0, so_far: 2, row: row.clone(), axis: 2 };
    assert_eq!(error, expected);
    let error = nones.as_ragged_mut().assign(&other).unwrap_err();
    assert_eq!(error, Error::RowLength { row, axis: 2, items: 2, expected: 0 });
}
