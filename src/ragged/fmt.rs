//! Printing: rows in brackets, long ones elided. Never fails; reads the elements that it shows, and no other.

use super::Ragged;
use super::form::{Axis, Form, content_shape};
use crate::storage::Reader;
use crate::tensor::fmt::{EDGE, MOST_CELLS, WHOLE, each, texts};
use std::fmt::{self, Debug, Display, Formatter};

/// What stands between elements, and elements by their number.
enum Token {
    Text(&'static str),
    Element(usize),
}

/// Most tokens: rows without elements are elided too.
const MOST_TOKENS: usize = 8 * MOST_CELLS;

/// What is shown of a form.
struct Layout {
    tokens: Vec<Token>,
    /// Numbers of the elements that are shown.
    elements: Vec<usize>,
}

impl Layout {
    fn of(form: &Form) -> Self {
        let mut all = Self { tokens: Vec::new(), elements: Vec::new() };
        all.item(&form.axes, 0);
        all
    }

    fn is_full(&self) -> bool {
        self.elements.len() >= MOST_CELLS || self.tokens.len() >= MOST_TOKENS
    }

    /// One item of the axes so far.
    fn item(&mut self, axes: &[Axis], number: usize) {
        let Some((axis, rest)) = axes.split_first() else {
            self.tokens.push(Token::Element(self.elements.len()));
            return self.elements.push(number);
        };
        let (first, extent) = match axis {
            Axis::Fixed(extent) => (number * extent, *extent),
            Axis::Var(rows) => (rows.number(number), rows.length(number)),
        };
        let (head, tail) = match extent {
            whole if whole <= WHOLE => (whole, 0),
            _ => (EDGE, EDGE),
        };
        self.tokens.push(Token::Text("["));
        for k in (0..head).chain(extent - tail..extent) {
            if k > 0 {
                self.tokens.push(Token::Text(", "));
            }
            if k == extent - tail || k > 0 && self.is_full() {
                self.tokens.push(Token::Text(".."));
                if self.is_full() {
                    break;
                }
                self.tokens.push(Token::Text(", "));
            }
            self.item(rest, first + k);
        }
        self.tokens.push(Token::Text("]"));
    }
}

impl<S: Reader> Ragged<S> {
    fn render(
        &self,
        f: &mut Formatter<'_>,
        show: impl FnOnce(&[Option<S::Elem>]) -> Vec<String>,
    ) -> fmt::Result {
        let Ok(resolved) = self.resolved() else { return f.write_str("?") };
        let form = &resolved.form;
        let Layout { tokens, elements } = Layout::of(form);
        let element = |&number: &usize| {
            let mut index = content_shape(form).unravel(number).to_vec();
            if form.depth() > 0 {
                index[0] = resolved.item(index[0]);
            }
            self.content.get(&index).ok()
        };
        let texts = show(&elements.iter().map(element).collect::<Vec<_>>());
        tokens.iter().try_for_each(|token| match token {
            Token::Text(text) => f.write_str(text),
            Token::Element(number) => f.write_str(texts.get(*number).map_or("?", |text| text)),
        })
    }
}

/// Rows in brackets; numbers as those of a [`Tensor`](crate::Tensor).
///
/// ```
/// use lensor::ragged::Ragged;
/// let r = Ragged::from_nested(vec![vec![0.5, 1.0], vec![], vec![2.0 / 3.0]])?;
/// assert_eq!(r.to_string(), "[[0.5, 1], [], [0.66666667]]");
/// assert_eq!(format!("{r:.1}"), "[[0.5, 1.0], [], [0.7]]");
/// # Ok::<(), lensor::Error>(())
/// ```
impl<S: Reader> Display for Ragged<S>
where
    S::Elem: Display,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let precision = f.precision();
        self.render(f, |all| texts(all, precision))
    }
}

/// The form, and the elements with all of their digits.
///
/// ```
/// use lensor::ragged::Ragged;
/// let r = Ragged::from_nested(vec![vec![1.5], vec![]])?;
/// assert_eq!(format!("{r:?}"), "Ragged 2 * var of f64, 1 item\n[[1.5], []]");
/// # Ok::<(), lensor::Error>(())
/// ```
impl<S: Reader> Debug for Ragged<S>
where
    S::Elem: Debug,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Ok(form) = self.form() else { return f.write_str("Ragged ?") };
        let name = std::any::type_name::<S::Elem>();
        let items = form.count().unwrap_or(usize::MAX);
        writeln!(f, "Ragged {form} of {name}, {items} item{}", if items == 1 { "" } else { "s" })?;
        self.render(f, |all| each(all, |x| format!("{x:?}")))
    }
}

/// What is shown of something else: its form.
impl Debug for Ragged<()> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shown").field(&self.form().map(|form| form.to_string())).finish()
    }
}
