//! How elements are multiplied and added up.

/// Terms of two elements each and their sum, which is rounded once.
pub(crate) trait Ring<T>: Copy + Send + Sync {
    /// What terms are added up in.
    type Sum: Copy + Send + Sync;

    /// The sum of nothing.
    fn zero(self) -> Self::Sum;

    /// `sum + x * y`.
    fn step(self, sum: Self::Sum, x: T, y: T) -> Self::Sum;

    /// The sum of two sums.
    fn plus(self, a: Self::Sum, b: Self::Sum) -> Self::Sum;

    /// The element nearest to a sum.
    fn round(self, sum: Self::Sum) -> T;
}
