//! Signatures: which axes of its arguments an elementary function sees.

use super::extent::{Extent, Kind, Name};
use super::parse::{BYTES, Parsed, Parser};
use crate::error::{Error, Result, SignatureFlaw};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::sync::Arc;

/// The core dimensions of the arguments of an elementary function, such as `(m,n),(n,p)->(m,p)`.
///
/// ```text
/// Signature := Args "->" Args      Args := nothing | Arg ("," Arg)*      Arg := "(" [Dim ("," Dim)*] ")"
/// Dim  := Name ["?" | "|1"] | Integer     Name := [A-Za-z_][A-Za-z0-9_]*     in outputs also Sum
/// Sum  := Term (("+" | "-") Term)*     Term := Factor (("*" | "/") Factor)*
/// Factor := Name | Integer | "(" Sum ")"
/// ```
///
/// A name stands for one extent. One with `?` may be missing, one with `|1` stretches where it is 1, an integer is
/// an extent that is fixed, and a sum is an exact extent of an output. There are at most 16 arguments of 8 axes, one
/// output at least, and 4096 bytes. After NumPy's NEP 20.
///
/// ```
/// use lensor::gufunc::Signature;
/// let product = Signature::parse("( m?, n ), (n, p?) -> (m?, p?)")?;
/// assert_eq!(product.to_string(), "(m?,n),(n,p?)->(m?,p?)");
/// assert_eq!((product.inputs(), product.outputs()), (2, 1));
/// assert!(Signature::parse("(i,j),(i)->()")?.is_like(&Signature::parse("(m,n),(m)->()")?));
/// # Ok::<(), lensor::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Signature(Arc<Parsed>);

impl Signature {
    /// Reads a signature.
    ///
    /// # Errors
    ///
    /// [`Error::Signature`] with the first byte of the first token with which no signature continues, or the length
    /// of the text; without one if the fault lies in the whole: uses of a name that differ, limits, no output.
    ///
    /// ```
    /// use lensor::gufunc::Signature;
    /// let error = Signature::parse("(m),->(n)").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "malformed signature at byte 4: expected `(`, found `->`\n  (m),->(n)\n      ^"
    /// );
    /// # Ok::<(), lensor::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let fault = |(byte, flaw)| Error::Signature { text: text.to_string(), byte, flaw };
        if text.len() > BYTES {
            let flaw = SignatureFlaw::Limit { what: "bytes", limit: BYTES };
            return Err(Error::Signature { text: String::new(), byte: None, flaw });
        }
        Parser::new(text).parsed().map(|parsed| Self(Arc::new(parsed))).map_err(fault)
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.0.inputs.len()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.0.outputs.len()
    }

    /// Whether both are equal but for the names.
    pub fn is_like(&self, other: &Self) -> bool {
        let kinds = |signature: &Self| -> Vec<Kind> {
            signature.0.names.iter().map(|name| name.kind).collect()
        };
        kinds(self) == kinds(other)
            && self.0.inputs == other.0.inputs
            && self.0.outputs == other.0.outputs
    }

    /// Whether the first input and the only output have the same core dimensions.
    pub(super) fn is_alike(&self) -> bool {
        let ([first, ..], [only]) = (self.input_axes(), self.output_axes()) else { return false };
        let alike = |(name, extent): (&usize, &Extent)| *extent == Extent::Of(*name);
        first.len() == only.len() && first.iter().zip(only).all(alike)
    }

    /// Core dimensions in the order in which they first occur.
    pub(super) fn names(&self) -> &[Name] {
        &self.0.names
    }

    /// The dimensions of each input.
    pub(super) fn input_axes(&self) -> &[Vec<usize>] {
        &self.0.inputs
    }

    /// The extents of each output.
    pub(super) fn output_axes(&self) -> &[Vec<Extent>] {
        &self.0.outputs
    }
}

impl FromStr for Signature {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// The canonical text, which reads back as an equal signature.
impl Display for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = self.names();
        let plain = |name: usize, f: &mut Formatter<'_>, stretches: bool| {
            let Name { text, kind } = &names[name];
            let mark = match kind {
                Kind::Optional => "?",
                Kind::Stretching if stretches => "|1",
                _ => "",
            };
            write!(f, "{text}{mark}")
        };
        arguments(f, self.input_axes(), |name, f| plain(*name, f, true))?;
        f.write_str("->")?;
        arguments(f, self.output_axes(), |extent, f| match extent {
            Extent::Of(name) => plain(*name, f, false),
            Extent::Sum(sum) => f.write_str(&sum.text(|name| &names[name].text)),
        })
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

/// Writes arguments in brackets, with commas between them and between their axes.
fn arguments<T>(
    f: &mut Formatter<'_>,
    arguments: &[Vec<T>],
    write: impl Fn(&T, &mut Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    for (k, axes) in arguments.iter().enumerate() {
        f.write_str(if k == 0 { "(" } else { ",(" })?;
        for (k, axis) in axes.iter().enumerate() {
            f.write_str(if k == 0 { "" } else { "," })?;
            write(axis, f)?;
        }
        f.write_str(")")?;
    }
    Ok(())
}
