//! Printing: aligned elements, long axes elided. Never fails; reads each element that it shows once, and no other.

use super::Tensor;
use crate::shape::{Index, Shape};
use crate::storage::Reader;
use smallvec::SmallVec;
use std::fmt::{self, Debug, Display, Formatter};

/// Elements shown at either end of an elided axis.
const EDGE: usize = 3;
/// Axes up to this length are shown whole, if there are few elements altogether.
const WHOLE: usize = 12;
/// Most elements of a tensor of which such axes are shown whole.
const MOST_WHOLE: usize = 256;
/// Most elements shown, in any rank.
const MOST_CELLS: usize = 1000;
/// Rank from which only one element is shown at either end.
const DEEP: usize = 5;

impl<S: Reader> Debug for Tensor<S>
where
    S::Elem: Debug,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let precision = f.precision();
        writeln!(f, "Tensor {:?}", self.shape())?;
        render(self, f, |element| match precision {
            Some(digits) => format!("{element:.digits$?}"),
            None => format!("{element:?}"),
        })
    }
}

impl<S: Reader> Display for Tensor<S>
where
    S::Elem: Display,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let precision = f.precision();
        render(self, f, |element| match precision {
            Some(digits) => format!("{element:.digits$}"),
            None => format!("{element}"),
        })
    }
}

/// What is shown of one axis: digits from its beginning and its end, all others left out.
struct Shown {
    extent: usize,
    head: usize,
    tail: usize,
}

impl Shown {
    fn count(&self) -> usize {
        self.head + self.tail
    }

    fn is_elided(&self) -> bool {
        self.count() < self.extent
    }

    /// The digit at a position among those shown.
    fn digit(&self, position: usize) -> usize {
        if position < self.head { position } else { self.extent - self.count() + position }
    }
}

/// What is shown of every axis, so that there are at most [`MOST_CELLS`] elements altogether. Inner axes
/// come first in what they may show, so that the elements shown lie near to one another.
fn shown(shape: &Shape, len: usize) -> SmallVec<[Shown; 4]> {
    let small = len <= MOST_WHOLE;
    let edge = if shape.rank() >= DEEP { 1 } else { EDGE };
    let mut left = MOST_CELLS;
    let mut axes: SmallVec<[Shown; 4]> = SmallVec::new();
    for &extent in shape.iter().rev() {
        let whole = extent <= 2 * edge + 1 || (small && extent <= WHOLE);
        let (head, tail) = match (whole, left / 2) {
            (true, _) if extent <= left => (extent, 0),
            (_, 0) => (1, 0),
            (_, half) => (edge.min(half), edge.min(half)),
        };
        left /= head + tail;
        axes.push(Shown { extent, head, tail });
    }
    axes.reverse();
    axes
}

fn render<S: Reader>(
    t: &Tensor<S>,
    f: &mut Formatter<'_>,
    show: impl Fn(S::Elem) -> String,
) -> fmt::Result {
    let shape = t.shape();
    if shape.contains(&0) {
        return f.write_str("[]");
    }
    let axes = shown(&shape, t.len());
    let rank = axes.len();
    let positions: Shape = axes.iter().map(Shown::count).collect();
    let Ok(positions) = positions.indexes() else { return Err(fmt::Error) };
    let cells: Vec<String> = positions
        .clone()
        .map(|at| {
            let index: Index = at.iter().zip(&axes).map(|(&p, axis)| axis.digit(p)).collect();
            t.get(&index).map_or_else(|_| "?".to_string(), &show)
        })
        .collect();
    let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    let separate = |f: &mut Formatter<'_>, axis: usize| match rank - 1 - axis {
        0 => f.write_str(", "),
        inner => write!(f, ",{}{:indent$}", "\n".repeat(inner), "", indent = axis + 1),
    };
    for (k, (at, cell)) in positions.zip(&cells).enumerate() {
        // Axes that begin here: the trailing ones at their first position.
        let opened = at.iter().rev().take_while(|position| **position == 0).count();
        if k > 0 {
            let advanced = rank - opened - 1;
            separate(f, advanced)?;
            if axes[advanced].is_elided() && at[advanced] == axes[advanced].head {
                f.write_str("..")?;
                separate(f, advanced)?;
            }
        }
        write!(f, "{:[<opened$}{cell:>width$}", "")?;
        for (axis, shown) in axes.iter().enumerate().rev() {
            if at[axis] + 1 < shown.count() {
                break;
            }
            if shown.is_elided() && shown.tail == 0 {
                separate(f, axis)?;
                f.write_str("..")?;
            }
            f.write_str("]")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Tensor;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn small_tensors_are_shown_whole_and_aligned() {
        let t = Tensor::from_vec([2, 2, 2], vec![1, -20, 3, 4, 5, 6, 7, 8]).unwrap();
        let expected = "[[[  1, -20],\n  [  3,   4]],\n\n [[  5,   6],\n  [  7,   8]]]";
        assert_eq!(format!("{t}"), expected);
        assert_eq!(format!("{t:?}"), format!("Tensor [2, 2, 2]\n{expected}"));
        assert_eq!(format!("{}", Tensor::full([], 7).unwrap()), "7");
        assert_eq!(format!("{:.1}", Tensor::full([1], 0.25).unwrap()), "[0.2]");
        assert_eq!(format!("{}", Tensor::full([3, 0], 7).unwrap()), "[]");
    }

    #[test]
    fn long_axes_show_their_ends() {
        let t = Tensor::from_fn([300], |k| k).unwrap();
        assert_eq!(format!("{t}"), "[  0,   1,   2, .., 297, 298, 299]");
        let t = Tensor::from_fn([300, 2], |k| k / 2).unwrap();
        let row = |k| format!("[{k:>3}, {k:>3}]");
        let rows = [row(0), row(1), row(2), "..".into(), row(297), row(298), row(299)];
        assert_eq!(format!("{t}"), format!("[{}]", rows.join(",\n ")));
    }

    /// At most 1000 elements are shown, in any rank; each is read and formatted once.
    #[test]
    fn what_is_shown_does_not_grow_with_the_rank() {
        for (shape, most_bytes) in [
            (vec![2; 40], 20_000),
            (vec![2; 16], 10_000),
            (vec![9; 5], 10_000),
            (vec![1 << 20; 3], 10_000),
            (vec![1; 64], 1000),
            ([vec![2; 60], vec![1; 4]].concat(), 50_000),
        ] {
            let reads = AtomicUsize::new(0);
            let read = |_| reads.fetch_add(1, Ordering::Relaxed) % 10;
            let t = Tensor::from_fn(&shape[..], read).unwrap();
            let text = format!("{t}");
            let reads = reads.load(Ordering::Relaxed);
            assert!(
                reads <= 1000 && text.len() <= most_bytes,
                "{shape:?}: {reads}, {}",
                text.len()
            );
            assert_eq!(text.chars().filter(char::is_ascii_digit).count(), reads, "{shape:?}");
            assert_eq!(text.matches('[').count(), text.matches(']').count());
            assert_eq!(text.contains(".."), reads < shape.iter().product(), "{shape:?}");
        }
    }
}
