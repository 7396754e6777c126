//! What is not done in registers on machines that the other files do not know.

pub(crate) const SPARE: usize = 0;

pub(crate) fn sort_u32(_: &mut [u32], _: usize, _: &mut [u32], _: Option<u32>) -> Option<usize> {
    None
}

pub(crate) fn sort_u64(_: &mut [u64], _: usize, _: &mut [u64], _: Option<u64>) -> Option<usize> {
    None
}

pub(crate) fn merge_u32(_: &mut [u32; 512], _: usize, _: usize) -> bool {
    false
}

pub(crate) fn merge_u64(_: &mut [u64; 512], _: usize, _: usize) -> bool {
    false
}

pub(crate) fn compensate_f32(_: &[[f32; 16]], _: &mut [f32; 16], _: &mut [f32; 16]) -> bool {
    false
}

pub(crate) fn compensate_f64(_: &[[f64; 16]], _: &mut [f64; 16], _: &mut [f64; 16]) -> bool {
    false
}
