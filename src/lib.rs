//! Lazy, invertible tensor views over any storage, computed by fused kernels.
//!
//! A [`Tensor`] is two things: an address map, which says where in storage every index lies, and a
//! storage, which gives the element at an address. A view changes the map. An expression is a tree of
//! operators over views, and is computed when it is asked for, in one pass.
//!
//! # Views
//!
//! A view operation takes a tensor and gives a tensor over the same storage; no element is read. Call it
//! on [`Tensor::view`] to keep the original, on [`Tensor::view_mut`] to write through the result.
//!
//! ```
//! use lensor::prelude::*;
//! let t = Tensor::from_nested([[0, 1, 2], [3, 4, 5]])?;
//!
//! let turned = t.view().transpose([1, 0])?.flip(0)?;
//! assert_eq!(turned.shape(), [3, 2]);
//! assert_eq!(turned.to_vec()?, [2, 5, 1, 4, 0, 3]);
//!
//! // An integer drops its axis; ranges, steps and lists keep it. `(1,)` is a tuple of one selector.
//! assert_eq!(t.view().select((1, ..2))?.to_vec()?, [3, 4]);
//! assert_eq!(t.view().select((.., [2, 0, 2]))?.shape(), [2, 3]);
//!
//! // Rotations, repeats and reshapes are views as well, in any order and number.
//! let tiled = t.view().rotate([0, 1])?.broadcast([4, 6])?.reshape([3, 8])?;
//! assert_eq!(tiled.select((1,))?.to_vec()?, [4, 5, 3, 4, 2, 0, 1, 2]);
//! # Ok::<(), Error>(())
//! ```
//!
//! What a method gives, and when it is computed:
//!
//! | call | gives | computed |
//! |---|---|---|
//! | views: `transpose`, `select`, `reshape` .. | `Result` of a view, checked now | never (a mask that is an operand is computed now) |
//! | operators, functions, `cast`, `choose`, `outer`, `diff`, `stencil` | [`Lazy`], which carries errors | in each evaluation that reads it |
//! | folds, scans, windows, segments, [`lanes`], `take_at`, derivatives, convolutions, `matmul`, `tensordot`, `einsum`, `times_dense` | [`Deferred`], which carries errors | once in each evaluation that reads it (offsets and keys of segments that are operands now) |
//! | calls of a [`gufunc`] | [`Call`](gufunc::Call), which carries errors; its `eval` gives a list of tensors, `deferred` makes one output a [`Deferred`] | in each evaluation that reads it |
//! | operators and folds of [`ragged`] tensors | `LazyRagged`, `DeferredRagged`, `RaggedCall` | as their dense twins |
//! | [`concat`](tensor::concat()), [`stack`](tensor::stack), [`pad`](tensor::pad), [`meshgrid`](generate::meshgrid) | `Result` of views of all parts, checked now | never |
//! | `eval`, `to_vec`, `item`, `for_each_box`; what writes: `assign`, `update`, `put_at`, `sort_in_place` .. | `Result` of elements, or of `()` | now |
//! | what has a shape that elements decide: `extract`, `unique`, `nonzero`, the keys of `group_by`; what is sparse: `to_sparse`, `eval_sparse`, `times_sparse`, `contract` | `Result` of them | now |
//!
//! Elements come one by one from [`Tensor::try_iter`], each a `Result`, and rows from [`Tensor::outer_iter`].
//!
//! View operations take what they are called on. Operations with a name, such as `sqrt`, `sum` and `sort`, borrow a
//! tensor that owns its elements, and take views, expressions and deferred operations: `v.view()` keeps one, `t.lazy()`
//! gives a tensor away.
//!
//! The map of a view runs both ways: [`AddressMap::to_local`] gives the address of an index,
//! [`AddressMap::to_global`] every index that shows an address.
//!
//! ```
//! # use lensor::prelude::*;
//! let twice = Tensor::from_vec([3], vec![7, 8, 9])?.broadcast([6])?;
//! assert_eq!(twice.address_map().to_local([4])?, 1);
//! let shown: Vec<_> = twice.address_map().to_global(1).map(|index| index[0]).collect();
//! assert_eq!(shown, [1, 4]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Storage
//!
//! Storage is a `Vec`, a slice, an array, an `Arc` of one, one of the types in [`storage`], a mapped file, or a
//! type of your own: [`Reader`] has two required methods, [`Writer`] one more.
//!
//! ```
//! use lensor::{Reader, Tensor};
//! struct Squares(usize);
//! impl Reader for Squares {
//!     type Elem = u64;
//!     fn len(&self) -> usize { self.0 }
//!     fn read(&self, address: usize) -> u64 { (address * address) as u64 }
//! }
//! let t = Tensor::new([2, 3], Squares(6))?;
//! assert_eq!((t.flip(1)? + 1).to_vec()?, [5, 2, 1, 26, 17, 10]);
//! # Ok::<(), lensor::Error>(())
//! ```
//!
//! # Expressions
//!
//! Operators and [`Elementwise`] methods take tensors, `&Tensor`s, expressions and scalars, align them by
//! NumPy's rule and return a [`Lazy`] expression. [`Lazy::eval`] computes it without temporaries. A view
//! of an expression is a view of its operands, so only what is asked for is computed.
//!
//! ```
//! use lensor::prelude::*;
//! let counts = Tensor::from_nested([[3, 1, 4], [1, 5, 9]])?;
//! let prices = Tensor::from_vec([2, 1], vec![10, 20])?;
//!
//! let revenue = &counts * &prices + 1;
//! assert_eq!(revenue.to_vec()?, [31, 11, 41, 21, 101, 181]);
//! assert_eq!(revenue.select((.., 0))?.to_vec()?, [31, 21]);
//!
//! // Element types never change in silence.
//! let roots = counts.cast::<f64>().sqrt().floor().cast::<u8>();
//! assert_eq!(choose(roots.greater(1), &counts, 0).to_vec()?, [0, 0, 4, 0, 5, 9]);
//! # Ok::<(), Error>(())
//! ```
//!
//! Integers wrap around in debug and release builds alike, but for [`checked_add`](Elementwise::checked_add) and the
//! like; an integer division by zero is an error. No result depends on the number of threads or, large matrix products
//! aside, on what the processor supports. [`Lazy::explain`] says how an expression would be evaluated,
//! [`Deferred::explain`] how an operation would be computed.
//!
//! # Assignment
//!
//! ```
//! use lensor::prelude::*;
//! let mut table = Tensor::full([3, 3], 0)?;
//! table.view_mut().diagonal(0, 1)?.assign(&Tensor::from_vec([3], vec![1, 2, 3])?)?;
//! table.view_mut().select((0,))?.try_add_assign(10)?; // `+=` panics where this returns an error
//! assert_eq!(table.to_vec()?, [11, 10, 10, 0, 2, 0, 0, 0, 3]);
//!
//! // Source and destination in one storage: as if the old elements had been copied first.
//! table.update(|old| Ok(old.transpose([1, 0])?.boxed()))?;
//! assert_eq!(table.select((.., 0))?.to_vec()?, [11, 10, 10]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Reductions, scans and lanes
//!
//! Folds along axes are methods of [`Reduce`]; they are [`Deferred`]: computed when asked for, fused with the expression
//! they fold, and operands themselves. Sums of integers are `i64` or `u64`, means `f64`. A [`Reducer`](reduce::Reducer)
//! of your own brings axes, masks, [scans](scan), [windows](rolling) and [`segments`] with it. What needs whole
//! [`lanes`] is sorted, searched and picked from along any axis; [`stencil`] has derivatives and convolutions, [`linalg`] products, [`generate`] ranges and grids.
//!
//! ```
//! use lensor::prelude::*;
//! let t = Tensor::from_nested([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])?;
//!
//! let spread = &t - t.mean(1).keepdims();
//! assert_eq!((&spread * &spread).sum(1).to_vec()?, [2.0, 2.0]);
//! assert_eq!(t.max(0).filter(t.less(5.5)).to_vec()?, [3.0, 5.0, 4.0]);
//!
//! assert_eq!(t.cumsum(1).to_vec()?, [3.0, 4.0, 6.0, 6.0, 11.0, 15.0]);
//! assert_eq!(t.argsort(1, SortOrder::Ascending).to_vec()?, [1, 2, 0, 2, 1, 0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Generalized ufuncs
//!
//! A function of small tensors, called for every index of all other axes: see [`gufunc`].
//!
//! ```
//! use lensor::gufunc::{Gufunc, cross};
//! use lensor::prelude::*;
//! let edges = Tensor::from_vec([2, 2, 3], vec![1.0, 0., 0., 0., 2., 0., 0., 0., 3., 1., 0., 0.])?;
//! let [normals] = cross().call([edges.view().select((.., 0))?, edges.view().select((.., 1))?]).eval()?;
//! assert_eq!(normals.to_vec()?, [0., 0., 2., 0., 3., 0.]);
//!
//! let area = Gufunc::<[f64; 1], [f64; 1], _>::each("(3)->()", |[normal], [mut area]| {
//!     area[0] = normal.iter().map(|x| x * x).sum::<f64>().sqrt() / 2.0;
//! })?;
//! assert_eq!(area.call([&normals]).sum(..).item()?, 2.5);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Ragged tensors
//!
//! Axes whose rows differ in length: see [`ragged`].
//!
//! ```
//! use lensor::prelude::*;
//! use lensor::ragged::Ragged;
//! let r = Ragged::from_nested(vec![vec![3.0, 1.0], vec![], vec![4.0]])?;
//! assert_eq!((&r * 2.0).eval()?.to_string(), "[[6, 2], [], [8]]");
//! assert_eq!(r.sum(1).eval_dense()?.to_vec()?, [4.0, 0.0, 4.0]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Sparse tensors
//!
//! [`storage::Sparse`] keeps a fill value, any value, and the entries that differ from it. It stays sparse
//! under every view, and expressions of sparse tensors are computed from their entries: see
//! [`Lazy::eval_sparse`]. Reductions fold them, [`product`] multiplies them over any semiring, and
//! [`interop`] reads and writes their files.
//!
//! ```
//! use lensor::prelude::*;
//! use lensor::storage::Duplicates;
//! let indexes = [[0, 5], [9, 2]];
//! let values = vec![1.5, 2.5];
//! let t = Tensor::from_coordinates([1 << 20, 1 << 20], 0.0, &indexes, values, Duplicates::Refuse)?;
//!
//! let symmetric = (&t + t.view().transpose([1, 0])?).eval_sparse()?;
//! assert_eq!(symmetric.storage().stored_len(), 4);
//! assert_eq!(symmetric.get([2, 9])?, 2.5);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Files, and other libraries
//!
//! Users of NumPy and of ndarray find what they know in [`for_numpy_users`] and, with that feature, `for_ndarray_users`.
//! [`interop`] has a module for each format and library.
//!
//! ```
//! use lensor::interop::npy;
//! use lensor::prelude::*;
//! let path = std::env::temp_dir().join(format!("lensor-doc-{}.npy", std::process::id()));
//! npy::save(&path, Tensor::from_vec([2, 2], vec![1.0, 2.0, 3.0, 4.0])? * 2.0)?;
//! assert_eq!(npy::open::<f64>(&path)?.to_vec()?, [2.0, 4.0, 6.0, 8.0]);
//! std::fs::remove_file(path)?;
//! # Ok::<(), Error>(())
//! ```
//!
//! # Errors
//!
//! What data can cause is an [`Error`] that carries the numbers involved; what panics says so under
//! `# Panics`. An operator cannot return an error, so an expression carries it until it is asked for its
//! shape, a view or its elements.
//!
//! `main` prints the error that it returns by `Debug`, with all fields. The sentence is its `Display`: let a function
//! `run` return it, and `main` say `if let Err(error) = run() { eprintln!("{error}"); }`.
//!
//! Memory that cannot be had is [`Error::OutOfMemory`], and what was there is unchanged or partly written, as
//! after any error. These still abort without memory, as all of Rust does:
//!
//! - `Clone`, the conversion of a slice to a [`Select`], formatting, and starting threads;
//! - the inside of other crates: `roaring` (sets as selectors), `sprs` and `faer` (matrices), `matrixmultiply`
//!   (large products of floats), and where their features are used `zarrs` (chunks as they are decoded) and
//!   `serde_json` (metadata).
//!
//! ```
//! use lensor::prelude::*;
//! let a = Tensor::from_vec([2, 2], vec![8, 6, 4, 2])?;
//! let error = (&a / &(&a - 4)).eval().unwrap_err();
//! assert_eq!(error, Error::Arithmetic { index: vec![1, 0] });
//!
//! let sum = &a + Tensor::from_vec([3], vec![1, 2, 3])?;
//! assert_eq!(
//!     sum.shape().unwrap_err().to_string(),
//!     "operands could not be broadcast: argument 2 has shape [3], the result so far is [2, 2], \
//!      axis 1: 3 vs 2"
//! );
//! # Ok::<(), Error>(())
//! ```
//!
//! The messages of the compiler that users meet are explained in [`compile_errors`].
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `mmap` | yes | storage and `.npy` files mapped into memory |
//! | `rayon` | yes | large evaluations use all threads |
//! | `roaring` | yes | selection by bitmaps, and `interop::roaring` |
//! | `precompiled` | yes | common operations on usual types, compiled with the library: programs build faster |
//! | `sprs` | no | `interop::sprs`: matrices of `sprs` as storage and back |
//! | `ndarray`, `nalgebra`, `faer` | no | `interop::{ndarray, nalgebra, faer}`: arrays and matrices as tensors, and back |
//! | `arrow` | no | `interop::arrow`: arrays and lists as tensors and ragged tensors, and back |
//! | `npz`, `safetensors` | no | `interop::npz`, `interop::safetensors`: files of several arrays |
//! | `dlpack` | no | `interop::dlpack`: memory that libraries of other languages share |
//! | `zarr` | no | `interop::zarr`: arrays in chunks, on disk or in any store, computed chunk by chunk |
//! | `serde` | no | `interop::serde`: shapes, maps and tensors in any format |
//! | `proptest` | no | `interop::proptest`: strategies for shapes, chains of views and tensors |
//! | `complex` | no | complex elements; [`for_numpy_users`] says what they have |
//! | `half` | no | `f16` and `bf16` elements |
//! | `quickcheck` | no | `arbitrary`: random shapes, maps and tensors under chains of views |
//! | `conformance` | no | `conformance`: laws for storage of your own, and what operations ask of it |
//!
//! Features only add; none changes a result. Sparse tensors are always there, without a feature.
//!
//! # Safety
//!
//! The interface is safe, but for the functions that map files into memory and those that import by DLPack: what other
//! processes do to such a file, and what a descriptor's pointers point to, is beyond any check, so those are `unsafe`
//! and say what is asked. [`Reader`] and [`Writer`]
//! are safe traits: an implementation that breaks its promises gives wrong numbers, never undefined
//! behaviour, as kernels hold every run of addresses against the very slice they are about to use.

#[cfg(feature = "quickcheck")]
pub mod arbitrary;
#[cfg(feature = "conformance")]
mod cost;
#[doc = include_str!("compile_errors.md")]
pub mod compile_errors {}
pub mod compute;
pub mod dtype;
pub mod error;
pub mod expr;
#[cfg(feature = "ndarray")]
#[doc = include_str!("for_ndarray.md")]
pub mod for_ndarray_users {}
#[doc = include_str!("for_numpy.md")]
pub mod for_numpy_users {}
mod grid;
pub mod gufunc;
pub mod interop;
mod kernel;
pub mod map;
mod memory;
mod ops;
// Left out of unit tests, which would compile all these instances again and call none.
#[cfg(all(feature = "precompiled", not(test)))]
#[doc(hidden)]
pub mod precompiled;
pub mod ragged;
pub mod shape;
pub mod storage;
pub mod tensor;

pub use compute::{Compute, Deferred};
pub use error::{Error, Result, StorageError};
pub use expr::{BoxExpr, Elementwise, Expr, Lazy, Pieces, choose, zip_with};
pub use map::{AddressMap, Select};
pub use ops::Elements;
pub use ops::number::{Float, Number};
pub use ops::reduce::{self, Reduce};
pub use ops::{diff, generate, indexing, lanes, linalg, product, rolling, scan, segments, stencil};
pub use shape::{Align, Index, Shape};
pub use storage::{BoxReader, Reader, Stored, StoredMut, Writer};
pub use tensor::Tensor;

/// Laws for storage, and what operations ask of it, counted by [`cost`](conformance::cost).
#[cfg(feature = "conformance")]
pub mod conformance {
    pub use crate::cost::{Cost, CostTable, Model, cost, cost_of_writing};
    pub use crate::storage::conformance::*;
}

/// Types that appear in signatures, public only so that these can be spelled. Not part of the interface.
#[doc(hidden)]
pub mod machinery {
    pub use crate::ops::cores::{Arrangement, Destination, Inputs, Operand, Outputs, Source};
}

/// What most programs need: `use lensor::prelude::*`.
///
/// Most operation traits are imported `as _`: their methods are in scope, their names are not.
pub mod prelude {
    pub use crate::diff::Diff as _;
    pub use crate::indexing::Indexing as _;
    pub use crate::lanes::{Lanes as _, SortOrder};
    pub use crate::linalg::Linalg as _;
    pub use crate::ragged::{ElementwiseRagged as _, LanesRagged as _, ReduceRagged as _};
    pub use crate::reduce::{Accumulate as _, Modes as _, Separate as _};
    pub use crate::rolling::Rolling as _;
    pub use crate::scan::Scan as _;
    pub use crate::segments::Segments as _;
    pub use crate::stencil::Stencil as _;
    pub use crate::{
        Align, BoxExpr, Deferred, Elementwise, Error, Expr, Float, Lazy, Number, Pieces, Reader,
        Reduce, Select, Shape, Tensor, Writer, choose, zip_with,
    };
}

/// The programs of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
