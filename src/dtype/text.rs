//! Elements as words of text.

#[cfg(feature = "half")]
use super::Cast;
use super::{Arithmetic, Element, SameBits, Signed};
use std::fmt::Write;

/// An element that text files hold in words: decimal digits, or two numbers for a complex one. Sealed, as
/// [`Element`] is.
pub trait TextElement: Element + SameBits {
    /// Number of words an element takes.
    const WORDS: usize;
    /// The number 0, `false`.
    const ZERO: Self;
    /// The number 1, `true`: what a file of positions says of each.
    const ONE: Self;

    /// The element in the next words; `None` if they are no such element, or do not suffice. Decimal
    /// fractions round to nearest, those of half precision by way of the nearest `f64`.
    ///
    /// ```
    /// use lensor::dtype::TextElement;
    /// assert_eq!(u8::from_words(&mut "255 7".split(' ')), Some(255));
    /// assert_eq!(u8::from_words(&mut "256 7".split(' ')), None);
    /// assert_eq!(f64::from_words(&mut "1e-3".split(' ')), Some(0.001));
    /// ```
    fn from_words<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Self>;

    /// Appends words that [`Self::from_words`] turns into the same element.
    ///
    /// ```
    /// use lensor::dtype::TextElement;
    /// let mut line = "x ".to_string();
    /// 1e-300.push_words(&mut line);
    /// assert_eq!(line, "x 1e-300");
    /// ```
    fn push_words(self, out: &mut String);

    /// What two entries of one place amount to: their sum, wrapping for integers; `or` for `bool`.
    fn merged(self, other: Self) -> Self;

    /// The number with the other sign; unsigned integers wrap, `bool` stays.
    fn opposite(self) -> Self;

    /// The complex conjugate; other numbers stay.
    #[must_use]
    fn conjugate(self) -> Self {
        self
    }
}

impl TextElement for bool {
    const WORDS: usize = 1;
    const ZERO: Self = false;
    const ONE: Self = true;

    fn from_words<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
        match words.next()? {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }

    fn push_words(self, out: &mut String) {
        out.push(if self { '1' } else { '0' });
    }

    fn merged(self, other: Self) -> Self {
        self | other
    }

    fn opposite(self) -> Self {
        self
    }
}

macro_rules! text_elements {
    ($($(#[$cfg:meta])? $type:ty $(as $text:ty)?: $zero:expr, $one:expr;)*) => { $(
        $(#[$cfg])?
        impl TextElement for $type {
            const WORDS: usize = 1;
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            fn from_words<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
                words.next()?.parse()$(.map(<$text as Cast<$type>>::cast_unchecked))?.ok()
            }

            fn push_words(self, out: &mut String) {
                // Strings take everything.
                let _ = write!(out, "{self:?}");
            }

            fn merged(self, other: Self) -> Self {
                self.plus(other)
            }

            fn opposite(self) -> Self {
                self.negated()
            }
        }
    )* };
}
text_elements! {
    i8: 0, 1; i16: 0, 1; i32: 0, 1; i64: 0, 1;
    u8: 0, 1; u16: 0, 1; u32: 0, 1; u64: 0, 1;
    f32: 0.0, 1.0; f64: 0.0, 1.0;
    #[cfg(feature = "half")] half::f16 as f64: half::f16::ZERO, half::f16::ONE;
    #[cfg(feature = "half")] half::bf16 as f64: half::bf16::ZERO, half::bf16::ONE;
}

/// Two words, the real and the imaginary part.
#[cfg(feature = "complex")]
mod complex {
    use super::TextElement;
    use num_complex::Complex;

    macro_rules! complex {
        ($($part:ty)*) => { $(
            impl TextElement for Complex<$part> {
                const WORDS: usize = 2;
                const ZERO: Self = Complex::new(0.0, 0.0);
                const ONE: Self = Complex::new(1.0, 0.0);

                fn from_words<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Self> {
                    let re = <$part>::from_words(words)?;
                    Some(Complex::new(re, <$part>::from_words(words)?))
                }

                fn push_words(self, out: &mut String) {
                    self.re.push_words(out);
                    out.push(' ');
                    self.im.push_words(out);
                }

                fn merged(self, other: Self) -> Self {
                    self + other
                }

                fn opposite(self) -> Self {
                    -self
                }

                fn conjugate(self) -> Self {
                    self.conj()
                }
            }
        )* };
    }
    complex!(f32 f64);
}
