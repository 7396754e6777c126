//! Maps a file as `char`, which files do not hold. Map it as `u32` and convert what you read.

use lensor::Error;
use lensor::interop::npy;

fn main() -> Result<(), Error> {
    let _ = unsafe { npy::map::<char>("text.npy") }?;
    Ok(())
}
