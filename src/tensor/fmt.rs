//! Printing: aligned elements, long axes elided. Never fails; reads each element that it shows once, and no other.

use super::Tensor;
use crate::shape::{Index, Shape};
use crate::storage::Reader;
use smallvec::{SmallVec, smallvec};
use std::fmt::{self, Debug, Display, Formatter, LowerExp};

/// Elements shown at either end of an elided axis.
pub(crate) const EDGE: usize = 3;
/// Axes up to this length are shown whole, if there are few elements altogether.
pub(crate) const WHOLE: usize = 12;
/// Most elements of a tensor of which such axes are shown whole.
const MOST_WHOLE: usize = 256;
/// Most elements shown, in any rank.
pub(crate) const MOST_CELLS: usize = 1000;
/// Rank from which only one element is shown at either end.
const DEEP: usize = 5;
/// Most digits after the point of floats, if no other number is asked for.
const DIGITS: usize = 8;

/// The shape, and the elements with all of their digits.
impl<S: Reader> Debug for Tensor<S>
where
    S::Elem: Debug,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let precision = f.precision();
        writeln!(f, "Tensor {:?}", self.shape())?;
        let show = |element: &S::Elem| match precision {
            Some(digits) => format!("{element:.digits$?}"),
            None => format!("{element:?}"),
        };
        render(self, f, |elements| each(elements, show))
    }
}

/// Floats have at most 8 digits after the point, and no more than tell them from all others, as in NumPy; `{:.3}`
/// shows 3, `{:?}` all of them. Where one of the elements shown is less than 0.0001 or at least 1e16, all have exponents,
/// as with `{:e}`. Parts of complex numbers are such floats.
///
/// ```
/// use lensor::Tensor;
/// let thirds = Tensor::from(vec![1.0 / 3.0, 0.5, 100.0 / 3.0]);
/// assert_eq!(thirds.to_string(), "[ 0.33333333,         0.5, 33.33333333]");
/// assert_eq!(format!("{thirds:.2}"), "[ 0.33,  0.50, 33.33]");
/// assert_eq!(Tensor::from(vec![1e-10, 2.0]).to_string(), "[1e-10,   2e0]");
/// # Ok::<(), lensor::Error>(())
/// ```
///
/// Of the options of a format the precision alone is heeded, by `{}`, `{:?}` and `{:e}`: columns are as wide as their widest
/// element, and a width, a fill, a sign, `#` and a radix change nothing.
impl<S: Reader> Display for Tensor<S>
where
    S::Elem: Display,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let precision = f.precision();
        render(self, f, |all| texts(all, precision))
    }
}

/// The texts of elements, with so many digits after the point if that is said.
pub(crate) fn texts<T: Display>(all: &[Option<T>], precision: Option<usize>) -> Vec<String> {
    match precision {
        Some(digits) => each(all, |x| one_sign::<T>(format!("{x:.digits$}"))),
        None => match Kind::of::<T>() {
            Some(kind) => kind.texts(all, false, &T::to_string, &|x| format!("{x:.DIGITS$}")),
            None => each(all, T::to_string),
        },
    }
}

/// Every element with an exponent; at most 8 digits after the point, or as many as are asked for.
///
/// ```
/// use lensor::Tensor;
/// let t = Tensor::from(vec![1234.5, 2e-7 / 3.0]);
/// assert_eq!(format!("{t:e}"), "[     1.2345e3, 6.66666667e-8]");
/// assert_eq!(format!("{t:.1e}"), "[ 1.2e3, 6.7e-8]");
/// # Ok::<(), lensor::Error>(())
/// ```
impl<S: Reader> LowerExp for Tensor<S>
where
    S::Elem: LowerExp,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let precision = f.precision();
        let shortest = |x: &S::Elem| format!("{x:e}");
        let cut = |x: &S::Elem| format!("{x:.DIGITS$e}");
        render(self, f, |all| match (precision, Kind::of::<S::Elem>()) {
            (Some(digits), _) => each(all, |x| one_sign::<S::Elem>(format!("{x:.digits$e}"))),
            (None, Some(kind)) => kind.texts(all, true, &shortest, &cut),
            (None, None) => each(all, |x| rounded(&shortest(x), &|| cut(x))),
        })
    }
}

/// The texts of elements; `?` stands for what cannot be read.
pub(crate) fn each<T>(elements: &[Option<T>], show: impl Fn(&T) -> String) -> Vec<String> {
    let show = |element: &Option<T>| element.as_ref().map_or_else(|| "?".into(), &show);
    elements.iter().map(show).collect()
}

/// The texts of the floats that an element is made of.
type Parts = SmallVec<[String; 2]>;

/// What floats elements are made of: asked by name, as any type that has a text can be shown.
#[derive(Clone, Copy)]
enum Kind {
    Float,
    /// Numbers from a power of two to the next one lie 2^-`bits` of it apart, but at least 2^`least`.
    Half {
        bits: i32,
        least: i32,
    },
    Complex,
}

impl Kind {
    fn of<T>() -> Option<Self> {
        match std::any::type_name::<T>().rsplit("::").next()? {
            "f32" | "f64" => Some(Self::Float),
            "f16" => Some(Self::Half { bits: 10, least: -24 }),
            "bf16" => Some(Self::Half { bits: 7, least: -133 }),
            "Complex<f32>" | "Complex<f64>" => Some(Self::Complex),
            _ => None,
        }
    }

    /// The texts of elements, all of them with exponents, or where one needs one. `shortest` gives the text with all
    /// digits, `cut` that with as many as are shown.
    fn texts<T>(
        self,
        elements: &[Option<T>],
        exponents: bool,
        shortest: &dyn Fn(&T) -> String,
        cut: &dyn Fn(&T) -> String,
    ) -> Vec<String> {
        let number = |part: &String| part.parse::<f64>().ok();
        let apart = elements.iter().map(|x| x.as_ref().map(|x| (self.parts(shortest(x)), x)));
        let elements: Vec<Option<(Parts, &T)>> = apart.collect();
        let parts = elements.iter().flatten().flat_map(|(parts, _)| parts);
        let mut sizes = parts.filter_map(number).map(f64::abs);
        let is_far = |x: f64| x.is_finite() && x > 0.0 && !(1e-4..1e16).contains(&x);
        let has_exponents = exponents || sizes.any(is_far);
        each(&elements, |(parts, x)| {
            let shown = |(k, part): (usize, &String)| match has_exponents
                .then(|| number(part))
                .flatten()
            {
                Some(x) if x.is_finite() => {
                    let sign = if part.starts_with('+') { "+" } else { "" };
                    format!("{sign}{}", rounded(&format!("{x:e}"), &|| format!("{x:.DIGITS$e}")))
                }
                _ => rounded(part, &|| self.parts(cut(x)).into_iter().nth(k).unwrap_or_default()),
            };
            let mut text: String = parts.iter().enumerate().map(shown).collect();
            if parts.len() > 1 {
                text.push('i');
            }
            text
        })
    }

    /// The floats in the text of an element, the second with its sign.
    fn parts(self, text: String) -> Parts {
        match self {
            Self::Float => smallvec![text],
            // A text of as many digits as tell floats of 32 bits apart.
            Self::Half { bits, least } => match text.parse::<f32>() {
                Ok(x) if x.is_finite() && x != 0.0 => {
                    smallvec![fewest_digits(x.into(), bits, least).to_string()]
                }
                _ => smallvec![text],
            },
            Self::Complex => complex_parts(&text).map_or_else(|| smallvec![text], Parts::from),
        }
    }
}

/// The text of an element, or of a complex number the one with a single sign in front of an imaginary part of -0.
fn one_sign<T>(text: String) -> String {
    match Kind::of::<T>() {
        Some(Kind::Complex) if text.contains("+-") => {
            complex_parts(&text).map_or(text, |[re, im]| format!("{re}{im}i"))
        }
        _ => text,
    }
}

/// The two floats in a text such as `1-2i`; `None` if it is no such text.
fn complex_parts(text: &str) -> Option<[String; 2]> {
    let text = text.strip_suffix('i')?;
    let mut signs = text.match_indices(['+', '-']).map(|(at, _)| at);
    let (re, im) = text.split_at(signs.find(|&at| at > 0 && !text[..at].ends_with('e'))?);
    // A zero may bring its own sign.
    let im = if im.starts_with("+-") { &im[1..] } else { im };
    let are_numbers = [re, im].iter().all(|part| part.parse::<f64>().is_ok());
    are_numbers.then(|| [re.into(), im.into()])
}

/// The number of fewest digits that a half is the nearest one to, see [`Kind::Half`].
fn fewest_digits(x: f64, bits: i32, least: i32) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let gap = 2_f64.powi((exponent - bits).max(least));
    // Below a power of two numbers lie twice as close, unless they lie as close as they can.
    let is_power = x.to_bits() << 12 == 0;
    let below = if is_power && exponent - bits > least { gap / 2.0 } else { gap };
    let is_near = |near: &f64| {
        let apart = near.abs() - x.abs();
        if apart < 0.0 { -apart < below / 2.0 } else { apart < gap / 2.0 }
    };
    let mut all = (0..DIGITS).map(|digits| format!("{x:.digits$e}").parse().unwrap_or(x));
    all.find(is_near).unwrap_or(x)
}

/// The shortest text of a number, or if that has more than [`DIGITS`] digits after the point, the one with as many,
/// without zeros at its end.
fn rounded(shortest: &str, cut: &dyn Fn() -> String) -> String {
    let end = |text: &str| text.find('e').unwrap_or(text.len());
    let number = &shortest[..end(shortest)];
    let digits = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    if digits <= DIGITS {
        return shortest.into();
    }
    let mut text = cut();
    let end = end(&text);
    let kept = text[..end].trim_end_matches('0').trim_end_matches('.').len();
    text.replace_range(kept..end, "");
    text
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
    show: impl Fn(&[Option<S::Elem>]) -> Vec<String>,
) -> fmt::Result {
    let read = |index: &Index| t.get(index).ok();
    render_texts(&t.shape(), f, &|indexes| show(&indexes.iter().map(read).collect::<Vec<_>>()))
}

/// The elements of a tensor of this shape; `texts` gives those of the indexes that are shown.
#[inline(never)]
fn render_texts(
    shape: &Shape,
    f: &mut Formatter<'_>,
    texts: &dyn Fn(&[Index]) -> Vec<String>,
) -> fmt::Result {
    if shape.contains(&0) {
        return f.write_str("[]");
    }
    let axes = shown(shape, shape.count().unwrap_or(usize::MAX));
    let rank = axes.len();
    let positions: Shape = axes.iter().map(Shown::count).collect();
    let Ok(positions) = positions.indexes() else { return Err(fmt::Error) };
    let digits = |at: Index| at.iter().zip(&axes).map(|(&p, axis)| axis.digit(p)).collect();
    let cells = texts(&positions.clone().map(digits).collect::<Vec<_>>());
    let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    // Widths are numbers of 16 bits: a larger one would panic.
    let width = width.min(usize::from(u16::MAX));
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
