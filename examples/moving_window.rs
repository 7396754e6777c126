//! Cleans a noisy temperature log: a median over three readings removes the spikes, a mean over five
//! smooths the rest. Both run over sliding windows that are views, so no window is ever copied.

use lensor::prelude::*;

/// Median of every three neighbours.
fn median_of_three<S: Reader<Elem = f64> + Copy>(
    readings: Tensor<S>,
) -> Result<Lazy<impl Expr<Elem = f64> + Clone>, Error> {
    let windows = readings.windows(0, 3)?.lazy();
    let at = |k: usize| windows.clone().select((.., k));
    let (low, high) = (at(0)?.minimum(at(1)?), at(0)?.maximum(at(1)?));
    Ok(low.maximum(high.minimum(at(2)?)))
}

/// Mean of every `width` neighbours: a sum of as many columns of the windows.
fn mean<'a, E>(readings: Lazy<E>, width: usize) -> Result<BoxExpr<'a, f64>, Error>
where
    E: Expr<Elem = f64> + Clone + 'a,
{
    let windows = readings.windows(0, width)?;
    let mut sum = windows.clone().select((.., 0))?.boxed();
    for k in 1..width {
        sum = (sum + windows.clone().select((.., k))?).boxed();
    }
    Ok((sum / width as f64).boxed())
}

fn main() -> Result<(), Error> {
    // A day of readings, one a second: a daily wave, a little noise, and a spike now and then.
    let count = 86_400;
    let readings = Tensor::from_index([count], |index| {
        let second = index[0];
        let wave = (second as f64 / count as f64 * std::f64::consts::TAU).sin();
        let noise = (second * 7919 % 101) as f64 / 1000.0;
        let spike = if second % 997 == 0 { 40.0 } else { 0.0 };
        15.0 + 8.0 * wave + noise + spike
    })?;

    let clean = median_of_three(readings.view())?;
    let smooth = mean(clean.clone(), 5)?.eval()?;
    assert_eq!(smooth.shape(), [count - 2 - 4]);

    // That was one loop, which computes every median five times. Evaluating in between keeps them.
    let clean = clean.eval()?;
    assert_eq!(mean(clean.view().lazy(), 5)?.eval()?, smooth);

    // The same in plain loops, with a sort for the median.
    let data = readings.storage();
    let mut medians = Vec::with_capacity(count - 2);
    for window in data.windows(3) {
        let mut sorted = window.to_vec();
        sorted.sort_by(f64::total_cmp);
        medians.push(sorted[1]);
    }
    assert_eq!(clean.storage(), &medians);
    for (window, &found) in medians.windows(5).zip(smooth.storage()) {
        assert_eq!(found, window.iter().sum::<f64>() / 5.0);
    }

    // No reading jumps by more than the noise any more.
    let jumps = |data: &[f64]| data.windows(2).filter(|w| (w[1] - w[0]).abs() > 1.0).count();
    assert_eq!((jumps(data), jumps(smooth.storage())), (173, 0));
    Ok(())
}
