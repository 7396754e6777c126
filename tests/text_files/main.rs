//! Matrix Market and `.tns` files: what is written is read, what is malformed is refused by line, and
//! memory follows what is there.

mod hostile;
mod round_trip;
mod symmetry;
mod tns;

#[path = "../npy_hostile/memory.rs"]
mod memory;
