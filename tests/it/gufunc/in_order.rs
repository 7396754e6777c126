//! Calls on few elements in memory, which are one row where operands are row-major: the same as of operands that are not.

use lensor::gufunc::{Args, Core, CoreMut, Elementary, ElementaryError, Gufunc};
use lensor::prelude::*;
use std::sync::{Arc, Mutex};

type Ints = Tensor<Vec<i64>>;

/// Dimensions and steps of blocks.
type Blocks = Mutex<Vec<(Vec<usize>, Vec<isize>)>>;

/// Weighs the elements of both inputs, and fails where the sum is a multiple of a number.
struct Weigh {
    modulus: i64,
    blocks: Arc<Blocks>,
}

impl Elementary<[i64; 2], [i64; 1]> for Weigh {
    fn call(
        &self,
        inputs: [Core<'_, i64>; 2],
        [mut out]: [CoreMut<'_, i64>; 1],
    ) -> Result<(), ElementaryError> {
        let weigh = |sum: i64, (k, x): (usize, &i64)| sum * 3 + *x * (k as i64 + 1);
        let sum = inputs.iter().flat_map(|core| core.iter().enumerate()).fold(1, weigh);
        if sum % self.modulus == 0 {
            return Err(format!("sum of {sum}").into());
        }
        for (slot, k) in out.iter_mut().zip(sum..) {
            assert_eq!(*slot, 0, "cores are cleared");
            *slot = k;
        }
        Ok(())
    }

    fn run(&self, args: &mut Args<'_, [i64; 2], [i64; 1]>) -> Result<(), (usize, ElementaryError)> {
        let block = (args.dimensions.to_vec(), args.steps.to_vec());
        self.blocks.lock().expect("blocks").push(block);
        for k in 0..args.len() {
            let Some((inputs, outputs)) = args.cores(k) else {
                return Err((k, "cores outside".into()));
            };
            self.call(inputs, outputs).map_err(|error| (k, error))?;
        }
        Ok(())
    }
}

fn weigh(signature: &str, modulus: i64) -> (Gufunc<[i64; 2], [i64; 1], Weigh>, Arc<Blocks>) {
    let blocks = Arc::<Blocks>::default();
    (Gufunc::of(signature, Weigh { modulus, blocks: blocks.clone() }).expect("a signature"), blocks)
}

fn counted(shape: &[usize], first: i64) -> Ints {
    let count = shape.iter().product::<usize>() as i64;
    Tensor::from_vec(shape, (first..first + count).collect()).expect("a tensor")
}

/// The same elements, each before one of another tensor.
fn spread(t: &Ints) -> Ints {
    let mut shape = t.shape().to_vec();
    shape.push(2);
    let mut wide = Tensor::full(shape, -77).expect("a tensor");
    let last = t.shape().rank();
    part(wide.view_mut(), last, 0).assign(t).expect("elements");
    wide
}

fn thinned(wide: &Ints) -> Tensor<&Vec<i64>> {
    part(wide.view(), wide.shape().rank() - 1, 0)
}

/// The elements at one place of an axis.
fn part<S>(view: Tensor<S>, axis: usize, at: usize) -> Tensor<S> {
    view.slice(axis, at..at + 1).and_then(|view| view.remove_axis(axis)).expect("a part")
}

const CASES: [(&str, &[usize], &[usize]); 19] = [
    ("(n),(n)->()", &[2, 3], &[3]),
    ("(n),(n)->()", &[3], &[2, 3]),
    ("(n),(n)->()", &[2, 3], &[2, 3]),
    ("(n),(n)->()", &[1, 3], &[2, 3]),
    ("(n),(n)->()", &[3], &[3]),
    ("(n),(n)->()", &[4, 1, 3], &[2, 3]),
    ("(n),(n)->()", &[2, 1, 3], &[1, 3]),
    ("(n),(n)->()", &[0, 3], &[3]),
    ("(n),(n)->()", &[2, 0], &[0]),
    ("(n),(m)->(n,m)", &[2, 3], &[2]),
    ("(n),(m)->(n,m)", &[5, 2], &[5, 0]),
    ("(n|1),(n|1)->(n)", &[2, 1], &[2, 3]),
    ("(n|1),(n|1)->(n)", &[2, 1], &[2]),
    ("(n|1),(n|1)->(n)", &[1], &[2, 2]),
    ("(m?,n),(n,p?)->(m?,p?)", &[2, 2], &[2]),
    ("(m?,n),(n,p?)->(m?,p?)", &[2], &[3, 2, 2]),
    ("(m?,n),(n,p?)->(m?,p?)", &[3, 2, 2], &[2, 2]),
    ("(),()->()", &[3, 2], &[]),
    ("(),()->(2)", &[3, 2], &[3, 2]),
];

#[test]
fn operands_in_order_are_as_others() {
    for (case, (signature, a, b)) in CASES.into_iter().enumerate() {
        for modulus in [i64::MAX, 2, 5, 7] {
            let ((f, _), [a, b]) = (weigh(signature, modulus), [counted(a, 2), counted(b, 9)]);
            let (wide_a, wide_b) = (spread(&a), spread(&b));
            let expected = f.call([thinned(&wide_a), thinned(&wide_b)]).eval();
            let expected = expected.map(|[out]| (out.shape(), out.to_vec().expect("elements")));
            let found = f.call([&a, &b]).eval();
            let found = found.map(|[out]| (out.shape(), out.to_vec().expect("elements")));
            assert_eq!(found, expected, "case {case}");
            assert_eq!(f.call([&a, &b]).to_vec(), expected.clone().map(|(_, found)| found));
            let Ok(shapes) = f.call([&a, &b]).shapes() else { continue };
            let shape = &shapes.outputs[0];
            // Into all of a tensor, into a part of it that is row-major, into one that is not.
            let mut longer: Vec<usize> = shape.to_vec();
            longer.insert(0, 3);
            let mut out = Tensor::full(&longer[..], -7).expect("an output");
            let assigned = f.call([&a, &b]).assign_to(&mut part(out.view_mut(), 0, 1));
            let elements = part(out.view(), 0, 1).to_vec().expect("elements");
            assert_eq!(assigned.map(|()| elements), expected.clone().map(|(_, found)| found));
            for rest in [0, 2] {
                let rest = part(out.view(), 0, rest).to_vec().expect("elements");
                assert!(rest.iter().all(|x| *x == -7), "case {case}");
            }
            longer.remove(0);
            longer.push(2);
            let mut out = Tensor::full(&longer[..], -7).expect("an output");
            let last = longer.len() - 1;
            let assigned = f.call([&a, &b]).assign_to(&mut part(out.view_mut(), last, 1));
            let elements = part(out.view(), last, 1).to_vec().expect("elements");
            assert_eq!(assigned.map(|()| elements), expected.clone().map(|(_, found)| found));
        }
    }
}

/// Dimensions and steps of the one row are those of NumPy's C interface, as of rows in general.
#[test]
fn functions_are_told_of_one_row() {
    type Told = (&'static str, [&'static [usize]; 2], &'static [usize], &'static [isize]);
    let table: [Told; 5] = [
        ("(n),(n)->()", [&[3], &[1, 3]], &[1, 3], &[0, 0, 1, 1, 1]),
        ("(n),(n)->()", [&[2, 3], &[3]], &[2, 3], &[3, 0, 1, 1, 1]),
        ("(n),(n)->()", [&[2, 1, 3], &[3]], &[2, 3], &[3, 0, 1, 1, 1]),
        ("(n),(m)->(n,m)", [&[5, 2], &[5, 4]], &[5, 2, 4], &[2, 4, 8, 1, 1, 4, 1]),
        ("(m?,n),(n,p?)->(m?,p?)", [&[2], &[3, 2, 2]], &[3, 1, 2, 2], &[0, 4, 2, 2, 1, 2, 1, 2, 1]),
    ];
    for (signature, [a, b], dimensions, steps) in table {
        let ((f, blocks), [a, b]) = (weigh(signature, i64::MAX), [counted(a, 1), counted(b, 2)]);
        f.call([&a, &b]).eval().expect("results");
        let wide = [spread(&a), spread(&b)];
        f.call(wide.each_ref().map(thinned)).eval().expect("results");
        let told = blocks.lock().expect("blocks").clone();
        assert_eq!(told, vec![(dimensions.to_vec(), steps.to_vec()); 2], "{signature}");
    }
}
