//! Streams that report more than they did, nothing, or interruptions.

use super::sparse;
use lensor::interop::{mtx, npy, tns};
use lensor::{Error, Result, Tensor};
use std::io::{BufWriter, Error as IoError, ErrorKind, Read, Write};

/// What a stream reports of the bytes it handled and the room there was.
type Count = fn(usize, usize) -> std::io::Result<usize>;

/// Writes some tensor in a format.
type Writer<'a, W> = &'a dyn Fn(&mut W) -> Result<()>;

/// A file, delivered and taken as its counts say.
struct Stream {
    bytes: Vec<u8>,
    at: usize,
    count: Count,
    interrupted: bool,
}

impl Stream {
    fn new(bytes: &[u8], count: Count) -> Self {
        Self { bytes: bytes.to_vec(), at: 0, count, interrupted: false }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = (&self.bytes[self.at..]).read(buffer)?;
        self.at += len;
        (self.count)(len, buffer.len())
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        let len = (self.count)(buffer.len(), buffer.len())?;
        self.bytes.extend(buffer.get(..len).unwrap_or_default());
        Ok(len)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads a stream in every format, each its own file.
fn read_all(count: Count) -> Vec<Result<Vec<f64>>> {
    let [npy, mtx, tns] = written();
    vec![
        npy::read::<f64>(Stream::new(&npy, count)).and_then(|t| t.to_vec()),
        npy::read_next::<f64>(Stream::new(&npy, count)).and_then(|t| t.to_vec()),
        mtx::read::<f64>(Stream::new(&mtx, count)).and_then(|t| t.to_vec()),
        tns::read::<f64>(Stream::new(&tns, count)).and_then(|t| t.to_vec()),
        tns::read_shaped::<f64>(Stream::new(&tns, count), [1, 3]).and_then(|t| t.to_vec()),
    ]
}

/// Writes in every format.
fn write_all<W: Write>(mut sink: impl FnMut() -> W) -> Vec<(W, Result<()>)> {
    let (dense, sparse) = (Tensor::full([1, 3], 0.1).unwrap(), sparse(3).unwrap());
    let writers: [Writer<'_, W>; 4] = [
        &|sink| npy::write(sink, &dense),
        &|sink| mtx::write(sink, &sparse),
        &|sink| tns::write(sink, &sparse),
        &|sink| mtx::write_array(sink, &dense),
    ];
    let write = |write: &Writer<'_, W>| {
        let mut sink = sink();
        let written = write(&mut sink);
        (sink, written)
    };
    writers.iter().map(write).collect()
}

fn written() -> [Vec<u8>; 3] {
    let files = write_all(Vec::new).into_iter().map(|(file, _)| file);
    files.take(3).collect::<Vec<_>>().try_into().unwrap()
}

#[track_caller]
fn kind(result: Result<()>) -> ErrorKind {
    match result {
        Err(Error::Io(error)) => error.kind(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sources_that_report_more_than_they_were_given_room_for() {
    for read in read_all(|_, _| Ok(usize::MAX)).into_iter().chain(read_all(|_, room| Ok(room + 1)))
    {
        let error = read.unwrap_err();
        assert!(error.to_string().starts_with("a stream reported "), "{error}");
        assert_eq!(kind(Err(error)), ErrorKind::InvalidData);
    }
    let error = Stream::new(b"1 1 5\n", |_, room| Ok(room + 1));
    assert_eq!(
        tns::read::<f64>(error).unwrap_err().to_string(),
        "a stream reported 8193 bytes of at most 8192"
    );
}

#[test]
fn sources_that_tell_the_truth() {
    for read in read_all(|len, _| Ok(len)) {
        assert_eq!(read.unwrap(), [0.1; 3]);
    }
}

#[test]
fn sinks_that_report_more_than_they_were_given() {
    for count in [|_, _| Ok(usize::MAX), |len, _| Ok(len + 1)] as [Count; 2] {
        for (_, written) in write_all(|| Stream::new(b"", count)) {
            assert_eq!(kind(written), ErrorKind::InvalidData);
        }
    }
}

#[test]
fn sinks_that_take_little_or_nothing() {
    for ((slow, written), (whole, _)) in
        write_all(|| Stream::new(b"", |len, _| Ok(len.min(3)))).into_iter().zip(write_all(Vec::new))
    {
        written.unwrap();
        assert_eq!(slow.bytes, whole);
    }
    for (_, written) in write_all(|| Stream::new(b"", |_, _| Ok(0))) {
        assert_eq!(kind(written), ErrorKind::WriteZero);
    }
}

/// What a sink keeps for later is handed on before a writer returns, so that its error is heard.
#[test]
fn sinks_that_fail_later() {
    let full = || Stream::new(b"", |_, _| Err(IoError::from(ErrorKind::StorageFull)));
    for (_, written) in write_all(|| BufWriter::with_capacity(1 << 20, full())) {
        assert_eq!(kind(written), ErrorKind::StorageFull);
    }
}
