//! The library on one page: views of storage, expressions of views, assignment into views, errors.

use lensor::prelude::*;
use lensor::storage::FromFn;

fn main() -> Result<(), Error> {
    // A tensor is an address map and a storage. The map sends an index to an address.
    let sales = Tensor::from_nested([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])?;
    assert_eq!(sales.shape(), [3, 4]);
    assert_eq!(sales.get([1, 3]), Ok(6));

    // A view changes the map and leaves the storage alone. `view` borrows, so `sales` stays usable.
    let by_quarter = sales.view().transpose([1, 0])?;
    assert_eq!(by_quarter.to_vec()?, [3, 5, 5, 1, 9, 3, 4, 2, 5, 1, 6, 8]);
    assert!(std::ptr::eq(*by_quarter.storage(), sales.storage()));

    // Integers drop their axis; ranges, steps and lists keep it. Any view of a view is a view.
    assert_eq!(sales.view().select((1, ..2))?.to_vec()?, [5, 9]);
    assert_eq!(sales.view().select((.., [3, 0]))?.to_vec()?, [1, 3, 6, 5, 8, 5]);
    assert_eq!(sales.view().select((0, Select::every(-2)))?.to_vec()?, [1, 1]);
    assert_eq!(sales.view().flip(0)?.rotate([0, 1])?.select((0,))?.to_vec()?, [8, 5, 3, 5]);
    assert_eq!(by_quarter.reshape([2, 6])?.select((1,))?.to_vec()?, [4, 2, 5, 1, 6, 8]);

    // Maps go both ways: every index of a view that shows a given address.
    let twice = sales.view().select((0, ..2))?.broadcast([4])?;
    let shown: Vec<_> = twice.address_map().to_global(1).map(|index| index[0]).collect();
    assert_eq!(shown, [1, 3]);

    // Operators build an expression. Nothing is computed until `eval`, and then in one loop.
    let price = Tensor::from_vec([3, 1], vec![10, 20, 30])?;
    let revenue = &sales * &price + 1;
    assert_eq!(revenue.shape()?, [3, 4]);
    assert_eq!(revenue.to_vec()?, [31, 11, 41, 11, 101, 181, 41, 121, 151, 91, 151, 241]);

    // A view of an expression is pushed down to its leaves: this computes one column only.
    assert_eq!((&sales * &price).select((.., 0))?.to_vec()?, [30, 100, 150]);

    // Conditions, functions of elements, closures, casts: all lazy, all fused.
    let good = choose(sales.greater(4), &sales, 0);
    assert_eq!(good.select((1,))?.to_vec()?, [5, 9, 0, 6]);
    let roots = sales.cast::<f64>().sqrt().floor().cast::<i32>();
    assert_eq!(roots.select((1,))?.to_vec()?, [2, 3, 1, 2]);
    let half = zip_with((&sales, &price), |(count, price)| f64::from(count * price) / 2.0);
    assert_eq!(half.select((.., 1))?.to_vec()?, [5.0, 90.0, 45.0]);

    // Expressions of different types share a `Vec` once they are boxed.
    let parts = vec![(&sales + 1).boxed(), (&sales * 2).boxed(), sales.view().boxed()];
    let total = parts.into_iter().reduce(|a, b| (a + b).boxed()).expect("three parts");
    assert_eq!(total.eval()?, (&sales * 4 + 1).eval()?);

    // Assignment goes through a view as well, from an expression of any storage.
    let mut table = Tensor::full([4, 5], 0)?;
    table.view_mut().select((1.., 1..))?.assign(&sales)?;
    let quarters = Tensor::new([4], FromFn::new(4, |k| k as i32 + 1))?;
    table.view_mut().select((0, 1..))?.assign(quarters)?;
    table += 100;
    assert_eq!(table.select((..2, 1..))?.to_vec()?, [101, 102, 103, 104, 103, 101, 104, 101]);

    // Storage may be a function: 2^40 elements that take no memory, in views like any other.
    let side = 1 << 20;
    let products = Tensor::from_fn([side, side], |k| (k >> 20) * (k & 0xf_ffff))?;
    assert_eq!(products.transpose([1, 0])?.flip(0)?.get([0, 7]), Ok(7 * (side - 1)));

    // What data can cause is an error with its numbers. An expression carries it until `eval`.
    let wrong = (&sales + &Tensor::from_vec([3], vec![1, 2, 3])?).eval();
    assert_eq!(
        wrong.unwrap_err().to_string(),
        "operands could not be broadcast: argument 2 has shape [3], the result so far is [3, 4], \
         axis 1: 3 vs 4"
    );
    Ok(())
}
