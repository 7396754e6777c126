//! Files from strangers, under an allocator that counts: an error for every one, no panic, no abort, and memory
//! that follows what is there.

mod memory;
mod npy;
mod text;
mod tns;
