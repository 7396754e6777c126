//! DLPack: memory that is shared, and descriptors that lie.
#![allow(unsafe_code, reason = "imports descriptors of tensors and buffers of the tests")]

use lensor::arbitrary::Viewed;
use lensor::dtype::MapElement;
use lensor::interop::dlpack::dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned,
    DLTensor,
};
use lensor::interop::dlpack::dlpark::metadata::Dynamic;
use lensor::interop::dlpack::dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use lensor::interop::dlpack::{Dlpack, export, export_owned, import, import_mut, to_tensor};
use lensor::prelude::*;
use quickcheck::quickcheck;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A descriptor of a buffer that it owns.
fn described<M: ManagedTensorBase, T: Send + 'static>(
    buffer: Vec<T>,
    dtype: DLDataType,
    shape: &[i64],
    strides: &[i64],
    change: impl FnOnce(&mut DLTensor),
) -> Managed<M> {
    let data = buffer.as_ptr().cast_mut().cast();
    let mut made =
        Dynamic::new(shape, strides).prepare_as::<M>().unwrap().initialize(Box::new(buffer));
    made.set_data(data).set_dtype(dtype).set_device(DLDevice::CPU);
    change(made.tensor_mut());
    // SAFETY: the buffer lives as long as the descriptor; what the descriptor says of it is what is tested.
    unsafe { made.finish() }
}

const I32: DLDataType = DLDataType::I32;

fn versioned(shape: &[i64], strides: &[i64], offset: u64) -> Dlpack {
    described(vec![10_i32, 11, 12, 13, 14, 15], I32, shape, strides, |t| t.byte_offset = offset)
}

quickcheck! {
    /// What is strided comes back as it went, at the same address; what is not is refused.
    fn chains_are_exported_and_imported(viewed: Viewed<i64>) -> bool {
        let (shape, data) = viewed.model();
        let t = viewed.tensor();
        let strided = t.address_map().check_strided().is_ok();
        let first = t.address_map().as_strided().map(|strided| strided.offset);
        let storage = Arc::new(t.storage().to_vec());
        let shared = Tensor::with_map(t.address_map().clone(), storage.clone()).unwrap();
        let Ok(exported) = export(shared) else { return !strided };
        assert_eq!(exported.validate_export().unwrap().num_elements(), data.len());
        if !data.is_empty() {
            let address = exported.validate().unwrap().data_ptr().addr();
            assert_eq!(address, storage.as_ptr().wrapping_add(first.unwrap()).addr());
        }
        // SAFETY: `storage` is not written.
        let back = unsafe { import::<i64, _>(exported) }.unwrap();
        assert_eq!((back.shape(), back.to_vec().unwrap()), (shape, data));
        assert_eq!(Arc::strong_count(&storage), 2);
        drop(back);
        Arc::strong_count(&storage) == 1
    }
}

/// Memory of a vector is shared and written, by whoever has it.
#[test]
fn owned_memory_is_written() {
    let t = Tensor::from_vec([2, 3], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let address = t.storage().as_ptr();
    let exported = export_owned(t.flip(1).unwrap()).unwrap();
    assert!(!exported.flags().contains(DlpackFlags::READ_ONLY));
    // SAFETY: nobody else has the memory.
    let mut t = unsafe { import_mut::<f32, _>(exported) }.unwrap();
    t.view_mut().select((0,)).unwrap().fill(9.0).unwrap();
    assert_eq!(t.to_vec().unwrap(), [9.0, 9.0, 9.0, 6.0, 5.0, 4.0]);
    assert_eq!(t.storage().as_slice().unwrap().as_ptr(), address);
    // Indexes that share an element cannot be written.
    let repeated = Tensor::from(vec![1_u8, 2]).broadcast([3, 2]).unwrap();
    let exported = export_owned(repeated).unwrap();
    assert!(exported.flags().contains(DlpackFlags::READ_ONLY));
    // SAFETY: nobody else has the memory.
    let error = unsafe { import_mut::<u8, _>(exported) }.unwrap_err();
    assert_eq!(error.to_string(), "this DLPack tensor: it is marked as read-only");
    let window = Tensor::from(vec![1, 2, 3, 4]).slice(0, 1..3).unwrap();
    let exported = export_owned(window).unwrap();
    // SAFETY: nobody else has the memory.
    let window = unsafe { import::<i32, _>(exported) }.unwrap();
    assert_eq!(window.storage().as_slice().unwrap(), [2, 3]);
}

/// Storage that lies in the tensor itself does not move.
#[test]
fn storage_without_an_address_of_its_own() {
    let t = Tensor::new([3], [1_u16, 2, 3]).unwrap();
    let exported = export(t).unwrap();
    let moved = Box::new(exported);
    // SAFETY: nobody writes it.
    assert_eq!(unsafe { import::<u16, _>(*moved) }.unwrap().to_vec().unwrap(), [1, 2, 3]);
    let made = Tensor::<lensor::storage::Progression<u32>>::iota([4]).unwrap();
    let error = export(made).err().unwrap();
    assert!(matches!(error, Error::NotStrided { axis: None, .. }), "{error}");
    let listed = Tensor::from(vec![1, 2, 3]).select((Select::from(&[0, 2, 1][..]),)).unwrap();
    assert!(matches!(export(listed), Err(Error::NotStrided { axis: Some(0), .. })));
}

/// Strides of all signs and byte offsets, in both versions of the interface, with and without strides.
#[test]
fn descriptors_are_read() {
    let read = |shape: &[i64], strides: &[i64], offset| {
        // SAFETY: the descriptors of this test stay inside of their buffers.
        let t = unsafe { import::<i32, _>(versioned(shape, strides, offset)) }.unwrap();
        t.to_vec().unwrap()
    };
    assert_eq!(read(&[2, 3], &[3, 1], 0), [10, 11, 12, 13, 14, 15]);
    assert_eq!(read(&[3, 2], &[1, 3], 0), [10, 13, 11, 14, 12, 15]);
    assert_eq!(read(&[2, 2], &[-3, 1], 16), [14, 15, 11, 12]);
    assert_eq!(read(&[6], &[-1], 20), [15, 14, 13, 12, 11, 10]);
    assert_eq!(read(&[2, 2], &[0, 5], 0), [10, 15, 10, 15]);
    assert_eq!(read(&[], &[], 8), [12]);
    assert_eq!(read(&[0, 7], &[99, -99], 0), [0; 0]);
    assert_eq!(read(&[1], &[i64::MAX], 4), [11]);
    // Some count several processors.
    let second: Dlpack = described(vec![7_i32], I32, &[1], &[1], |t| t.device.device_id = 1);
    // SAFETY: the buffer has one element.
    assert_eq!(unsafe { import::<i32, _>(second) }.unwrap().to_vec().unwrap(), [7]);
    let legacy: Managed<DLManagedTensor> =
        described(vec![1_i32, 2, 3, 4], I32, &[2, 2], &[1, 2], |t| {
            t.strides = std::ptr::null_mut();
        });
    // SAFETY: without strides elements follow one another, and there are four.
    let t = unsafe { import_mut::<i32, _>(legacy) }.unwrap();
    assert_eq!(t.to_vec().unwrap(), [1, 2, 3, 4]);
    // No strides of the new interface.
    let none: Dlpack =
        described(vec![1_i32], I32, &[1], &[1], |t| t.strides = std::ptr::null_mut());
    // SAFETY: it is refused.
    assert!(matches!(unsafe { import::<i32, _>(none) }, Err(Error::Malformed { .. })));
}

/// The error of a descriptor that is refused, whose owner is told.
fn refused<T: MapElement + std::fmt::Debug>(
    dtype: DLDataType,
    shape: &[i64],
    strides: &[i64],
    change: impl FnOnce(&mut DLTensor),
) -> Error {
    struct Owner(Arc<AtomicUsize>);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let told = Arc::new(AtomicUsize::new(0));
    let buffer = vec![Owner(told.clone())];
    let managed: Managed<DLManagedTensorVersioned> =
        described(buffer, dtype, shape, strides, change);
    // SAFETY: it is refused before memory is read.
    let error = unsafe { import::<T, _>(managed) }.unwrap_err();
    assert_eq!(told.load(Ordering::Relaxed), 1, "{error}");
    error
}

#[test]
fn lies_are_refused() {
    let text = |error: Error| error.to_string();
    let malformed = |what: &str| format!("this DLPack tensor: {what}");
    assert_eq!(
        refused::<f32>(I32, &[1], &[1], |_| {}),
        Error::ElementType { expected: "f32", found: "i32".into() }
    );
    let lanes = DLDataType::new(DLDataTypeCode::INT, 32, 4);
    assert_eq!(
        refused::<i32>(lanes, &[1], &[1], |_| {}),
        Error::ElementType { expected: "i32", found: "code 0 of 32 bits in 4 lanes".into() }
    );
    let none = DLDataType::new(DLDataTypeCode::INT, 0, 1);
    assert!(matches!(refused::<i32>(none, &[1], &[1], |_| {}), Error::Malformed { .. }));
    let cuda = |t: &mut DLTensor| {
        t.device = DLDevice { device_type: DLDeviceType::CUDA, device_id: 0 };
    };
    assert_eq!(
        text(refused::<i32>(I32, &[1], &[1], cuda)),
        malformed("it lies on a device of type 2")
    );
    let null = |t: &mut DLTensor| {
        t.data = std::ptr::null_mut();
    };
    assert_eq!(text(refused::<i32>(I32, &[1], &[1], null)), malformed("its address is null"));
    let odd = |t: &mut DLTensor| t.byte_offset = 3;
    assert_eq!(refused::<i32>(I32, &[1], &[1], odd), Error::Misaligned { align: 4, offset: 3 });
    let far = |t: &mut DLTensor| t.byte_offset = u64::MAX - 3;
    let overflows = malformed("its addresses overflow");
    assert_eq!(text(refused::<i32>(I32, &[1], &[1], far)), overflows);
    for (shape, strides) in [
        (&[2, 2][..], &[i64::MAX, i64::MAX][..]),
        (&[3], &[i64::MIN]),
        (&[3], &[i64::MAX / 4]),
        (&[1 << 40], &[1 << 30]),
        (&[2], &[-(1 << 61)]),
    ] {
        assert_eq!(text(refused::<i32>(I32, shape, strides, |_| {})), overflows, "{shape:?}");
    }
    for (shape, strides) in [(&[-1][..], &[1][..]), (&[1 << 40, 1 << 40], &[0, 0])] {
        let error = refused::<i32>(I32, shape, strides, |_| {});
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
    }
    let error = refused::<i32>(I32, &[1; 70], &[1; 70], |_| {});
    assert!(matches!(error, Error::RankLimit { .. }), "{error}");
}

/// Every type is named alike on both sides; answers are checked.
#[test]
fn types_are_described() {
    macro_rules! types {
        ($($type:ty),*) => { $(
            let t = Tensor::full([3], <$type>::default()).unwrap();
            // SAFETY: nobody writes it.
            let back = unsafe { import::<$type, _>(export(t.clone()).unwrap()) }.unwrap();
            assert_eq!(back.eval().unwrap(), t);
            // SAFETY: nobody writes it.
            assert_eq!(unsafe { to_tensor::<$type, _>(export(t.clone()).unwrap()) }.unwrap(), t);
        )* };
    }
    types!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
    #[cfg(feature = "half")]
    types!(half::f16, half::bf16);
    #[cfg(feature = "complex")]
    types!(num_complex::Complex<f32>, num_complex::Complex<f64>);
    let answers = |bytes: Vec<u8>| {
        let strides = [-1];
        let last = bytes.len() as u64 - 1;
        let managed: Dlpack =
            described(bytes, DLDataType::BOOL, &[3], &strides, |t| t.byte_offset = last);
        // SAFETY: the buffer has three bytes.
        unsafe { to_tensor::<bool, _>(managed) }
    };
    assert_eq!(answers(vec![1, 1, 0]).unwrap().to_vec().unwrap(), [false, true, true]);
    assert_eq!(answers(vec![2, 1, 0]).unwrap_err(), Error::InvalidValue { index: 2, byte: 2 });
}
