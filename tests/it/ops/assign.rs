//! Writing through views: only what the view shows, only once, or not at all.

use crate::model::Model;
use crate::views::{Slots, under};
use lensor::arbitrary::{Aligned, Chain, Viewed};
use lensor::prelude::*;
use lensor::{AddressMap, Reader, Result, Writer};
use quickcheck::{TestResult, quickcheck};
use std::collections::BTreeSet;

/// The addresses a chain reaches, by the model, if none is reached twice.
fn written(chain: &Chain) -> Option<Vec<usize>> {
    let count = chain.shape().count().unwrap();
    let addresses = under(chain, &(0..count).collect::<Vec<_>>()).data;
    let distinct: BTreeSet<usize> = addresses.iter().copied().collect();
    (distinct.len() == addresses.len()).then_some(addresses)
}

/// Memory and a plain writer of the same elements, under the same map.
fn destinations(viewed: &Viewed<i32>) -> (Tensor<Vec<i32>>, Tensor<Slots<i32>>) {
    let writer = Tensor::with_map(viewed.chain().map(), Slots::new(viewed.data())).unwrap();
    (viewed.tensor(), writer)
}

/// Whether both destinations hold `old` with `new` at `addresses`, each written once.
fn hold(
    (memory, writer): &(Tensor<Vec<i32>>, Tensor<Slots<i32>>),
    old: &[i32],
    addresses: &[usize],
    new: &[i32],
) -> bool {
    let (mut expected, mut writes) = (old.to_vec(), vec![0; old.len()]);
    for (&address, &value) in addresses.iter().zip(new) {
        expected[address] = value;
        writes[address] += 1;
    }
    let slots = writer.storage();
    *memory.storage() == expected && slots.data == expected && slots.writes == writes
}

/// Whether an injective view was written, or a write through another was refused and left no trace.
fn wrote_or_refused(
    viewed: &Viewed<i32>,
    new: &[i32],
    both: &(Tensor<Vec<i32>>, Tensor<Slots<i32>>),
    results: &[Result<()>; 2],
) -> bool {
    match written(viewed.chain()) {
        Some(addresses) => {
            results == &[Ok(()), Ok(())] && hold(both, viewed.data(), &addresses, new)
        }
        None => {
            let refused = |r: &Result<()>| matches!(r, Err(Error::NotInjective { .. }));
            results.iter().all(refused) && hold(both, viewed.data(), &[], &[])
        }
    }
}

/// Does the same to memory and to a plain writer, and holds the results against `new`.
macro_rules! both {
    ($viewed:expr, $new:expr, |$out:ident| $assign:expr) => {{
        let mut both = destinations($viewed);
        let memory = {
            let $out = &mut both.0;
            $assign
        };
        let writer = {
            let $out = &mut both.1;
            $assign
        };
        wrote_or_refused($viewed, $new, &both, &[memory, writer])
    }};
}

quickcheck! {
    /// Assigning writes every element of the source to its address, and nothing else.
    fn assigning_is_writing_every_address_once(viewed: Viewed<i32>) -> bool {
        let shape = viewed.tensor().shape();
        let new: Vec<i32> = (0..shape.count().unwrap() as i32).map(|k| 1000 + k).collect();
        let source = Tensor::from_vec(shape, new.clone()).unwrap();
        both!(&viewed, &new, |out| out.assign(&source))
            && both!(&viewed, &new, |out| source.assign_to(out))
    }

    /// A computed source, from views of its own.
    fn assigning_an_expression_is_assigning_its_result(a: Viewed<i32>, b: Viewed<i32>) -> bool {
        let shape = a.tensor().shape();
        let chain = Chain::arbitrary_to(&mut quickcheck::Gen::from_size_and_seed(20, 5), &shape);
        let count = chain.shape().count().unwrap();
        let data: Vec<i32> = b.data().iter().copied().chain(0..).take(count).collect();
        let source = Viewed::new(chain, data).unwrap();
        let new: Vec<i32> = source.model().1.iter().map(|x| x.wrapping_mul(3) ^ 1).collect();
        let source = source.tensor();
        both!(&a, &new, |out| out.assign((&source * 3) ^ 1))
            && both!(&a, &new, |out| ((&source * 3) ^ 1).boxed().assign_to(out))
    }

    /// Filling writes one value everywhere the view reaches.
    fn filling_writes_one_value(viewed: Viewed<i32>, value: i32) -> bool {
        let new = vec![value; viewed.tensor().len()];
        both!(&viewed, &new, |out| out.fill(value)) && both!(&viewed, &new, |out| out.assign(value))
    }

    /// Updating in place is computing and assigning, for every operator.
    fn operators_in_place_are_assignments(viewed: Viewed<i32>) -> bool {
        let old = viewed.model().1;
        let shape = viewed.tensor().shape();
        let other: Vec<i32> = (0..old.len() as i32).map(|k| (k * 7 - 300) | 1).collect();
        let b = Tensor::from_vec(shape, other.clone()).unwrap();
        let new = |f: fn(i32, i32) -> i32| {
            old.iter().zip(&other).map(|(&x, &y)| f(x, y)).collect::<Vec<i32>>()
        };
        both!(&viewed, &new(i32::wrapping_add), |out| out.try_add_assign(&b))
            && both!(&viewed, &new(i32::wrapping_sub), |out| out.try_sub_assign(&b))
            && both!(&viewed, &new(i32::wrapping_mul), |out| out.try_mul_assign(&b))
            && both!(&viewed, &new(i32::wrapping_div), |out| out.try_div_assign(&b))
            && both!(&viewed, &new(i32::wrapping_rem), |out| out.try_rem_assign(&b))
            && both!(&viewed, &new(|x, y| x & y), |out| out.try_and_assign(&b))
            && both!(&viewed, &new(|x, y| x | y), |out| out.try_or_assign(&b))
            && both!(&viewed, &new(|x, y| x ^ y), |out| out.try_xor_assign(&b))
    }

    /// A scalar updates every element.
    fn a_scalar_updates_every_element(viewed: Viewed<i32>, scalar: i32) -> bool {
        let new: Vec<i32> = viewed.model().1.iter().map(|x| x.wrapping_mul(scalar)).collect();
        both!(&viewed, &new, |out| out.try_mul_assign(scalar))
    }

    /// A closure updates every element, beside another operand of any type.
    fn a_closure_updates_every_element(viewed: Viewed<i32>) -> bool {
        let old = viewed.model().1;
        let keep: Vec<bool> = (0..old.len()).map(|k| k % 3 > 0).collect();
        let mask = Tensor::from_vec(viewed.tensor().shape(), keep.clone()).unwrap();
        let turned: Vec<i32> = old.iter().map(|x| !x).collect();
        let kept: Vec<i32> = old.iter().zip(&keep).map(|(&x, &k)| if k { x } else { 7 }).collect();
        both!(&viewed, &turned, |out| out.map_in_place(|x| !x))
            && both!(&viewed, &kept, |out| out.zip_in_place(&mask, |x, k| if k { x } else { 7 }))
    }

    /// The operators that panic do what those that return errors do.
    fn compound_operators_update(operands: Aligned<i32>) -> bool {
        let [x, y] = operands.models();
        let b = operands.operands()[1].tensor();
        let mut t = Tensor::from_vec(operands.joint(), x.clone()).unwrap();
        t += &b;
        t -= 5;
        t *= &b;
        t &= &b | 3;
        t ^= 9;
        t |= 4;
        t %= 1 << 20;
        t /= -3;
        let expected = x.iter().zip(&y).map(|(&x, &y)| {
            let t = x.wrapping_add(y).wrapping_sub(5).wrapping_mul(y) & (y | 3);
            ((t ^ 9) | 4) % (1 << 20) / -3
        });
        t.storage().iter().copied().eq(expected)
    }

    /// A source stretches to the destination, never the other way.
    fn sources_stretch_and_destinations_do_not(source: Viewed<i32>, to: Shape) -> TestResult {
        let t = source.tensor();
        let (from, count) = (t.shape(), to.count().unwrap());
        let mut out = Tensor::from_vec(&to, vec![0; count]).unwrap();
        let found = out.assign(&t);
        let joint = to.join(&from, Align::Right, 2);
        if joint.as_ref() != Ok(&to) {
            let refused = Error::Destination { expected: to.to_vec(), found: from.to_vec() };
            return TestResult::from_bool(found == Err(refused) && out.to_vec().unwrap() == vec![0; count]);
        }
        let model = Model::new(&from, source.model().1).stretch(&to, Align::Right).unwrap();
        TestResult::from_bool(found == Ok(()) && *out.storage() == model.data)
    }

    /// Writing one element changes the elements that share its address and no other.
    fn setting_an_element_sets_its_address(viewed: Viewed<i32>, which: usize, value: i32) -> TestResult {
        let mut t = viewed.tensor();
        if t.is_empty() {
            return TestResult::discard();
        }
        let indexes = crate::model::all_indexes(&t.shape());
        let index = &indexes[which % indexes.len()];
        let address = t.address_map().to_local(index).unwrap();
        let mut expected = viewed.data().to_vec();
        expected[address] = value;
        t.set(index, value).unwrap();
        TestResult::from_bool(t.get(index) == Ok(value) && *t.storage() == expected)
    }
}

/// A part of memory, written through a borrowed slice, leaves the rest alone.
#[test]
fn a_view_of_a_part_leaves_the_rest() {
    let mut memory = [0; 12];
    let map = AddressMap::row_major([12]).unwrap();
    let map = map.slice(0, 2..10).unwrap().reshape([2, 4]).unwrap().transpose([1, 0]).unwrap();
    let mut out = Tensor::with_map(map, &mut memory[..]).unwrap();
    out.assign(Tensor::from_vec([4, 2], (1..9).collect()).unwrap()).unwrap();
    assert_eq!(memory, [0, 0, 1, 3, 5, 7, 2, 4, 6, 8, 0, 0]);
}

/// A boxed writer is written like what it holds.
#[test]
fn a_boxed_writer_is_written() {
    let boxed: Box<dyn Writer<Elem = i32>> = Box::new(Slots::new(&[0; 6]));
    let mut t = Tensor::new([2, 3], boxed).unwrap();
    t.view_mut()
        .transpose([1, 0])
        .unwrap()
        .assign(Tensor::from_vec([3, 2], (0..6).collect()).unwrap())
        .unwrap();
    assert_eq!((0..6).map(|k| t.storage().read(k)).collect::<Vec<_>>(), [0, 2, 4, 1, 3, 5]);
}

/// Operands in the order of the destination, of the same shape or flipped, and of any length around those of tiles and
/// tasks: elements are those of a loop.
#[test]
fn elements_are_those_of_a_loop_at_any_length() {
    for len in [1_usize, 2, 63, 64, 65, 2047, 2048, 2049, 4097, 16385, 40_000, 131_071, 131_073] {
        let [a, b] =
            [3_i64, 5].map(|k| (0..len as i64).map(|x| x * k % 101 + 1).collect::<Vec<_>>());
        let [t, u] = [&a, &b].map(|data| Tensor::from(data.clone()));
        let expected = |f: fn(i64, i64) -> i64| -> Vec<i64> {
            a.iter().zip(&b).map(|(a, b)| f(*a, *b)).collect()
        };
        let mut out = Tensor::full([len], 0_i64).unwrap();
        out.assign(&t * 2 - &u).unwrap();
        assert_eq!(*out.storage(), expected(|a, b| a * 2 - b), "{len}");
        assert_eq!((&t * 2 - &u).to_vec().unwrap(), expected(|a, b| a * 2 - b), "{len}");
        assert_eq!((&t / &u).to_vec().unwrap(), expected(|a, b| a / b), "{len}");
        out.assign(&t).unwrap();
        out += &u;
        assert_eq!(*out.storage(), expected(|a, b| a + b), "{len}");
        out.zip_in_place(&u * 3, |sum, b| sum - b).unwrap();
        assert_eq!(*out.storage(), expected(|a, b| a - 2 * b), "{len}");
        out *= 7;
        assert_eq!(*out.storage(), expected(|a, b| 7 * (a - 2 * b)), "{len}");
        // The same through views of both sides, which do not lie in order.
        out.assign(&t).unwrap();
        let mut back = out.view_mut().flip(0).unwrap();
        back += u.view().flip(0).unwrap();
        assert_eq!(*out.storage(), expected(|a, b| a + b), "{len}");
        out += u.view().flip(0).unwrap().flip(0).unwrap();
        assert_eq!(*out.storage(), expected(|a, b| a + 2 * b), "{len}");
        // The first element without a value, wherever it is.
        for at in [0, len / 2, len - 1] {
            let mut zero = b.clone();
            zero[at] = 0;
            zero[len - 1] = 0;
            let zero = Tensor::from(zero);
            let failed = out.try_div_assign(&zero).unwrap_err();
            assert_eq!(failed, Error::Arithmetic { index: vec![at] }, "{len}");
            assert_eq!((&t / &zero).eval().unwrap_err(), failed, "{len}");
            assert_eq!(out.assign(&t % &zero).unwrap_err(), failed, "{len}");
        }
    }
}
