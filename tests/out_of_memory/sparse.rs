//! Sparse tensors: made, viewed, computed, assigned to, multiplied.

use super::{FEW as COUNT, FEW_SIDE as SIDE, every_shortage, square_of};
use lensor::expr::zip_stored;
use lensor::prelude::*;
use lensor::product::PlusTimes;
use lensor::reduce::{Max, WrappingSum};
use lensor::storage::{Duplicates, Sparse};
use lensor::{Result, Writer};

type Entries = Tensor<Sparse<u64>>;

/// A large square of which `count` elements are stored, every `step`-th of them.
pub(crate) fn every(count: usize, step: usize) -> Entries {
    let addresses: Vec<usize> = (0..count).map(|k| k * step).collect();
    let values = addresses.iter().map(|&address| address as u64 | 1).collect();
    let side = count.isqrt() * 4;
    Tensor::new([side, side], Sparse::from_sorted(side * side, 0, addresses, values).unwrap())
        .unwrap()
}

/// Two entries in each of `side` rows.
pub(crate) fn banded(side: usize, stride: usize) -> Entries {
    let lists: [Vec<usize>; 2] = [
        (0..2 * side).map(|k| k / 2).collect(),
        (0..2 * side).map(|k| (k / 2 * stride + k % 2 * 17) % side).collect(),
    ];
    let values = (0..2 * side as u64).map(|k| k | 1).collect();
    let lists = [&lists[0][..], &lists[1]];
    Tensor::from_coordinate_lists([side, side], 0, &lists, values, Duplicates::sum()).unwrap()
}

/// What is compared of a result.
pub(crate) fn parts(t: Entries) -> (Vec<usize>, Vec<u64>) {
    let (_, _, addresses, values) = t.into_storage().into_parts();
    (addresses, values)
}

pub(crate) fn entries() {
    let mixed: Vec<usize> = (0..COUNT).map(|k| k * 7919 % (COUNT / 2)).collect();
    let values = Tensor::from((0..COUNT as u64).collect::<Vec<_>>());
    let lists = [&mixed[..], &mixed];
    let shape = [COUNT, COUNT];
    for duplicates in [Duplicates::First, Duplicates::sum()] {
        every_shortage("coordinate lists", 3, || {
            Tensor::from_coordinate_lists(shape, 0, &lists, values.to_vec()?, duplicates).map(parts)
        });
    }
    let refused = || match Tensor::from_coordinate_lists(
        shape,
        0,
        &lists,
        values.to_vec()?,
        Duplicates::Refuse,
    ) {
        Err(Error::InvalidSparse { at, .. }) => Ok(at),
        other => other.map(|_| 0),
    };
    every_shortage("refused", 3, refused);
    every_shortage("from_dense", 2, || Ok(Sparse::from_dense(values.storage(), 3)?.into_parts()));
    let t = every(COUNT, 3);
    every_shortage("sub_buffer", 2, || Ok(t.storage().sub_buffer(10..COUNT * 2)?.into_parts()));
    let square = square_of(SIDE);
    every_shortage("to_sparse", 2, || square.to_sparse(1).map(parts));
    every_shortage("to_vec", 1, || t.to_vec());
    type Lists = (Vec<usize>, Vec<u64>);
    let view = |what, f: &dyn Fn() -> Result<Lists>| every_shortage(what, 1, f);
    macro_rules! viewed {
        ($($what:literal $t:expr;)*) => { $(
            view($what, &|| {
                let entries = $t.stored_entries()?.map(Sparse::into_parts);
                let (_, _, addresses, values) = entries.unwrap_or_default();
                Ok((addresses, values))
            });
        )* };
    }
    let side = SIDE * 4;
    let list = [Select::List((0..2 * COUNT).map(|k| k * k % (4 * COUNT)).collect())];
    viewed! {
        "whole" t.view();
        "flipped" t.view().flip(0)?.flip(1)?;
        "transposed" t.view().transpose([1, 0])?;
        "sliced" t.view().slice(1, 10..side - 7)?;
        "stepped" t.view().select((Select::every(2), Select::every(-3)))?;
        "rotated" t.view().rotate([5, 7])?;
        "repeated" t.view().broadcast([2, side, side])?;
        "tiled" t.view().broadcast([2 * side, side])?;
        "listed" t.view().select((.., (0..side).map(|k| k * k % side).collect::<Vec<_>>()))?;
        "looked up" t.view().reshape([side * side])?.select(&list)?;
        "reshaped" t.view().transpose([1, 0])?.reshape([side * side])?;
        "diagonal" t.view().diagonal(0, 1)?.broadcast([side, side])?;
        "windows" t.view().windows(1, 3)?;
    }
}

pub(crate) fn computing() {
    let (a, b, c) = (every(COUNT, 3), every(COUNT, 2), every(COUNT, 5));
    let dense = square_of(SIDE).view().broadcast([SIDE * 4, SIDE * 4]).unwrap().eval().unwrap();
    every_shortage("sparse map", 2, || (&a * 3).eval_sparse().map(parts));
    every_shortage("sparse leaf", 2, || a.view().lazy().eval_sparse().map(parts));
    every_shortage("sparse sum", 2, || (&a + &b).eval_sparse().map(parts));
    every_shortage("three", 2, || (&a + &b * &c).eval_sparse().map(parts));
    every_shortage("crossed", 2, || (&a + b.view().transpose([1, 0])?).eval_sparse().map(parts));
    every_shortage("boxed", 2, || ((&a * 2).boxed() + &b).boxed().eval_sparse().map(parts));
    every_shortage("zip_stored", 2, || {
        zip_stored((&a, &b), 0, |(x, y)| x.wrapping_mul(y)).eval_sparse().map(parts)
    });
    every_shortage("zip_stored with dense", 2, || {
        zip_stored((&a, &dense), 0, |(x, y)| x.wrapping_mul(y)).eval_sparse().map(parts)
    });
    every_shortage("zip_stored of three", 2, || {
        zip_stored((&a, &b, &c), 0, |(x, y, z)| x ^ y ^ z).eval_sparse().map(parts)
    });
    every_shortage("dense result", 1, || (&a + &b).eval());
    every_shortage("mixed", 1, || (&a + &dense).eval());
    every_shortage("sparse to_sparse", 2, || (&a + &b).to_sparse(0).map(parts));
    every_shortage("dense to_sparse", 2, || (&dense + &a).to_sparse(1).map(parts));
    every_shortage("sparse fault", 1, || match (&a / &b).eval_sparse() {
        Err(Error::OutOfMemory { bytes }) => Err(Error::OutOfMemory { bytes }),
        other => Ok(other.map(drop)),
    });
    every_shortage("stored fault", 0, || {
        let zero = (&a * 0).eval_sparse()?;
        match zip_stored((&a, &zero), 0, |(x, y)| x.wrapping_add(y))
            .eval_sparse()
            .and(((&a + 1) / &zero).eval_sparse())
        {
            Err(Error::OutOfMemory { bytes }) => Err(Error::OutOfMemory { bytes }),
            other => Ok(other.map(drop)),
        }
    });
    for axes in [&[0][..], &[1], &[0, 1], &[]] {
        every_shortage("sparse sums", 0, || a.fold(axes, WrappingSum).eval_sparse().map(parts));
        every_shortage("sparse maxima", 0, || a.fold(axes, Max).eval_sparse().map(parts));
        every_shortage("dense sums", 0, || (&a + &b).fold(axes, WrappingSum).eval());
        every_shortage("crossed sums", 0, || {
            a.view().transpose([1, 0])?.lazy().fold(axes, WrappingSum).eval_sparse().map(parts)
        });
        every_shortage("argmax", 0, || {
            a.argmax(axes).eval_sparse().map(|t| t.into_storage().into_parts())
        });
        every_shortage("mean", 0, || {
            a.view().cast::<f64>().mean(axes).eval_sparse().map(|t| t.into_storage().into_parts())
        });
    }
}

pub(crate) fn writing() {
    let (a, b) = (every(COUNT, 3), every(COUNT, 2));
    let side = SIDE * 4;
    let square = square_of(SIDE);
    let change = |what, expected, f: &dyn Fn(&mut Entries) -> Result<()>| {
        every_shortage(what, expected, || {
            let mut out = Tensor::new(a.shape(), a.view().stored_entries()?.unwrap())?;
            f(&mut out)?;
            Ok(parts(out))
        });
    };
    change("assign", 4, &|out| out.assign(&b));
    change("assign sum", 4, &|out| out.assign(&b + 0));
    change("assign crossed", 4, &|out| out.view_mut().transpose([1, 0])?.assign(&b));
    change("assign part", 4, &|out| {
        out.view_mut().slice(0, 3..side)?.assign(b.view().slice(0, 0..side - 3)?)
    });
    change("assign dense", 4, &|out| {
        out.view_mut().slice(0, 0..SIDE)?.slice(1, 0..SIDE)?.assign(&square)
    });
    change("assign fill", 2, &|out| out.fill(7));
    change("fill part", 2, &|out| out.view_mut().slice(0, 0..SIDE)?.fill(7));
    change("add_assign", 4, &|out| out.try_add_assign(&b));
    change("update", 4, &|out| out.update(|old| Ok((old + &b).boxed())));
    let store = |what, expected, f: &dyn Fn(&mut Sparse<u64>) -> Result<()>| {
        every_shortage(what, expected, || {
            let mut out = a.view().stored_entries()?.unwrap();
            f(&mut out)?;
            Ok(out.into_parts())
        });
    };
    let addresses: Vec<usize> = (0..COUNT).map(|k| (k * 7919 + 1) % (side * side)).collect();
    let values: Vec<u64> = (0..COUNT as u64).collect();
    store("set_constant", 4, &|out| out.set_constant(0..COUNT, 5));
    store("write_at", 4, &|out| Ok(out.write_at(&addresses, &values)?));
    store("write_run", 4, &|out| Ok(out.write_run(1, 2, &values)?));
    store("try_write", 4, &|out| (0..10).try_for_each(|k| Ok(out.try_write(3 * k + 1, 5)?)));
    change("set", 2, &|out| (0..10).try_for_each(|k| out.set([k, 1], 5)));
    change("map_in_place", 2, &|out| out.map_in_place(|x| x ^ 1));
}

pub(crate) fn products() {
    let (a, b) = (banded(COUNT, 1), banded(COUNT, 7));
    every_shortage("times_sparse", 4, || a.times_sparse(&b, PlusTimes).map(parts));
    every_shortage("times_sparse crossed", 4, || {
        a.view().transpose([1, 0])?.times_sparse(&b, PlusTimes).map(parts)
    });
    every_shortage("contract", 4, || a.contract(&b, &[(0, 0)], PlusTimes).map(parts));
    let wide = b.view().reshape([COUNT / 100, 100 * COUNT]).unwrap();
    let few = a.view().slice(1, 0..COUNT / 100).unwrap();
    every_shortage("times_sparse of lists", 2, || few.times_sparse(&wide, PlusTimes).map(parts));
    // Terms of one row that are summed up in a list.
    let row = Tensor::new(
        [1, COUNT],
        Sparse::from_sorted(COUNT, 0, (0..COUNT).step_by(2).collect(), vec![3; COUNT / 2]).unwrap(),
    )
    .unwrap();

    every_shortage("row times_sparse", 2, || row.times_sparse(&b, PlusTimes).map(parts));
    let x = Tensor::full([COUNT], 2_u64).unwrap();
    let table = Tensor::full([COUNT, 3], 2_u64).unwrap();
    every_shortage("times_dense vector", 1, || a.times_dense(&x, PlusTimes).eval());
    every_shortage("times_dense", 1, || a.times_dense(&table, PlusTimes).eval());
    every_shortage("times_dense crossed", 1, || {
        a.view().transpose([1, 0])?.times_dense(&table.view().flip(0)?, PlusTimes).eval()
    });
    #[cfg(all(feature = "sprs", feature = "roaring"))]
    {
        use lensor::interop::{roaring, sprs};
        let floats = a.view().cast::<f64>().eval_sparse().unwrap();
        every_shortage("to_csr", 2, || sprs::to_csr(&floats));
        every_shortage("to_csc", 2, || sprs::to_csc(&floats));
        let triplets = sprs::to_coordinates(&floats).unwrap();
        every_shortage("to_coordinates", 2, || {
            let found = sprs::to_coordinates(&floats)?;
            Ok((found.row_inds() == triplets.row_inds(), found.data() == triplets.data()))
        });
        every_shortage("from_coordinates", 2, || {
            Ok(sprs::from_coordinates(&triplets)?.into_storage().into_parts())
        });
        let matrix = sprs::tensor(sprs::to_csr(&floats).unwrap()).unwrap();
        every_shortage("matrix of sprs", 2, || {
            Ok((&matrix + &floats).eval_sparse()?.into_storage().into_parts())
        });
        every_shortage("part of a matrix of sprs", 2, || {
            let entries =
                matrix.view().slice(0, 5..COUNT)?.stored_entries()?.map(Sparse::into_parts);
            Ok(entries)
        });
        let set: ::roaring::RoaringTreemap = (0..COUNT as u64).map(|k| 3 * k).collect();
        every_shortage("pattern of a set", 1, || {
            Ok(roaring::mask([3 * COUNT], &set)?.into_storage().into_parts())
        });
    }
}
