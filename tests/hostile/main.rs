//! Files from strangers, under an allocator that counts: an error for every one, no panic, no abort, and memory
//! that follows what is there.

#[cfg(all(feature = "npz", feature = "safetensors"))]
mod archives;
mod memory;
mod npy;
mod text;
mod tns;
