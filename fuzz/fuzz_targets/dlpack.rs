//! Any descriptor over real memory: the elements that it shows, by their definition, or an error.
#![no_main]

use lensor::interop::dlpack::dlpark::ffi::{DLDataType, DLDevice, DLManagedTensorVersioned};
use lensor::interop::dlpack::dlpark::metadata::Dynamic;
use lensor::interop::dlpack::{Dlpack, import, to_tensor};
use libfuzzer_sys::fuzz_target;

const LEN: usize = 64;

#[derive(Debug)]
struct Described {
    axes: Vec<(i64, i64)>,
    byte_offset: u64,
    kind: u8,
    null: bool,
}

impl Described {
    /// Of bytes: mostly what may be right.
    fn of(bytes: &[u8]) -> Option<Self> {
        let ([kind, flags], rest) = bytes.split_first_chunk()?;
        let (offset, rest) = rest.split_first_chunk()?;
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, i64::from_le_bytes);
        let axes =
            rest.chunks_exact(16).take(6).map(|axis| (number(&axis[..8]), number(&axis[8..])));
        let small = flags % 4 > 0;
        let tamed = |(extent, stride): (i64, i64)| match small {
            true => (extent.rem_euclid(5), stride % 17),
            false => (extent, stride),
        };
        let byte_offset = u64::from_le_bytes(*offset);
        let byte_offset = if small { byte_offset % LEN as u64 * 4 } else { byte_offset };
        Some(Self {
            axes: axes.map(tamed).collect(),
            byte_offset,
            kind: *kind,
            null: flags % 32 == 31,
        })
    }

    /// The numbers of all elements in order, if they lie in the buffer and are not too many; `None` if they do not.
    fn places(&self) -> Option<Vec<i128>> {
        let mut places = vec![i128::from(self.byte_offset) / 4];
        for &(extent, stride) in &self.axes {
            let extent = usize::try_from(extent).ok()?;
            if places.len().checked_mul(extent)? > 1 << 16 {
                return None;
            }
            let steps =
                |first: i128| (0..extent).map(move |k| first + k as i128 * i128::from(stride));
            places = places.into_iter().flat_map(steps).collect();
        }
        places.iter().all(|place| (0..LEN as i128).contains(place)).then_some(places)
    }

    fn managed(&self) -> Dlpack {
        let data: Vec<u32> = (0..LEN as u32).collect();
        let (shape, strides): (Vec<i64>, Vec<i64>) = self.axes.iter().copied().unzip();
        let pointer =
            if self.null { std::ptr::null_mut() } else { data.as_ptr().cast_mut().cast() };
        let prepared =
            Dynamic::new(&shape[..], &strides[..]).prepare_as::<DLManagedTensorVersioned>();
        let mut made = prepared.expect("few axes").initialize(Box::new(data));
        let types = [DLDataType::U32, DLDataType::U32, DLDataType::BOOL, DLDataType::F32];
        made.set_data(pointer).set_device(DLDevice::CPU);
        made.set_dtype(types[usize::from(self.kind % 4)]).set_byte_offset(self.byte_offset);
        // SAFETY: the buffer lives as long as the descriptor; whether the rest is true is asked before it is read.
        unsafe { made.finish() }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some(described) = Described::of(bytes) else { return };
    let Some(places) = described.places() else {
        // What would reach beyond all memory is refused before it is looked at.
        let reaches = described
            .axes
            .iter()
            .map(|(extent, stride)| (i128::from(*extent) - 1).max(0) * i128::from(*stride).abs());
        let reach = reaches.fold(0_i128, i128::saturating_add);
        let empty = described.axes.iter().any(|(extent, _)| *extent == 0);
        if reach > i128::from(i64::MAX) && !empty {
            // SAFETY: it is refused.
            assert!(unsafe { import::<u32, _>(described.managed()) }.is_err());
        }
        return;
    };
    let right = described.kind % 4 < 2
        && (places.is_empty() || !described.null && described.byte_offset % 4 == 0);
    // SAFETY: all places lie in the buffer.
    let read = unsafe { import::<u32, _>(described.managed()) };
    // SAFETY: all places lie in the buffer.
    let copied = unsafe { to_tensor::<u32, _>(described.managed()) };
    assert_eq!(read.is_ok(), copied.is_ok(), "{described:?}");
    // Shapes without elements may be too large for a tensor all the same.
    assert!(read.is_ok() == right || places.is_empty(), "{described:?}");
    if let (Ok(read), Ok(copied)) = (read, copied) {
        let expected: Vec<u32> = places.iter().map(|place| *place as u32).collect();
        assert_eq!(read.to_vec().expect("it is memory"), expected);
        assert_eq!(copied.to_vec().expect("it is memory"), expected);
    }
});
