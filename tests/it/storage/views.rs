//! Every kind of storage under any views, one law each.

use crate::support::{planned, spread};
use crate::views::{Plain, Slots, reads_as, under};
use lensor::arbitrary::{Chain, Viewed};
use lensor::storage::{
    BlockMemory, Chunked, Concat, Constant, FromFn, Indexed, Progression, SubBuffer,
};
use lensor::tensor::pad;
use lensor::{BoxReader, Reader, Tensor, Writer};
use quickcheck::quickcheck;
use std::sync::Arc;

/// Whether a storage that holds `data` reads as that, by itself and as either operand.
fn holds<S: Reader<Elem = i64>>(chain: &Chain, storage: S, data: &[i64]) -> bool {
    let model = under(chain, data);
    let t = Tensor::with_map(chain.map(), storage).unwrap();
    let memory = Tensor::from_vec(model.shape.clone(), model.data.clone()).unwrap();
    let doubled: Vec<i64> = model.data.iter().map(|x| x.wrapping_add(*x)).collect();
    reads_as(&t, &model, |x| x)
        && planned(&(&t + &memory)) == doubled
        && spread(&(&t + &memory)) == doubled
        && (&t + &memory).to_vec().unwrap() == doubled
        && (&memory + &t).to_vec().unwrap() == doubled
        && (&t + &t).to_vec().unwrap() == doubled
}

macro_rules! storages {
    ($($(#[$doc:meta])* $law:ident: |$data:ident| $storage:expr;)*) => {
        quickcheck! { $(
            $(#[$doc])*
            fn $law(viewed: Viewed<i64>) -> bool {
                let $data = viewed.data().to_vec();
                let storage = $storage;
                let held: Vec<i64> = (0..storage.len()).map(|k| storage.read(k)).collect();
                held == viewed.data() && holds(viewed.chain(), storage, &held)
            }
        )* }
    };
}
storages! {
    /// A `Vec`.
    a_vec_reads_as_its_elements: |data| data;
    /// A borrowed slice.
    a_slice_reads_as_its_elements: |data| &data[..];
    /// A reference to a reference.
    a_reference_reads_as_what_it_points_to: |data| &&data;
    /// Mutably borrowed memory.
    a_mutable_reference_reads_as_what_it_points_to: |data| &mut data.clone();
    /// A boxed trait object.
    a_boxed_reader_reads_as_what_it_holds: |data| Box::new(Plain(data)) as Box<dyn Reader<Elem = i64>>;
    /// A boxed trait object in memory.
    a_boxed_vec_reads_as_what_it_holds: |data| Box::new(data) as Box<dyn Reader<Elem = i64>>;
    /// Shared storage.
    an_arc_reads_as_what_it_shares: |data| Arc::new(data);
    /// Shared storage behind a trait object.
    an_arc_of_any_reader_reads_as_what_it_shares: |data| Arc::new(Plain(data)) as Arc<dyn Reader<Elem = i64>>;
    /// Two methods and no more.
    two_methods_make_storage: |data| Plain(data);
    /// A function of the address.
    a_function_reads_as_its_values: |data| FromFn::new(data.len(), move |address| data[address]);
    /// A part of a larger storage in memory.
    a_part_of_memory_reads_as_itself: |data| {
        let range = 3..3 + data.len();
        SubBuffer::new([vec![-1; 3], data, vec![-2; 2]].concat(), range).unwrap()
    };
    /// A part of a larger storage that is read.
    a_part_of_storage_reads_as_itself: |data| {
        let range = 1..1 + data.len();
        SubBuffer::new(Plain([vec![-1], data, vec![-2; 2]].concat()), range).unwrap()
    };
    /// Parts in a row, some of them empty.
    a_concatenation_reads_as_its_parts: |data| {
        let (third, half) = (data.len() / 3, data.len() / 2);
        let parts = [&data[..third], &[], &data[third..half], &data[half..]];
        Concat::new(parts.map(<[i64]>::to_vec).to_vec()).unwrap()
    };
    /// Parts in a row, read one method at a time.
    a_concatenation_of_readers_reads_as_its_parts: |data| {
        let parts = data.chunks(2).map(|part| Plain(part.to_vec())).collect();
        Concat::new(parts).unwrap()
    };
    /// Elements at listed addresses.
    listed_elements_read_as_the_list: |data| {
        let turned: Vec<i64> = data.iter().rev().copied().collect();
        Indexed::new(turned, (0..data.len()).rev().collect::<Vec<usize>>()).unwrap()
    };
    /// A view in row-major order, as storage.
    a_flat_view_reads_as_its_elements: |data| {
        let turned: Vec<i64> = data.iter().rev().copied().collect();
        Tensor::from(turned).flip(0).unwrap().flat()
    };
}

quickcheck! {
    /// One value at every address.
    fn a_constant_reads_as_its_value(chain: Chain, value: i64) -> bool {
        let count = chain.shape().count().unwrap();
        holds(&chain, Constant::new(count, value), &vec![value; count])
    }

    /// An arithmetic progression, which wraps.
    fn a_progression_reads_as_its_terms(chain: Chain, start: i64, step: i64) -> bool {
        let count = chain.shape().count().unwrap();
        let term = |k: usize| start.wrapping_add(step.wrapping_mul(k as i64));
        let terms: Vec<i64> = (0..count).map(term).collect();
        holds(&chain, Progression::new(count, start, step), &terms)
    }

    /// A border of one value around a part in the middle.
    fn a_border_reads_as_its_value(viewed: Viewed<i64>, before: usize, after: usize) -> bool {
        let mut data = viewed.data().to_vec();
        let count = data.len();
        let before = before % (count + 1);
        let after = after % (count - before + 1);
        let inner = data[before..count - after].to_vec();
        data[..before].fill(7);
        data[count - after..].fill(7);
        let padded = pad(Tensor::from(inner), [(before, after)], 7).unwrap().into_storage();
        holds(viewed.chain(), padded, &data)
    }

    /// Erased storage of any kind is one type, and its clones are as good as itself.
    fn erased_storage_reads_as_before(viewed: Viewed<i64>) -> bool {
        let data = viewed.data().to_vec();
        let map = viewed.chain().map();
        let kinds: [Tensor<BoxReader<'_, i64>>; 3] = [
            Tensor::with_map(map.clone(), data.clone()).unwrap().erase(),
            Tensor::with_map(map.clone(), &data[..]).unwrap().erase(),
            Tensor::with_map(map, Plain(data.clone())).unwrap().erase(),
        ];
        let model = under(viewed.chain(), &data);
        kinds.iter().all(|t| {
            let copy = t.clone();
            reads_as(t, &model, |x| x) && reads_as(&copy, &model, |x| x)
        })
    }

    /// Views compose with the views below a flat storage.
    fn a_view_of_a_flat_view_is_a_view_of_its_copy(viewed: Viewed<i64>, seed: u64) -> bool {
        let t = viewed.tensor();
        let chain = crate::views::operations(seed, &t.shape(), 4);
        let dense = t.to_vec().unwrap();
        holds(&chain, t.flat(), &dense)
    }
}

/// Destinations whose strides do not nest, though no two indexes share an address.
#[test]
fn destinations_that_interleave_are_written() {
    fn fills<W: Writer<Elem = i64>>(storage: W) {
        let mut t = Tensor::new([6], storage).unwrap();
        for rows in [vec![0, 2, 4], vec![4, 0, 2]] {
            t.fill(0).unwrap();
            let mut pairs = t.view_mut().windows(0, 2).unwrap().select((rows.clone(),)).unwrap();
            let new = Tensor::from_vec([3, 2], (1..=6).collect()).unwrap();
            pairs.assign(&new).unwrap();
            pairs.try_add_assign(10).unwrap();
            let mut expected = [0; 6];
            for (row, pair) in rows.iter().zip([[11, 12], [13, 14], [15, 16]]) {
                expected[*row..row + 2].copy_from_slice(&pair);
            }
            assert_eq!(t.to_vec().unwrap(), expected, "{rows:?}");
        }
    }
    fills(vec![0; 6]);
    fills(Slots::new(&[0; 6]));
    for side in [1, 2, 4, 6] {
        fills(Chunked::new(BlockMemory::new([6], [side], 0).unwrap()).unwrap());
    }
}
