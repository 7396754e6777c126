//! Shapes, maps, element types and tensors in any format of [`serde`] (feature `serde`).
//!
//! | | as |
//! |---|---|
//! | [`Shape`] | the list of its extents |
//! | [`DType`] | its name |
//! | [`Layout`], [`AddressMap`] | offset and axes; the list of its stages |
//! | [`Sparse`] | length, fill value, addresses and values |
//! | `Tensor<Vec<T>>` | shape and elements in row-major order |
//! | `Tensor<Sparse<T>>` | map and storage |
//!
//! Whatever is read is checked as if it were built by hand, so a stranger's text is an error or a value in normal form; a
//! round trip gives an equal one.
//!
//! ```
//! use lensor::Tensor;
//! let t = Tensor::from_nested([[1, 2], [3, 4]])?;
//! let text = serde_json::to_string(&t.clone().transpose([1, 0])?)?;
//! assert_eq!(text, r#"{"shape":[2,2],"elements":[1,3,2,4]}"#);
//! assert_eq!(serde_json::from_str::<Tensor<Vec<i32>>>(&text)?.get([0, 1])?, 3);
//! let wrong = serde_json::from_str::<Tensor<Vec<i32>>>(r#"{"shape":[3],"elements":[1]}"#);
//! assert!(wrong.unwrap_err().to_string().contains("needs 3"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use ::serde;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::map::{AddressMap, AxisMap, Layout, Pattern, Table};
use crate::shape::Shape;
use crate::storage::Sparse;
use crate::tensor::Tensor;
use ::serde::de::{Deserialize, Deserializer, Error as _};
use ::serde::ser::{Error as _, Serialize, SerializeStruct as _, Serializer};

/// A value as the raw struct of its parts, and from it with all checks.
macro_rules! through {
    ($([$($generics:tt)*] $type:ty: $Raw:ty, $to:expr, $from:expr;)*) => { $(
        impl<$($generics)*> Serialize for $type
        where
            $Raw: Serialize,
        {
            fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
                let raw: Result<$Raw> = $to(self);
                raw.map_err(Z::Error::custom)?.serialize(serializer)
            }
        }

        impl<'de, $($generics)*> Deserialize<'de> for $type
        where
            $Raw: Deserialize<'de>,
        {
            fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
                let value: Result<Self> = $from(<$Raw>::deserialize(deserializer)?);
                value.map_err(Z::Error::custom)
            }
        }
    )* };
}

through! {
    [] Shape: Vec<usize>, |shape: &Self| Ok(shape.to_vec()), |extents: Vec<usize>| {
        Shape::check_rank(extents.len())?;
        Ok(extents.into())
    };
    [] DType: String, |dtype: &Self| Ok(dtype.name().into()), |name: String| {
        let found = DType::ALL.iter().copied().find(|dtype| dtype.name() == name);
        found.ok_or(Error::ElementType { expected: "an element type of this build", found: name })
    };
    [] Layout: RawLayout, RawLayout::of, |raw: RawLayout| raw.checked();
    [] AddressMap: Vec<RawLayout>, |map: &Self| map.stages().map(RawLayout::of).collect(), |stages: Vec<RawLayout>| {
        AddressMap::from_stages(stages.into_iter().map(RawLayout::checked).collect::<Result<Vec<_>>>()?)
    };
    [T: Copy + Send + Sync] Sparse<T>: RawSparse<T>, |sparse: &Self| {
        let (len, fill, addresses, values) = sparse.clone().into_parts();
        Ok(RawSparse { len, fill, addresses, values })
    }, |raw: RawSparse<T>| {
        Sparse::from_sorted(raw.len, raw.fill, raw.addresses, raw.values)
    };
    [T: Copy + Send + Sync] Tensor<Vec<T>>: RawTensor<T>, |t: &Self| {
        Ok(RawTensor { shape: t.shape(), elements: t.to_vec()? })
    }, |raw: RawTensor<T>| Tensor::from_vec(raw.shape, raw.elements);
    [T: Copy + Send + Sync] Tensor<Sparse<T>>: RawView<T>, |t: &Self| {
        Ok(RawView { map: t.address_map().clone(), storage: t.storage().clone() })
    }, |raw: RawView<T>| Tensor::with_map(raw.map, raw.storage);
}

/// A layout as it is written.
#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLayout {
    offset: usize,
    axes: Vec<RawAxis>,
}

#[derive(::serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAxis {
    extent: usize,
    stride: isize,
    #[serde(default)]
    pattern: RawPattern,
}

/// Texts leave out a linear pattern. Other formats may have no names of fields, so that all must be there.
impl Serialize for RawAxis {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let all = !serializer.is_human_readable() || !matches!(self.pattern, RawPattern::Linear);
        let mut axis = serializer.serialize_struct("RawAxis", 2 + usize::from(all))?;
        axis.serialize_field("extent", &self.extent)?;
        axis.serialize_field("stride", &self.stride)?;
        if all {
            axis.serialize_field("pattern", &self.pattern)?;
        }
        axis.end()
    }
}

#[derive(Default, ::serde::Serialize, ::serde::Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum RawPattern {
    #[default]
    Linear,
    Cyclic {
        period: usize,
        shift: usize,
        step: usize,
    },
    Listed(Vec<usize>),
}

impl RawLayout {
    fn of(layout: &Layout) -> Result<Self> {
        let axes = layout.axes().map(|axis| RawAxis {
            extent: axis.extent,
            stride: axis.stride,
            pattern: match axis.pattern {
                Pattern::Linear => RawPattern::Linear,
                Pattern::Cyclic { period, shift, step } => {
                    RawPattern::Cyclic { period, shift, step }
                }
                Pattern::Listed(table) => RawPattern::Listed(table.positions().into()),
            },
        });
        Ok(Self { offset: layout.offset(), axes: axes.collect() })
    }

    fn checked(self) -> Result<Layout> {
        let offset = isize::try_from(self.offset).map_err(|_| Error::AddressOverflow {
            address: self.offset as i128,
            shape: self.axes.iter().map(|axis| axis.extent).collect(),
        })?;
        let axes = self.axes.into_iter().map(|axis| AxisMap {
            extent: axis.extent,
            stride: axis.stride,
            pattern: match axis.pattern {
                RawPattern::Linear => Pattern::Linear,
                RawPattern::Cyclic { period, shift, step } => {
                    Pattern::Cyclic { period, shift, step }
                }
                RawPattern::Listed(positions) => Pattern::Listed(Table::new(positions)),
            },
        });
        Layout::new(offset, axes)
    }
}

/// Sparse storage as it is written.
#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSparse<T> {
    len: usize,
    fill: T,
    addresses: Vec<usize>,
    values: Vec<T>,
}

/// A dense tensor as it is written.
#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTensor<T> {
    shape: Shape,
    elements: Vec<T>,
}

/// A view as it is written.
#[derive(::serde::Serialize, ::serde::Deserialize)]
#[serde(
    deny_unknown_fields,
    bound(serialize = "Sparse<T>: Serialize", deserialize = "Sparse<T>: Deserialize<'de>")
)]
struct RawView<T> {
    map: AddressMap,
    storage: Sparse<T>,
}
