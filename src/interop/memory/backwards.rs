//! Strides of libraries that have no negative ones.

use super::Window;

impl Window {
    /// Axes that run backwards.
    pub(in crate::interop) fn backwards(&self) -> impl Iterator<Item = usize> + '_ {
        let strides = self.strides.iter().enumerate();
        strides.filter(|(_, stride)| **stride < 0).map(|(axis, _)| axis)
    }
}
