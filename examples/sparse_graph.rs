//! A network of friends as a sparse matrix, read from a file: how many friends everybody has, friends of
//! friends, triangles, PageRank, and the same network with its members in another order as a view.

use lensor::expr::zip_stored;
use lensor::interop::mtx;
use lensor::prelude::*;
use lensor::product::PlusTimes;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/karate.mtx");

/// Friends of every member, as published with the data.
const DEGREES: [f64; 34] = [
    16.0, 9.0, 10.0, 6.0, 3.0, 4.0, 4.0, 4.0, 5.0, 2.0, 3.0, 1.0, 2.0, 5.0, 2.0, 2.0, 2.0, 2.0,
    2.0, 3.0, 2.0, 2.0, 2.0, 5.0, 3.0, 3.0, 2.0, 4.0, 3.0, 4.0, 4.0, 6.0, 12.0, 17.0,
];

fn main() -> Result<(), Error> {
    let friends = mtx::open::<f64>(FILE)?;
    let members = friends.shape()[0];
    assert_eq!((members, friends.storage().stored_len()), (34, 2 * 78));

    let degrees = friends.times_dense(&Tensor::full([members], 1.0)?, PlusTimes).eval()?;
    assert_eq!(degrees.storage(), &DEGREES);

    // The square counts ways of two steps. Member 17 knows 6 and 7, and through them these and itself.
    let ways = friends.times_sparse(&friends, PlusTimes)?;
    let of_17 = ways.view().select((16,))?.lazy().eval_sparse()?;
    let expected = [(0, 2.0), (4, 1.0), (5, 1.0), (6, 1.0), (10, 1.0), (16, 2.0)];
    assert!(of_17.storage().iter().eq(expected));

    // Ways of two steps between friends close a triangle, found from each corner in both directions.
    let closed = zip_stored((&ways, &friends), 0.0, |(ways, friends)| ways * friends);
    assert_eq!(closed.sum(..).item()? / 6.0, 45.0);

    // PageRank: everybody passes on 85 % of their rank to their friends, in equal parts.
    let passed_on = zip_stored((&friends, &degrees), 0.0, |(friends, degree)| friends / degree)
        .eval_sparse()?;
    let mut rank = Tensor::full([members], 1.0 / members as f64)?;
    loop {
        let next = passed_on.times_dense(&rank, PlusTimes).eval()?;
        let next = (next * 0.85 + 0.15 / members as f64).eval()?;
        if std::mem::replace(&mut rank, next).all_close(&rank, 0.0, 1e-12)? {
            break;
        }
    }
    // The administrator and the instructor, around whom the club split, lead.
    let leaders = rank.view().select(([33, 0, 32, 2, 1],))?;
    let published = Tensor::from(vec![0.1009, 0.0970, 0.0717, 0.0571, 0.0529]);
    assert!(leaders.all_close(&published, 0.0, 5e-5)?);

    // Members by rank: a view of the same entries, on which the ranks are as stable.
    let mut order: Vec<usize> = (0..members).collect();
    order.sort_by(|&a, &b| rank.storage()[b].total_cmp(&rank.storage()[a]));
    let ordered = passed_on.view().select((order.clone(), order.clone()))?;
    assert_eq!(ordered.stored_entries()?.map(|entries| entries.stored_len()), Some(2 * 78));
    let rank = rank.select((order,))?;
    let next = ordered.times_dense(&rank, PlusTimes).eval()? * 0.85 + 0.15 / members as f64;
    assert!(rank.all_close(next, 0.0, 1e-12)?);
    Ok(())
}
