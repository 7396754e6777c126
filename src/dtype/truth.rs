//! Elements that count as true or as false: what masks, counts and searches for nonzero elements take.

use super::Measure;

/// Elements that are true or not: those of a [`Measure`], and complex numbers. `false` and 0 are
/// not, NaN is.
///
/// [`Any`](crate::reduce::Any), [`All`](crate::reduce::All), [`CountNonzero`](crate::reduce::CountNonzero) and
/// [`nonzero`](crate::indexing::Indexing::nonzero) ask for it. Types of your own may have it, too.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` are neither zero nor nonzero",
    note = "`bool`, integers of up to 64 bits, floats and complex numbers are: of others make a mask by `map`, for example `t.map(|x| x == y)`"
)]
pub trait Truth: Copy + Send + Sync {
    /// Whether this is neither `false` nor 0.
    fn is_nonzero(self) -> bool;
}

#[diagnostic::do_not_recommend]
impl<T: Measure> Truth for T {
    #[inline(always)]
    fn is_nonzero(self) -> bool {
        self.is_true()
    }
}

#[cfg(feature = "complex")]
mod complex {
    use super::Truth;
    use num_complex::{Complex32, Complex64};

    macro_rules! complex {
        ($($type:ty)*) => { $(
            impl Truth for $type {
                #[inline(always)]
                fn is_nonzero(self) -> bool {
                    self.re != 0.0 || self.im != 0.0
                }
            }
        )* };
    }
    complex!(Complex32 Complex64);
}
