//! Printing: aligned elements, long axes elided. Never fails, and asks for no element that it does not show.

use super::Tensor;
use crate::shape::Index;
use crate::storage::Reader;
use std::fmt::{self, Debug, Display, Formatter};

/// Elements shown at either end of an elided axis.
const EDGE: usize = 3;
/// Axes up to this length are shown whole, if there are few elements altogether.
const WHOLE: usize = 12;
/// Most elements shown whole.
const MOST: usize = 256;
/// Rank from which only one element is shown at either end.
const DEEP: usize = 5;

impl<S: Reader> Debug for Tensor<S>
where
    S::Elem: Debug,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (alternate, precision) = (f.alternate(), f.precision());
        writeln!(f, "Tensor {:?}", self.shape())?;
        render(self, f, |element| match (alternate, precision) {
            (_, Some(digits)) => format!("{element:.digits$?}"),
            _ => format!("{element:?}"),
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

fn render<S: Reader>(
    t: &Tensor<S>,
    f: &mut Formatter<'_>,
    show: impl Fn(S::Elem) -> String,
) -> fmt::Result {
    let shape = t.shape();
    if shape.contains(&0) {
        return f.write_str("[]");
    }
    let small = t.len() <= MOST;
    let edge = if shape.rank() >= DEEP { 1 } else { EDGE };
    // For every axis the digits to show; `None` stands for those left out.
    let digits: Vec<Vec<Option<usize>>> = shape
        .iter()
        .map(|&extent| {
            if extent <= 2 * edge + 1 || (small && extent <= WHOLE) {
                return (0..extent).map(Some).collect();
            }
            (0..edge).map(Some).chain([None]).chain((extent - edge..extent).map(Some)).collect()
        })
        .collect();
    let cell = |index: &[usize]| t.get(index).map_or_else(|_| "?".to_string(), &show);
    let mut width = 0;
    visit(&digits, &mut Index::new(), &mut |index| width = width.max(cell(index).chars().count()));
    nest(f, &digits, &mut Index::new(), &|f, index| write!(f, "{:>width$}", cell(index)))
}

fn visit(digits: &[Vec<Option<usize>>], index: &mut Index, f: &mut dyn FnMut(&[usize])) {
    let Some((first, rest)) = digits.split_first() else {
        return f(index);
    };
    for digit in first.iter().flatten() {
        index.push(*digit);
        visit(rest, index, f);
        index.pop();
    }
}

type Cell<'c> = dyn Fn(&mut Formatter<'_>, &[usize]) -> fmt::Result + 'c;

fn nest(
    f: &mut Formatter<'_>,
    digits: &[Vec<Option<usize>>],
    index: &mut Index,
    cell: &Cell<'_>,
) -> fmt::Result {
    let Some((first, rest)) = digits.split_first() else {
        return cell(f, index);
    };
    f.write_str("[")?;
    for (k, digit) in first.iter().enumerate() {
        if k > 0 {
            f.write_str(if rest.is_empty() { ", " } else { "," })?;
            if !rest.is_empty() {
                write!(f, "{}{:indent$}", "\n".repeat(rest.len()), "", indent = index.len() + 1)?;
            }
        }
        match digit {
            Some(digit) => {
                index.push(*digit);
                nest(f, rest, index, cell)?;
                index.pop();
            }
            None => f.write_str("..")?,
        }
    }
    f.write_str("]")
}
