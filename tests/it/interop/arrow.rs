//! Arrays of Arrow as tensors and back: the same elements, where they lay.

use crate::support::Random;
use arrow_array::builder::{FixedSizeListBuilder, Int64Builder, ListBuilder};
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float64Array, Int32Array, LargeListArray,
    ListArray,
};
use lensor::interop::arrow::arrow_schema::{DataType, Field};
use lensor::interop::arrow::{
    Bits, arrow_array, fixed_shape_tensor, from_boolean, from_fixed_shape_tensor, from_list,
    from_primitive, into_list, into_primitive, with_mask,
};
use lensor::prelude::*;
use lensor::ragged::{LanesRagged, Offsets, Ragged, ReduceRagged};
use lensor::storage::conformance::check_reader;
use std::sync::Arc;

#[test]
fn values_are_shared() {
    let array = Float64Array::from((0..1000).map(f64::from).collect::<Vec<_>>());
    let part = array.slice(10, 500);
    let t = from_primitive(&part).unwrap();
    assert_eq!(t.storage().as_slice().unwrap().as_ptr(), part.values().as_ptr());
    check_reader(t.storage()).unwrap();
    assert_eq!(t.view().sum(0).item().unwrap(), (10..510).map(f64::from).sum::<f64>());
    let data: Vec<i32> = (0..60).collect();
    let first = data.as_ptr();
    let array = into_primitive::<Int32Type>(Tensor::from_vec([3, 4, 5], data).unwrap()).unwrap();
    assert_eq!(
        (array.len(), array.data_type().to_string().matches("FixedSizeList").count()),
        (3, 2)
    );
    let back = from_list::<Int32Type>(&array).unwrap();
    let back = back.into_tensor().unwrap();
    assert_eq!(back.shape(), [3, 4, 5]);
    assert_eq!(back.storage().as_slice().unwrap().as_ptr(), first);
}

#[test]
fn nulls_are_masks() {
    let array = Int32Array::from(vec![Some(4), None, Some(6), None, Some(8)]);
    let error = from_primitive(&array).unwrap_err();
    assert_eq!(error, Error::Nulls { count: 2 });
    assert_eq!(error.to_string(), "2 elements are null: a mask beside the values can say which");
    let (values, mask) = with_mask(&array.slice(1, 4)).unwrap();
    assert_eq!(mask.to_vec().unwrap(), [false, true, false, true]);
    assert_eq!(values.view().sum(0).filter(&mask).item().unwrap(), 14);
    check_reader(mask.storage()).unwrap();
    let (values, mask) = with_mask(&Int32Array::from(vec![1, 2])).unwrap();
    assert_eq!((values.to_vec().unwrap(), mask.to_vec().unwrap()), (vec![1, 2], vec![true, true]));
    let bits = BooleanArray::from((0..100).map(|k| k % 3 == 0).collect::<Vec<_>>());
    let t: Tensor<Bits> = from_boolean(&bits.slice(7, 50)).unwrap();
    let expected: Vec<bool> = (7..57).map(|k| k % 3 == 0).collect();
    assert_eq!(t.flip(0).unwrap().flip(0).unwrap().to_vec().unwrap(), expected);
    assert!(matches!(
        from_boolean(&BooleanArray::from(vec![None, Some(true)])),
        Err(Error::Nulls { count: 1 })
    ));
}

/// `n * var * 2 * var`, by Arrow's own builders.
fn built(random: &mut Random, rows: usize) -> (ListArray, Vec<Vec<[Vec<i64>; 2]>>) {
    let mut builder =
        ListBuilder::new(FixedSizeListBuilder::new(ListBuilder::new(Int64Builder::new()), 2));
    let mut all = Vec::new();
    for _ in 0..rows {
        let mut row = Vec::new();
        for _ in 0..random.below(4) {
            let pair = [(); 2].map(|()| {
                let items: Vec<i64> =
                    (0..random.below(5)).map(|_| random.below(100) as i64).collect();
                items
                    .iter()
                    .for_each(|&item| builder.values().values().values().append_value(item));
                builder.values().values().append(true);
                items
            });
            builder.values().append(true);
            row.push(pair);
        }
        builder.append(true);
        all.push(row);
    }
    (builder.finish(), all)
}

fn text(rows: &[Vec<[Vec<i64>; 2]>]) -> String {
    format!("{rows:?}")
}

#[test]
fn lists_become_rows_and_back() {
    let mut random = Random(11);
    for round in 0..40 {
        let (lists, rows) = built(&mut random, round % 7);
        let (from, to) = (random.below(rows.len() + 1), rows.len());
        let (part, rows) = (lists.slice(from, to - from), &rows[from..to]);
        let r = from_list::<Int64Type>(&part).unwrap();
        if rows.len() < 6 && rows.iter().map(Vec::len).sum::<usize>() < 6 {
            assert_eq!(r.to_string(), text(rows), "{part:?}");
        }
        let flat: Vec<i64> = rows.iter().flatten().flatten().flatten().copied().collect();
        assert_eq!(r.to_vec().unwrap(), flat);
        let own = (&r * 3).eval().unwrap();
        let first = own.content().storage().as_ptr();
        let form = own.form().unwrap();
        let table = form.offsets(1).unwrap().as_u32().map(|table| table.as_ptr().cast::<i32>());
        let array = into_list::<Int64Type>(own.clone()).unwrap();
        assert_eq!(array.len(), rows.len());
        let back = from_list::<Int64Type>(&array).unwrap();
        assert_eq!(back.to_string(), own.to_string());
        let tripled: Vec<i64> = flat.iter().map(|x| 3 * x).collect();
        assert_eq!(back.to_vec().unwrap(), tripled);
        // Offsets that start at 0 are where they were.
        assert!(table.is_some() || from > 0);
        if let Some(table) = table {
            let found = array.as_any().downcast_ref::<ListArray>().unwrap().offsets().as_ptr();
            assert_eq!(found, table);
        }
        let array = into_list::<Int64Type>(own).unwrap();
        let back = from_list::<Int64Type>(&array).unwrap();
        if !flat.is_empty() {
            assert_eq!(back.content().storage().as_slice().unwrap().as_ptr(), first);
        }
    }
}

/// What pyarrow and others hand over: offsets of 64 bits, folds over them where they lie.
#[test]
fn large_lists_are_read_where_they_lie() {
    let rows: Vec<Option<Vec<Option<f64>>>> =
        (0..100).map(|k| Some((0..k % 7).map(|x| Some(f64::from(x * k))).collect())).collect();
    let lists = LargeListArray::from_iter_primitive::<Float64Type, _, _>(rows.clone());
    let r = from_list::<Float64Type>(&lists.slice(20, 60)).unwrap();
    let values = lists.values().as_any().downcast_ref::<Float64Array>().unwrap().values().as_ptr();
    assert_eq!(r.content().storage().as_slice().unwrap().as_ptr(), values);
    let sums: Vec<f64> = rows[20..80]
        .iter()
        .map(|row| row.as_ref().unwrap().iter().map(|x| x.unwrap()).sum())
        .collect();
    assert_eq!(r.sum(1).eval().unwrap().to_vec().unwrap(), sums);
    let sorted = r.sort(1, SortOrder::Descending).eval().unwrap();
    let array = into_list::<Float64Type>(sorted.clone()).unwrap();
    assert_eq!(from_list::<Float64Type>(&array).unwrap().to_vec(), sorted.to_vec());
    let wide = Offsets::new(vec![0_u64, 2, 2, 3]).unwrap();
    let r = Ragged::new([3], wide, Tensor::from(vec![1.0, 2.0, 3.0])).unwrap();
    let array = into_list::<Float64Type>(r.clone()).unwrap();
    assert_eq!(from_list::<Float64Type>(&array).unwrap().to_string(), r.to_string());
}

#[test]
fn columns_of_tensors() {
    let t = Tensor::from_vec([4, 2, 3], (0..24).map(f64::from).collect()).unwrap();
    let (field, column) = fixed_shape_tensor::<Float64Type>("t", t.clone()).unwrap();
    assert_eq!(column.len(), 4);
    let back = from_fixed_shape_tensor::<Float64Type>(&field, &column.slice(1, 2)).unwrap();
    assert_eq!(back.shape(), [2, 2, 3]);
    assert_eq!(back.to_vec().unwrap(), (6..18).map(f64::from).collect::<Vec<_>>());
    let first = t.storage().as_ptr();
    let (_, column) = fixed_shape_tensor::<Float64Type>("t", t).unwrap();
    let back = from_fixed_shape_tensor::<Float64Type>(&field, &column).unwrap();
    assert_eq!(back.storage().as_slice().unwrap().as_ptr(), first);
    let error = from_fixed_shape_tensor::<Int64Type>(&field, &column).unwrap_err();
    assert!(matches!(&error, Error::ElementType { expected: "i64", .. }), "{error}");
    let plain = arrow_field(&column);
    let error = from_fixed_shape_tensor::<Float64Type>(&plain, &column).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
}

fn arrow_field(column: &FixedSizeListArray) -> Field {
    Field::new("t", column.data_type().clone(), false)
}

#[test]
fn what_cannot_be_shared_says_why() {
    let texts = arrow_array::StringArray::from(vec!["a"]);
    let error = from_list::<Int64Type>(&texts).unwrap_err();
    assert_eq!(error, Error::ElementType { expected: "i64", found: "Utf8".into() });
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1)]), None]);
    assert!(matches!(from_list::<Int64Type>(&lists), Err(Error::Nulls { count: 1 })));
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None])]);
    assert!(matches!(from_list::<Int64Type>(&lists), Err(Error::Nulls { count: 1 })));
    // Nulls of what was sliced away are none.
    let lists = LargeListArray::from_iter_primitive::<Int64Type, _, _>([
        Some(vec![None, Some(1)]),
        Some(vec![Some(2)]),
        Some(vec![None; 3]),
    ]);
    let part = from_list::<Int64Type>(&lists.slice(1, 1)).unwrap();
    assert_eq!(part.to_string(), "[[2]]");
    let error = from_list::<Int64Type>(&lists.slice(1, 2)).unwrap_err();
    assert_eq!(error, Error::Nulls { count: 3 });
    let mut pairs = ListBuilder::new(FixedSizeListBuilder::new(Int64Builder::new(), 2));
    for pair in [[None, Some(1)], [Some(2), Some(3)]] {
        pair.into_iter().for_each(|x| pairs.values().values().append_option(x));
        pairs.values().append(true);
        pairs.append(true);
    }
    let pairs = pairs.finish();
    assert_eq!(from_list::<Int64Type>(&pairs).unwrap_err(), Error::Nulls { count: 1 });
    assert_eq!(from_list::<Int64Type>(&pairs.slice(1, 1)).unwrap().to_string(), "[[[2, 3]]]");
    let flipped = Ragged::from_nested(vec![vec![1_i64, 2], vec![3]]).unwrap().flip(1).unwrap();
    let error = into_list::<Int64Type>(flipped).unwrap_err();
    assert!(matches!(error, Error::NotStrided { stages: 1, .. }), "{error}");
    let turned = Tensor::from_vec([2, 3], vec![1_i64; 6]).unwrap().transpose([1, 0]).unwrap();
    assert!(matches!(into_primitive::<Int64Type>(turned), Err(Error::NotStrided { .. })));
    let scalar = Tensor::from_vec([0; 0], vec![1_i64]).unwrap();
    assert!(matches!(into_primitive::<Int64Type>(scalar), Err(Error::ExpectedRank { .. })));
    // Extents of 0 keep their numbers.
    let empty: ArrayRef =
        into_primitive::<Int64Type>(Tensor::from_vec([3, 0], vec![]).unwrap()).unwrap();
    assert_eq!(empty.len(), 3);
    assert_eq!(from_list::<Int64Type>(&empty).unwrap().into_tensor().unwrap().shape(), [3, 0]);
}

/// Metadata as PyArrow writes it, and as strangers do.
#[test]
fn fields_of_others_are_read() {
    let values = Float64Array::from((0..12).map(f64::from).collect::<Vec<_>>());
    let item = Arc::new(Field::new_list_field(DataType::Float64, true));
    let column = FixedSizeListArray::new(item, 6, Arc::new(values), None);
    let read = |text: &str| {
        let field = arrow_field(&column).with_metadata([
            ("ARROW:extension:name".to_string(), "arrow.fixed_shape_tensor".to_string()),
            ("ARROW:extension:metadata".to_string(), text.to_string()),
        ]);
        from_fixed_shape_tensor::<Float64Type>(&field, &column)
    };
    assert_eq!(read(r#"{"shape":[2,3]}"#).unwrap().shape(), [2, 2, 3]);
    let turned = read(r#"{"shape":[2,3],"permutation":[1,0],"dim_names":["y","x"]}"#).unwrap();
    assert_eq!((turned.shape().to_vec(), turned.get([1, 2, 0]).unwrap()), (vec![2, 3, 2], 8.0));
    for wrong in [
        r#"{"shape":[2,2]}"#,
        r#"{"shape":[4294967296]}"#,
        r#"{"shape":[1099511627776,1099511627776]}"#,
        r#"{"shape":[2,3],"permutation":[0,0]}"#,
        r#"{"shape":[2,3],"permutation":[18446744073709551615,0]}"#,
        r#"{"shape":[-1]}"#,
        "",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
