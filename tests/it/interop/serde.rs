//! Shapes, maps and tensors as text, or bytes, and back.

use crate::support::Random;
use lensor::arbitrary::{Chain, SparseViewed, Viewed};
use lensor::dtype::DType;
use lensor::interop::serde::serde::{Serialize, de::DeserializeOwned};
use lensor::map::Layout;
use lensor::storage::Sparse;
use lensor::{AddressMap, Shape, Tensor};
use quickcheck::quickcheck;
use serde_json::{Value, from_str, to_string};

/// Through a text, then through bytes without names of fields.
fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let read: T = from_str(&to_string(value).unwrap()).unwrap();
    postcard::from_bytes(&postcard::to_extend(&read, Vec::new()).unwrap()).unwrap()
}

/// A number, a word or a list of a text changed into something else.
fn changed(value: &mut Value, random: &mut Random) {
    let numbers = [
        0.into(),
        1.into(),
        (-1).into(),
        u64::MAX.into(),
        i64::MAX.into(),
        1.5.into(),
        Value::Null,
    ];
    match value {
        Value::Array(list) if !list.is_empty() && random.below(5) > 0 => {
            let at = random.below(list.len());
            match random.below(6) {
                0 => drop(list.remove(at)),
                1 => list.push(list[at].clone()),
                _ => changed(&mut list[at], random),
            }
        }
        Value::Object(map) if !map.is_empty() && random.below(5) > 0 => {
            let at = random.below(map.len());
            match random.below(8) {
                0 => {
                    let key = map.keys().nth(at).unwrap().clone();
                    map.remove(&key);
                }
                _ => changed(map.values_mut().nth(at).unwrap(), random),
            }
        }
        other => *other = numbers[random.below(numbers.len())].clone(),
    }
}

quickcheck! {
    fn maps_come_back_equal(chain: Chain, layout: Layout) -> bool {
        let map = chain.map();
        again(&map) == map && again(&layout) == layout && again(chain.shape()) == *chain.shape()
    }

    fn tensors_come_back_equal(viewed: Viewed<i64>, sparse: SparseViewed<i32>) -> bool {
        let (shape, data) = viewed.model();
        let dense = again(&viewed.tensor());
        let (t, back) = (sparse.tensor(), again(&sparse.tensor()));
        (dense.shape(), dense.to_vec().unwrap()) == (shape, data)
            && (back.address_map(), back.storage()) == (t.address_map(), t.storage())
    }

    /// Texts of strangers: an error, or a value that is in order and comes back equal.
    fn changed_texts_are_refused_or_in_order(chain: Chain, sparse: SparseViewed<i32>, seed: u64) -> bool {
        let mut random = Random(seed);
        let mut text = serde_json::to_value(chain.map()).unwrap();
        changed(&mut text, &mut random);
        if let Ok(map) = serde_json::from_value::<AddressMap>(text) {
            assert_eq!(again(&map), map);
            let span = map.span();
            if map.count() < 10_000 {
                for index in map.shape().indexes().unwrap() {
                    assert!(span.contains(&map.to_local(&index).unwrap()));
                }
            }
        }
        let mut text = serde_json::to_value(sparse.tensor()).unwrap();
        changed(&mut text, &mut random);
        if let Ok(t) = serde_json::from_value::<Tensor<Sparse<i32>>>(text)
            && t.len() < 10_000
        {
            t.to_vec().unwrap();
        }
        let mut text = serde_json::to_value(Tensor::from_nested([[1, 2], [3, 4]]).unwrap()).unwrap();
        changed(&mut text, &mut random);
        if let Ok(t) = serde_json::from_value::<Tensor<Vec<i32>>>(text) {
            t.to_vec().unwrap();
        }
        true
    }
}

#[test]
fn texts_are_as_told() {
    let map = AddressMap::row_major([2, 3]).unwrap().rotate([0, 1]).unwrap();
    let text = r#"[{"offset":0,"axes":[{"extent":2,"stride":3},{"extent":3,"stride":1,"pattern":{"cyclic":{"period":3,"shift":2,"step":1}}}]}]"#;
    assert_eq!(to_string(&map).unwrap(), text);
    let told = text.replace(r#""stride":3"#, r#""stride":3,"pattern":"linear""#);
    assert_eq!(from_str::<AddressMap>(&told).unwrap(), map);
    for &dtype in DType::ALL {
        assert_eq!(again(&dtype), dtype);
    }
    assert_eq!(to_string(&DType::F64).unwrap(), "\"f64\"");
    let storage = Sparse::from_sorted(4, 0, vec![1, 3], vec![5, 6]).unwrap();
    let text = r#"{"len":4,"fill":0,"addresses":[1,3],"values":[5,6]}"#;
    assert_eq!(to_string(&storage).unwrap(), text);
}

#[test]
fn wrong_texts_say_why() {
    fn says<T: DeserializeOwned>(text: &str, why: &str) {
        let error = from_str::<T>(text).err().unwrap_or_else(|| panic!("{text}"));
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    says::<Shape>(&format!("{:?}", vec![1; 65]), "at most 64 axes");
    says::<DType>("\"f65\"", "f65");
    says::<AddressMap>(r#"[{"offset":0,"axes":[{"extent":2,"stride":-1}]}]"#, "address");
    says::<AddressMap>(
        r#"[{"offset":0,"axes":[{"extent":9,"stride":1}]},{"offset":0,"axes":[{"extent":2,"stride":1}]}]"#,
        "0..9",
    );
    says::<AddressMap>(r#"[{"offset":18446744073709551615,"axes":[]}]"#, "address");
    says::<AddressMap>(
        r#"[{"offset":0,"axes":[{"extent":2,"stride":1,"pattern":{"cyclic":{"period":0,"shift":0,"step":0}}}]}]"#,
        "period",
    );
    says::<Sparse<i32>>(r#"{"len":2,"fill":0,"addresses":[1,1],"values":[1,2]}"#, "");
    says::<Sparse<i32>>(r#"{"len":2,"fill":0,"addresses":[2],"values":[1]}"#, "");
    says::<Tensor<Vec<u8>>>(r#"{"shape":[2],"elements":[1]}"#, "needs 2");
    says::<Tensor<Vec<u8>>>(r#"{"shape":[2],"elements":[1,2,3]}"#, "needs 2 elements, found 3");
    says::<Tensor<Vec<u8>>>(r#"{"shape":[],"elements":[1,2]}"#, "needs 1 elements, found 2");
    says::<Tensor<Vec<u8>>>(r#"{"shape":[3,0],"elements":[1]}"#, "needs 0 elements, found 1");
    says::<Tensor<Vec<u8>>>(r#"{"shape":[2],"elements":[1,2],"more":0}"#, "more");
    let far = r#"{"map":[{"offset":5,"axes":[]}],"storage":{"len":2,"fill":0,"addresses":[],"values":[]}}"#;
    says::<Tensor<Sparse<u8>>>(far, "5..6");
}
