//! Construction: any form by any table, padded, masked, nested, and printed.

use super::model::{Item, Model, random_kinds, read, table};
use crate::support::Random;
use lensor::ragged::{Offsets, Ragged};
use lensor::{Error, Tensor};
use quickcheck::quickcheck;

fn text(item: &Item<i64>) -> String {
    match item {
        Item::One(x) => x.to_string(),
        Item::List(list) => format!("[{}]", list.iter().map(text).collect::<Vec<_>>().join(", ")),
    }
}

quickcheck! {
    /// By any tables, with gaps and in disorder, the items are those of the lists.
    fn any_table_gives_the_lists(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let (a, b) = (model.build(-1, &mut random), model.build(-2, &mut random));
        assert_eq!((read(&a), read(&b)), (model.clone(), model.clone()));
        assert_eq!(a.form(), b.form());
        let kinds = |kind: &Option<usize>| kind.map_or("var".into(), |extent| extent.to_string());
        let shown = if model.rank() == 0 { "scalar".into() } else {
            model.kinds.iter().map(kinds).collect::<Vec<_>>().join(" * ")
        };
        assert_eq!(a.form().unwrap().to_string(), shown);
        let count = model.leaves().len();
        if count < 100 && model.kinds.iter().enumerate().all(|(k, _)| model.lens(k).iter().all(|&len| len < 5)) {
            assert_eq!(a.to_string(), text(&model.root));
            let head = format!("Ragged {shown} of i64, {count} item{}\n{}", if count == 1 { "" } else { "s" }, text(&model.root));
            assert_eq!(format!("{b:?}"), head);
        }
        a.to_string().len() < 100_000
    }

    /// A clone, a view, a packed copy: each shows the same, and packing twice changes nothing.
    fn packing_changes_nothing(seed: u64) -> bool {
        let mut random = Random(seed);
        let model = Model::random(&mut random);
        let r = model.build(-1, &mut random);
        let packed = (&r + 0).eval().unwrap();
        let again = (&packed + 0).eval().unwrap();
        let own = (r.clone() + 0).eval().unwrap();
        assert_eq!(packed.form(), r.form());
        read(&packed) == model && read(&again) == model && read(&own) == model && read(&r.view()) == model
    }

    /// One var axis of any tensor cut to lengths, and to what a mask keeps.
    fn padded_and_masked_are_cut(seed: u64) -> bool {
        let mut random = Random(seed);
        let lead: Vec<Option<usize>> = (0..random.below(3)).map(|_| Some(1 + random.below(3))).collect();
        let tail: Vec<Option<usize>> = (0..random.below(3)).map(|_| Some(random.below(3))).collect();
        let axis = lead.len();
        let model = Model::random_of(&[&lead[..], &[None], &tail[..]].concat(), &mut random);
        let lens = model.lens(axis);
        let extent = lens.iter().max().copied().unwrap_or(0) + random.below(3);
        let each: usize = tail.iter().map(|kind| kind.unwrap()).product();
        let shape = |behind: &[usize]| [&lead.iter().map(|kind| kind.unwrap()).collect::<Vec<_>>()[..], behind].concat();
        let tail: Vec<usize> = tail.iter().map(|kind| kind.unwrap()).collect();
        let leaves = model.leaves();
        let (mut at, mut padded, mut spread, mut mask) = (0, Vec::new(), Vec::new(), Vec::new());
        for &len in &lens {
            let row = &leaves[at..at + len * each];
            at += len * each;
            padded.extend_from_slice(row);
            padded.resize(padded.len() + (extent - len) * each, -1);
            let mut places: Vec<bool> = (0..extent).map(|k| k < len).collect();
            random.shuffle(&mut places);
            let mut own = (0..len).map(|k| &row[k * each..(k + 1) * each]);
            for &place in &places {
                if place { spread.extend_from_slice(own.next().unwrap()) } else { spread.resize(spread.len() + each, -2) }
            }
            mask.extend(places);
        }
        let whole = shape(&[&[extent], &tail[..]].concat());
        let padded = Tensor::from_vec(whole.clone(), padded).unwrap();
        let spread = Tensor::from_vec(whole, spread).unwrap();
        let lens = Tensor::from_vec(shape(&[]), lens).unwrap();
        let mask = Tensor::from_vec(shape(&[extent]), mask).unwrap();
        let a = Ragged::from_padded(padded, &lens).unwrap();
        let b = Ragged::from_masked(spread, &mask).unwrap();
        read(&a) == model && read(&b) == model
    }

    /// `nest` and `flatten` are inverse.
    fn flatten_undoes_nest(seed: u64) -> bool {
        let mut random = Random(seed);
        let mut kinds = random_kinds(&mut random);
        kinds.insert(0, Some(random.below(7)));
        let model = Model::random_of(&kinds, &mut random);
        let items = kinds[0].unwrap();
        let r = model.build(-1, &mut random);
        let rows = 1 + random.below(4);
        let mut cuts: Vec<usize> = (1..rows).map(|_| random.below(items + 1)).collect();
        cuts.extend([0, items]);
        cuts.sort();
        let nested = r.view().nest([rows], table(cuts.clone(), &mut random)).unwrap();
        let Item::List(list) = &model.root else { return false };
        let lists = cuts.windows(2).map(|pair| Item::List(list[pair[0]..pair[1]].to_vec())).collect();
        let outer = Model { kinds: [&[Some(rows), None], &kinds[1..]].concat(), root: Item::List(lists) };
        read(&nested) == outer && read(&nested.flatten(1).unwrap()) == model
    }
}

/// Lists of any depth.
#[test]
fn nested_lists_are_rows() {
    let one = Ragged::from_nested(vec![vec![1, 2], vec![], vec![3]]).unwrap();
    assert_eq!(format!("{one:?}"), "Ragged 3 * var of i32, 3 items\n[[1, 2], [], [3]]");
    let two = vec![vec![vec![1, 2], vec![]], vec![], vec![vec![3]]];
    assert_eq!(Ragged::from_nested(two).unwrap().to_string(), "[[[1, 2], []], [], [[3]]]");
    let three =
        Ragged::from_nested(vec![vec![vec![vec![true]], vec![]], vec![vec![vec![], vec![false]]]])
            .unwrap();
    assert_eq!(three.form().unwrap().to_string(), "2 * var * var * var");
    assert_eq!(three.to_string(), "[[[[true]], []], [[[], [false]]]]");
    let none = Ragged::from_nested(Vec::<Vec<Vec<u8>>>::new()).unwrap();
    assert_eq!(none.form().unwrap().to_string(), "0 * var * var");
    assert_eq!(none.to_string(), "[]");
    let flat = Ragged::from_nested(vec![1, 2]).unwrap();
    assert_eq!((flat.to_string(), flat.rank()), ("[1, 2]".into(), 1));
    let arrays = Ragged::from_nested([vec![[1, 2], [3, 4]], vec![]]).unwrap();
    assert_eq!(arrays.form().unwrap().to_string(), "2 * var * var");
    assert_eq!(arrays.to_string(), "[[[1, 2], [3, 4]], []]");
    let none = Ragged::from_nested([[[0_u8; 0]; 2]; 3]).unwrap();
    assert_eq!(none.to_string(), "[[[], []], [[], []], [[], []]]");
    let made = Ragged::from_nested((0..3).map(|count| vec![count; count])).unwrap();
    assert_eq!(made.to_string(), "[[], [1], [2, 2]]");
    let rows = Ragged::from_rows([&[1, 2][..], &[], &[3]]).unwrap();
    assert_eq!(rows.to_string(), one.to_string());
    assert_eq!(rows.form(), one.form());
}

/// However many axes there are, the text ends soon.
#[test]
fn printing_ends() {
    let mut shape = vec![1];
    shape.extend([2; 50]);
    let content = Tensor::constant(shape, 7_u8).unwrap();
    let deep = Ragged::new([1], table(vec![0, 1], &mut Random(1)), content).unwrap();
    let text = deep.to_string();
    assert!(text.len() < 50_000 && text.contains(", ..]"), "{} {text:.200}", text.len());
}

/// Tables of all types are equal if their rows are.
#[test]
fn tables_of_all_types_are_equal() {
    let mut random = Random(1);
    for _ in 0..50 {
        let mut numbers = vec![random.below(3)];
        (0..random.below(20))
            .for_each(|_| numbers.push(numbers[numbers.len() - 1] + random.below(4)));
        let all: Vec<Offsets> = (0..10).map(|_| table(numbers.clone(), &mut random)).collect();
        for offsets in &all {
            assert_eq!(*offsets, all[0]);
            assert_eq!(format!("{offsets:?}"), format!("{numbers:?}"));
            assert_eq!(offsets.rows(), numbers.len() - 1);
            for row in 0..offsets.rows() {
                assert_eq!(offsets.row(row), numbers[row]..numbers[row + 1]);
            }
        }
    }
    assert_ne!(Offsets::new(vec![0_u32, 2, 3]).unwrap(), Offsets::new(vec![0_u32, 1, 3]).unwrap());
    assert_ne!(Offsets::new(vec![0_u32, 2]).unwrap(), Offsets::new(vec![1_u32, 3]).unwrap());
}

/// Lengths of rows are those of nested lists, of views too.
#[test]
fn lengths_of_rows() {
    let r = Ragged::from_nested(vec![vec![vec![1, 2], vec![]], vec![], vec![vec![3]]]).unwrap();
    let form = r.form().unwrap();
    assert_eq!(form.lengths(1).unwrap(), [2, 0, 1]);
    assert_eq!(form.lengths(2).unwrap(), [2, 0, 1]);
    let flipped = r.view().flip(0).unwrap().form().unwrap();
    assert_eq!(flipped.lengths(1).unwrap(), [1, 0, 2]);
    assert_eq!(flipped.lengths(2).unwrap(), [1, 2, 0]);
    assert_eq!(form.offsets(1).unwrap(), &Offsets::new(vec![0_usize, 2, 2, 3]).unwrap());
    assert_eq!(form.offsets(2).unwrap(), &Offsets::new(vec![0_usize, 2, 2, 3]).unwrap());
    assert_eq!(flipped.offsets(2).unwrap().row(1), 1..3);
    assert_eq!(form.offsets(0).unwrap_err(), Error::FixedAxis { axis: 0 });
    assert_eq!(form.offsets(3).unwrap_err(), Error::Axis { axis: 3, rank: 3 });
    let fixed = Tensor::full([2, 3], 0).unwrap().as_ragged().form().unwrap();
    assert_eq!(fixed.offsets(1).unwrap_err(), Error::FixedAxis { axis: 1 });
    assert_eq!(form.lengths(0).unwrap_err(), Error::FixedAxis { axis: 0 });
    assert_eq!(form.lengths(3).unwrap_err(), Error::Axis { axis: 3, rank: 3 });
    for lengths in [[usize::MAX, 2], [1, usize::MAX]] {
        let refused = Offsets::from_lengths(lengths).unwrap_err();
        assert_eq!(refused, Error::ShapeOverflow { shape: vec![usize::MAX] });
    }
}

/// The tables that a form tells of make rows again.
#[test]
fn tables_of_forms_make_rows() {
    let r = Ragged::from_nested(vec![vec![1, 2], vec![3, 4, 5], vec![6]]).unwrap();
    let part = r.view().select((1..,)).unwrap();
    let table = part.form().unwrap().offsets(1).unwrap().clone();
    let items = Tensor::from(part.to_vec().unwrap());
    let again = Ragged::new([2], table.clone(), items).unwrap();
    assert_eq!(again.to_string(), "[[3, 4, 5], [6]]");
    let short = Ragged::new([2], table, Tensor::from(vec![3, 4, 5])).map(drop);
    let (offset, least, extent) = (4, 3, 3);
    assert_eq!(short, Err(Error::InvalidOffsets { at: 2, offset, least, axis: 0, extent }));
}
