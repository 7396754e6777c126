//! Cleans a noisy temperature log: a median over three readings removes the spikes, a mean over five
//! smooths the rest. No windows are stored.

use lensor::prelude::*;

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

    // A median needs all of a window: windows are a view, of shape [count - 2, 3], and each is a lane of it.
    let clean = readings.view().windows(0, 3)?.median(1).eval()?;
    // A mean is a fold, which takes about as long for windows of any length.
    let smooth = clean.rolling(0, 5).mean().eval()?;
    assert_eq!(smooth.shape(), [count - 2 - 4]);

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
