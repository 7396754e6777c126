//! Where archives are written to, until they are given up.

use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// All goes to the sink.
const OPEN: u8 = 0;
/// All goes to the sink, until it fails.
const ENDING: u8 = 1;
/// Nothing goes to the sink any more.
const CLOSED: u8 = 2;

/// What closes a sink, as it does when it is dropped.
#[derive(Debug)]
pub(super) struct Handle(Arc<AtomicU8>);

impl Handle {
    /// From now on the sink is closed by an error.
    pub(super) fn end(&self) {
        self.0.store(ENDING, Ordering::Relaxed);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.store(CLOSED, Ordering::Relaxed);
    }
}

/// A sink that can be closed: then it takes all there is, and keeps nothing.
///
/// A writer of archives that is dropped writes a directory, and prints what hinders it. Of an archive that was given up that
/// would make one which lacks arrays and looks whole.
pub(super) struct Sink<W> {
    pub(super) inner: W,
    state: Arc<AtomicU8>,
    /// Where it stands.
    at: u64,
    /// Where what was seen of it ends.
    end: u64,
    /// Whether it stands there because it was closed.
    passed: bool,
}

impl<W> Sink<W> {
    pub(super) fn new(inner: W) -> (Self, Handle) {
        let state = Arc::new(AtomicU8::new(OPEN));
        (Self { inner, state: state.clone(), at: 0, end: 0, passed: false }, Handle(state))
    }

    fn is_closed(&mut self) -> bool {
        let closed = self.state.load(Ordering::Relaxed) == CLOSED;
        if closed && !self.passed {
            // Whoever writes on does so after all that was written: a part of an entry must not end before it begins.
            (self.at, self.passed) = (self.end, true);
        }
        closed
    }

    /// Asks the sink, which at its end is closed by whatever is no answer, a panic too.
    fn ask<R>(&mut self, ask: impl FnOnce(&mut W) -> io::Result<R>) -> io::Result<R> {
        if self.state.load(Ordering::Relaxed) == OPEN {
            return ask(&mut self.inner);
        }
        self.state.store(CLOSED, Ordering::Relaxed);
        let answer = ask(&mut self.inner);
        if !answer.as_ref().is_err_and(|error| error.kind() != ErrorKind::Interrupted) {
            self.state.store(ENDING, Ordering::Relaxed);
        }
        answer
    }

    fn stands(&mut self, at: u64) {
        self.at = at;
        self.end = self.end.max(at);
    }
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match self.is_closed() {
            true => bytes.len(),
            false => self.ask(|inner| inner.write(bytes))?,
        };
        self.stands(self.at.saturating_add(count as u64));
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_closed() { Ok(()) } else { self.ask(W::flush) }
    }
}

impl<W: Seek> Seek for Sink<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match (self.is_closed(), to) {
            (false, _) => self.ask(|inner| inner.seek(to))?,
            (true, SeekFrom::Start(at)) => at,
            (true, SeekFrom::Current(by)) => self.at.saturating_add_signed(by),
            (true, SeekFrom::End(by)) => self.end.saturating_add_signed(by),
        };
        self.stands(at);
        Ok(at)
    }
}
