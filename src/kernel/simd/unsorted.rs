//! Keys are neither sorted nor merged in registers on machines that `sort.rs` does not know.

pub(crate) const SPARE: usize = 0;

pub(crate) fn sort_u32(_: &mut [u32], _: &mut [u32]) -> bool {
    false
}

pub(crate) fn sort_u64(_: &mut [u64], _: &mut [u64]) -> bool {
    false
}

pub(crate) fn merge_u32(_: &mut [u32; 512], _: usize, _: usize) -> bool {
    false
}

pub(crate) fn merge_u64(_: &mut [u64; 512], _: usize, _: usize) -> bool {
    false
}
