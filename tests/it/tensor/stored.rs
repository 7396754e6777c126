//! The stored entries of a view are those of its dense copy, in row-major order.

use lensor::arbitrary::SparseViewed;
use lensor::prelude::*;
use lensor::storage::{Duplicates, Sparse};
use quickcheck::QuickCheck;

fn check<A: quickcheck::Testable>(property: A) {
    QuickCheck::new().tests(3000).quickcheck(property);
}

/// Every view: what `stored_entries` gives is what differs from the fill in a dense copy.
#[test]
fn stored_entries_are_those_of_the_dense_copy() {
    fn law(viewed: SparseViewed<i8>) -> bool {
        let (shape, expected) = viewed.model();
        let entries = viewed.tensor().stored_entries().unwrap().unwrap();
        let mut found = vec![viewed.fill(); expected.len()];
        entries.iter().for_each(|(position, value)| found[position] = value);
        entries.addresses().windows(2).all(|pair| pair[0] < pair[1])
            && entries.get(shape.count().unwrap()).is_none()
            && found == expected
    }
    check(law as fn(SparseViewed<i8>) -> bool);
}

/// Entries that a view does not reach vanish, those it repeats come as often: none besides.
#[test]
fn stored_entries_are_as_many_as_the_view_shows() {
    fn law(viewed: SparseViewed<i8>) -> bool {
        let t = viewed.tensor();
        let shown: usize = (t.storage().addresses().iter())
            .map(|&address| t.address_map().to_global(address).count())
            .sum();
        t.stored_entries().unwrap().unwrap().stored_len() == shown
    }
    check(law as fn(SparseViewed<i8>) -> bool);
}

/// What is kept of few entries has no room for all that were gone through.
#[test]
fn results_have_room_for_twice_their_entries_at_most() {
    let t = Tensor::new([64, 64], Sparse::from_dense(&[3_u32; 4096], 0).unwrap()).unwrap();
    let fits = |storage: Sparse<u32>| {
        let (_, _, addresses, values) = storage.into_parts();
        addresses.capacity() <= 2 * addresses.len() && values.capacity() <= 2 * values.len()
    };
    let columns = t.view().slice(1, ..2).unwrap();
    let listed = t.view().select((.., [1, 7, 30])).unwrap();
    for view in [columns, listed] {
        assert!(fits(view.stored_entries().unwrap().unwrap()));
        assert!(fits(view.view().lazy().eval_sparse().unwrap().into_storage()));
        assert!(fits((&view * 2).eval_sparse().unwrap().into_storage()));
    }
    assert!(fits((&t * &t * &t * &t).eval_sparse().unwrap().into_storage()));
    assert!(fits((&t - &t).to_sparse(0).unwrap().into_storage()));
}

/// Vectors that are given stay as they are, with their room.
#[test]
fn storage_keeps_the_room_of_its_vectors() {
    let vectors = || {
        let (mut addresses, mut values) = (Vec::with_capacity(100), Vec::with_capacity(100));
        addresses.push(3);
        values.push(7);
        (addresses, values)
    };
    let has_room = |storage: Sparse<i32>| {
        let (_, _, addresses, values) = storage.into_parts();
        addresses.capacity() >= 100 && values.capacity() >= 100
    };
    let (addresses, values) = vectors();
    assert!(has_room(Sparse::from_sorted(9, 0, addresses, values).unwrap()));
    let (addresses, values) = vectors();
    assert!(has_room(Sparse::from_sorted_trusted(9, 0, addresses, values).unwrap()));
    let (addresses, values) = vectors();
    assert!(has_room(
        Sparse::from_coordinates(9, 0, addresses, values, Duplicates::sum()).unwrap()
    ));
}

/// Reading element by element agrees with the dense copy as well.
#[test]
fn a_view_of_sparse_storage_reads_as_its_dense_copy() {
    fn law(viewed: SparseViewed<i8>) -> bool {
        let (shape, data) = viewed.model();
        let t = viewed.tensor();
        let single: Vec<i8> = t.try_iter().collect::<Result<_, _>>().unwrap();
        t.shape() == shape && t.to_vec().unwrap() == data && single == data
    }
    check(law as fn(SparseViewed<i8>) -> bool);
}

/// A view of 2^40 elements takes the memory of its entries.
#[test]
fn virtual_views_take_no_more_than_their_entries() {
    let side = 1 << 20;
    let indexes = [[0, 5], [7, 0], [side - 1, side - 1]];
    let t = Tensor::from_coordinates([side, side], 0, &indexes, vec![1, 2, 3], Duplicates::Refuse)
        .unwrap();
    let entries = |t: Tensor<&Sparse<i32>>| -> Vec<(usize, i32)> {
        t.stored_entries().unwrap().unwrap().iter().collect()
    };
    let transposed = t.view().transpose([1, 0]).unwrap();
    let last = side * side - 1;
    assert_eq!(entries(transposed.clone()), [(7, 2), (5 * side, 1), (last, 3)]);
    let turned = t.view().rotate([1, -1]).unwrap().reshape([side * side]).unwrap();
    let expected = [(side - 2, 3), (side + 4, 1), (8 * side + side - 1, 2)];
    assert_eq!(entries(turned), expected);
    let block = transposed.reshape([1 << 35, 32]).unwrap().flip(0).unwrap();
    let row = |position: usize| ((1 << 35) - 1 - position / 32) * 32 + position % 32;
    assert_eq!(entries(block), [(row(last), 3), (row(5 * side), 1), (row(7), 2)]);
    // Every element repeated 2^20 times, of which a thousand are looked at.
    let column = t.view().select((.., 5)).unwrap().insert_axis(1).unwrap();
    let repeated = column.broadcast([side, side]).unwrap().reshape([side * side]).unwrap();
    let part = repeated.slice(0, side - 3..side + 3).unwrap();
    assert_eq!(entries(part), [(0, 1), (1, 1), (2, 1)]);
}

/// A sparse tensor of a few elements, repeated to 2^50 times as many, turned and cut anew, of which few are
/// picked: the repeats between the picks are never listed.
#[test]
fn picks_far_apart_take_no_repeats_between() {
    type Drawn = (u8, u8, Vec<Option<i8>>, (isize, isize), Vec<(usize, usize, usize)>);
    fn law((rows, columns, stored, turns, picks): Drawn) -> bool {
        let (rows, columns) = (usize::from(rows % 6) + 1, usize::from(columns % 6) + 1);
        let stored = |k: usize| stored.get(k).copied().flatten();
        let entries = (0..rows * columns).filter_map(|k| Some((k, i64::from(stored(k)?))));
        let (addresses, values) = entries.unzip();
        let storage = Sparse::from_sorted(rows * columns, 1, addresses, values).unwrap();
        let t = Tensor::new([rows, columns], storage).unwrap();
        let shape = [rows << 25, columns << 25];
        let cut = [columns << 20, rows << 10, 1 << 20];
        let turned = t.view().broadcast(shape).unwrap().rotate([turns.0, turns.1]).unwrap();
        let picks = picks.into_iter().take(5).map(|(i, j, k)| [i % cut[0], j % cut[1], k % cut[2]]);
        let [i, j, k] = picks.fold([vec![], vec![], vec![]], |mut lists: [Vec<usize>; 3], pick| {
            lists.iter_mut().zip(pick).for_each(|(list, digit)| list.push(digit));
            lists
        });
        let picked =
            turned.reshape(cut).unwrap().select((i.clone(), j.clone(), k.clone())).unwrap();
        let undo = |digit: usize, turn: isize, extent: usize, period: usize| {
            (digit as i128 - turn as i128).rem_euclid(extent as i128) as usize % period
        };
        let mut expected = Vec::new();
        for (i, j, k) in
            i.iter().flat_map(|i| j.iter().flat_map(|j| k.iter().map(|k| (*i, *j, *k))))
        {
            let position = (i * cut[1] + j) * cut[2] + k;
            let row = undo(position / shape[1], turns.0, shape[0], rows);
            let column = undo(position % shape[1], turns.1, shape[1], columns);
            expected.push(stored(row * columns + column).map_or(1, i64::from));
        }
        let found = picked.stored_entries().unwrap().unwrap();
        let sum = (&picked * 3 + &picked).eval_sparse().unwrap();
        let total = picked.sum(..).eval_sparse().unwrap();
        Tensor::new([expected.len()], found).unwrap().to_vec().unwrap() == expected
            && sum.to_vec().unwrap() == expected.iter().map(|x| x * 4).collect::<Vec<_>>()
            && total.item().unwrap() == expected.iter().sum::<i64>()
    }
    check(law as fn(Drawn) -> bool);
}

/// The same where lists repeat an entry, and where windows overlap.
#[test]
fn picks_among_lists_and_windows_take_no_repeats_between() {
    let (side, entry) = (1 << 18, |k: usize| Sparse::from_sorted(1 << 40, 0, vec![k], vec![7]));
    let t = Tensor::new([1 << 20, 1 << 20], entry((5 << 20) + 9).unwrap()).unwrap();
    let listed = t.view().select((vec![5_usize; side], vec![9_usize; side])).unwrap();
    let cut = listed.reshape([side / 4, 4 * side]).unwrap().rotate([0, 3]).unwrap();
    let picked = cut.select((vec![0_usize, side / 4 - 1], vec![0_usize, 8, 4 * side - 1])).unwrap();
    let entries = picked.stored_entries().unwrap().unwrap();
    assert_eq!(entries.addresses(), [0, 1, 2, 3, 4, 5]);

    let t = Tensor::new([1 << 40], entry(1 << 30).unwrap()).unwrap();
    let windows = t.windows(0, 1 << 21).unwrap();
    let flat = windows.address_map().count();
    let far = (1 << 30) * (1 << 21);
    let line = windows.reshape([flat]).unwrap();
    let picked = line.select((vec![0, far, far + 1, far - (1 << 21) + 1],)).unwrap();
    assert_eq!(picked.stored_entries().unwrap().unwrap().addresses(), [1, 3]);
}

/// Entries in more windows than ways of one address are kept take no time for the elements between them.
#[test]
fn entries_in_windows_of_two_axes_cost_what_they_give() {
    let (rows, columns, side) = (200, 1 << 44, 33);
    let address = 100 * columns + (1 << 40);
    let one = Sparse::from_sorted(rows * columns, 0, vec![address], vec![7]).unwrap();
    let t = Tensor::new([rows, columns], one).unwrap();
    let windows = t.windows(0, side).unwrap().windows(1, side).unwrap();
    let position = |shape: &Shape, index: &[usize]| shape.position_of(index).unwrap();
    let shape = windows.shape();
    let entries = windows.stored_entries().unwrap().unwrap();
    let expected = (0..side).flat_map(|i| (0..side).map(move |j| (i, j)));
    let expected = expected
        .map(|(i, j)| [68 + i, (1 << 40) - 32 + j, side - 1 - i, side - 1 - j])
        .map(|index| position(&shape, &index));
    assert!(entries.addresses().iter().copied().eq(expected));

    // Beside repeated, rotated and listed axes.
    let odd: Vec<usize> = (0..side).map(|k| k * 7 % side).collect();
    let picked = windows.rotate([0, 0, 5, 0]).unwrap().select((.., .., .., odd.clone())).unwrap();
    let turned = picked.broadcast([2, rows - side + 1, columns - side + 1, side, side]).unwrap();
    let entries = turned.stored_entries().unwrap().unwrap();
    assert_eq!(entries.addresses().len(), 2 * side * side);
    let shape = turned.shape();
    let all = entries.addresses().iter().map(|&position| shape.index_at(position).unwrap());
    for index in all {
        let (row, column) = (index[1] + (index[3] + side - 5) % side, index[2] + odd[index[4]]);
        assert_eq!(row * columns + column, address, "{index:?}");
    }
}

/// Transposes of large matrices, flips and lists of columns, against positions sorted by comparison.
#[test]
fn many_entries_are_ordered_like_few() {
    let (rows, columns) = (300, 500);
    let numbers = (0..20_000_usize).map(|k| k * 7919 % (rows * columns)).collect::<Vec<_>>();
    let values = numbers.clone();
    let s = Sparse::from_coordinates(rows * columns, usize::MAX, numbers, values, Duplicates::Last);
    let t = Tensor::new([rows, columns], s.unwrap()).unwrap();
    let odd: Vec<usize> = (0..columns).rev().map(|k| k * 3 % columns).collect();
    for view in [
        t.view().transpose([1, 0]).unwrap(),
        t.view().flip(0).unwrap(),
        t.view().flip(1).unwrap(),
        t.view().flip(0).unwrap().flip(1).unwrap(),
        t.view().rotate([0, 77]).unwrap(),
        t.view().rotate([77, 0]).unwrap(),
        t.view().rotate([3, 77]).unwrap().transpose([1, 0]).unwrap(),
        t.view().select((.., odd.clone())).unwrap(),
        t.view().select((Select::every(3_usize), Select::every(-2))).unwrap(),
        t.view().reshape([30, 10, 50, 10]).unwrap().transpose([2, 0, 3, 1]).unwrap(),
        t.view().reshape([30, 10, 500]).unwrap().transpose([1, 0, 2]).unwrap(),
    ] {
        let shape = view.shape();
        let mut expected: Vec<(usize, usize)> = Vec::new();
        for (address, value) in t.storage().iter() {
            let globals = view.address_map().to_global(address);
            expected.extend(globals.map(|index| (ravel(&shape, &index), value)));
        }
        expected.sort_unstable();
        assert!(view.stored_entries().unwrap().unwrap().iter().eq(expected), "{view:?}");
    }
}

/// So many entries that those of neighbouring columns are put into groups first: evenly spread, most of them in
/// one column, and all of a few columns.
#[test]
fn transposes_of_many_entries_are_sorted() {
    let (rows, columns) = (700, 3001);
    let kept: [fn(usize, usize) -> bool; 3] = [
        |row, column| (row * 31 + column * 17) % 19 == 3,
        |row, column| column == 1500 || (row * 7 + column * 13) % 23 == 0,
        |row, column| column > 2900 || (row + column) % 3000 < 30,
    ];
    for kept in kept {
        let all = (0..rows * columns).filter(|k| kept(k / columns, k % columns));
        let addresses: Vec<usize> = all.collect();
        assert!(addresses.len() > 65_536);
        let values: Vec<u32> = addresses.iter().map(|&k| k as u32).collect();
        let storage = Sparse::from_sorted(rows * columns, 0, addresses.clone(), values).unwrap();
        let t = Tensor::new([rows, columns], storage).unwrap();
        let mut expected: Vec<(usize, u32)> =
            addresses.iter().map(|&k| (k % columns * rows + k / columns, k as u32)).collect();
        expected.sort_unstable();
        let turned = t.view().transpose([1, 0]).unwrap().stored_entries().unwrap().unwrap();
        assert!(turned.iter().eq(expected.iter().copied()));
        // Of three axes the last one comes first.
        let cube = t.view().reshape([7, 100, columns]).unwrap().transpose([2, 0, 1]).unwrap();
        let turned = cube.stored_entries().unwrap().unwrap();
        assert!(turned.iter().eq(expected.iter().copied()));
        let middle = t.view().reshape([7, 100, columns]).unwrap().transpose([1, 0, 2]).unwrap();
        let moved = |k: usize| (k / columns % 100 * 7 + k / columns / 100) * columns + k % columns;
        let mut expected: Vec<(usize, u32)> =
            addresses.iter().map(|&k| (moved(k), k as u32)).collect();
        expected.sort_unstable();
        assert!(middle.stored_entries().unwrap().unwrap().iter().eq(expected));
    }
}

fn ravel(shape: &[usize], index: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |position, (digit, extent)| position * extent + digit)
}

#[cfg(feature = "roaring")]
#[test]
fn sets_are_masks_and_patterns() {
    use lensor::interop::roaring::{mask, pattern, stored_positions};
    use roaring::RoaringTreemap;

    let set: RoaringTreemap = [0, 7, (1 << 40) - 1].into_iter().collect();
    let side = 1_usize << 20;
    let t = pattern([side, side], &set, 1.5, -2.0).unwrap();
    assert_eq!(t.get([side - 1, side - 1]), Ok(-2.0));
    assert_eq!(t.get([0, 6]), Ok(1.5));
    assert_eq!(stored_positions(&t), Ok(Some(set.clone())));
    let flipped = t.flip(0).unwrap().flip(1).unwrap();
    let turned: RoaringTreemap = set.iter().map(|position| (1 << 40) - 1 - position).collect();
    assert_eq!(stored_positions(&flipped), Ok(Some(turned)));
    assert_eq!(mask([2, 4], &[3].into_iter().collect()).unwrap().get([0, 3]), Ok(true));
    assert_eq!(mask([0, 4], &RoaringTreemap::new()).unwrap().to_vec(), Ok(vec![]));
    for beyond in [8, u64::MAX] {
        let error = mask([2, 4], &[1, beyond].into_iter().collect()).unwrap_err();
        assert!(matches!(error, Error::InvalidSparse { at: 1, .. }), "{error}");
    }
    assert_eq!(stored_positions(&Tensor::from(vec![1, 2])), Ok(None));
}

/// Views of so few elements that each is looked up.
#[test]
fn views_of_few_elements_among_many_entries() {
    let shape = [7, 4000];
    let data: Vec<i32> = (0..7 * 4000).map(|k| if k % 5 == 0 { 0 } else { k }).collect();
    let dense = Tensor::from_vec(shape, data).unwrap();
    let sparse = dense.to_sparse(0).unwrap();
    for column in [0, 5, 1999, 3999_isize] {
        let selectors = [Select::All, Select::Index(column)];
        let (own, expected) = (
            sparse.view().select(&selectors[..]).unwrap(),
            dense.view().select(&selectors[..]).unwrap().to_vec().unwrap(),
        );
        let entries = own.stored_entries().unwrap().unwrap();
        let found: Vec<(usize, i32)> = entries.iter().collect();
        let stored = expected.iter().copied().enumerate().filter(|(_, x)| *x != 0);
        assert_eq!(found, stored.collect::<Vec<_>>());
        let flipped = own.flip(0).unwrap().lazy().eval_sparse().unwrap().to_vec().unwrap();
        assert!(flipped.iter().rev().eq(&expected));
    }
    let turned = |t: &Tensor<Sparse<i32>>| {
        let steps = Select::every(600_usize);
        t.view()
            .reshape([4000, 7])
            .unwrap()
            .rotate([3, 1])
            .unwrap()
            .select((steps, 2..5))
            .unwrap()
            .lazy()
            .eval_sparse()
            .unwrap()
            .to_vec()
            .unwrap()
    };
    let steps = Select::every(600_usize);
    let expected = dense.view().reshape([4000, 7]).unwrap().rotate([3, 1]).unwrap();
    assert_eq!(turned(&sparse), expected.select((steps, 2..5)).unwrap().to_vec().unwrap());
    let mut written = sparse.clone();
    written.view_mut().select((.., 17)).unwrap().fill(-1).unwrap();
    let mut copy = dense.clone();
    copy.view_mut().select((.., 17)).unwrap().fill(-1).unwrap();
    assert_eq!(written, copy);
}
