//! Maps a file as `bool`, whose bytes may be anything. Read it with `npy::open`, or map it as `u8`.

use lensor::Error;
use lensor::interop::npy;

fn main() -> Result<(), Error> {
    let _ = unsafe { npy::map::<bool>("mask.npy") }?;
    Ok(())
}
