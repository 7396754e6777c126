//! Laws of a reader: every method describes the elements that `try_read` gives.

use super::sample::{self, Run};
use super::{Report, Violation};
use crate::error::StorageError;
use crate::storage::Reader;

pub(super) fn check<R: Reader + ?Sized>(
    storage: &R,
    same: &dyn Fn(&R::Elem, &R::Elem) -> bool,
    report: &mut Report,
) {
    let Some(len) = report.guard("len", 0, || storage.len()) else {
        return;
    };
    if report.guard("is_empty", 0, || storage.is_empty()) != Some(len == 0) {
        report.add(Violation::IsEmpty { len });
    }
    let mut laws = Laws { storage, same, report, len, distinct: Vec::new() };
    laws.single();
    laws.slice();
    laws.runs();
    laws.gathers();
    let after = laws.report.guard("len", 0, || storage.len());
    if let Some(after) = after.filter(|&after| after != len) {
        report.add(Violation::Len { before: len, after });
    }
}

/// One element as `try_read` gives it, `Some(None)` where that fails; `None` if it panics.
pub(super) fn truth<R: Reader + ?Sized>(
    storage: &R,
    address: usize,
    report: &mut Report,
) -> Option<Option<R::Elem>> {
    match report.guard("try_read", address, || storage.try_read(address))? {
        Ok(element) => Some(Some(element)),
        Err(error) if error.address == address => Some(None),
        Err(StorageError { address: named, .. }) => {
            report.add(Violation::ErrorAddress { method: "try_read", address, named });
            Some(None)
        }
    }
}

/// Whether two answers agree: the same element, or an error both times.
pub(super) fn agree<T>(same: &dyn Fn(&T, &T) -> bool, a: Option<T>, b: Option<T>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(&a, &b),
        (a, b) => a.is_none() == b.is_none(),
    }
}

struct Laws<'a, R: Reader + ?Sized> {
    storage: &'a R,
    same: &'a dyn Fn(&R::Elem, &R::Elem) -> bool,
    report: &'a mut Report,
    len: usize,
    /// Two different elements of the storage, or one, to fill buffers with.
    distinct: Vec<R::Elem>,
}

/// Every law returns `None` where something panics.
impl<R: Reader + ?Sized> Laws<'_, R> {
    fn truth(&mut self, address: usize) -> Option<Option<R::Elem>> {
        truth(self.storage, address, self.report)
    }

    fn single(&mut self) -> Option<()> {
        for address in sample::addresses(self.len) {
            let (element, again) = (self.truth(address)?, self.truth(address)?);
            if !agree(self.same, element, again) {
                self.report.add(Violation::Unstable { address });
                continue;
            }
            let Some(element) = element else {
                continue; // `read` may panic.
            };
            if self.distinct.iter().all(|known| !(self.same)(known, &element)) {
                self.distinct.truncate(1);
                self.distinct.push(element);
            }
            let read = self.report.guard("read", address, || self.storage.read(address))?;
            if !(self.same)(&read, &element) {
                self.report.add(Violation::Read { address });
            }
        }
        Some(())
    }

    fn slice(&mut self) -> Option<()> {
        let slice = self.report.guard("as_slice", 0, || self.storage.as_slice())??;
        let (method, len) = ("as_slice", self.len);
        if slice.len() != len {
            self.report.add(Violation::SliceLen { method, len, found: slice.len() });
        }
        for address in sample::addresses(len.min(slice.len())) {
            let element = self.truth(address)?;
            if !agree(self.same, element, Some(slice[address])) {
                self.report.add(Violation::Slice { method, address });
            }
        }
        Some(())
    }

    fn runs(&mut self) -> Option<()> {
        for run in sample::runs(self.len) {
            let Run { start, step, count } = run;
            let addresses: Vec<usize> = run.addresses().collect();
            let wrong = self.block("read_run", start, &addresses, |storage, out| {
                storage.read_run(start, step, out)
            })?;
            if let Some(position) = wrong {
                self.report.add(Violation::Run { start, step, count, position });
            }
        }
        Some(())
    }

    fn gathers(&mut self) -> Option<()> {
        for addresses in sample::lists(self.len) {
            let start = addresses.first().copied().unwrap_or(0);
            let wrong = self.block("read_at", start, &addresses, |storage, out| {
                storage.read_at(&addresses, out)
            })?;
            if let Some(position) = wrong {
                let (count, address) = (addresses.len(), addresses[position]);
                self.report.add(Violation::Gather { count, position, address });
            }
        }
        Some(())
    }

    /// Reads a block and compares it with single elements: the first position that is wrong, if one is.
    fn block(
        &mut self,
        method: &'static str,
        address: usize,
        addresses: &[usize],
        read: impl FnOnce(&R, &mut [R::Elem]) -> Result<(), StorageError>,
    ) -> Option<Option<usize>> {
        let expected = addresses.iter().map(|&a| self.truth(a)).collect::<Option<Vec<_>>>()?;
        // Slots start as an element that is wrong there, so that one left alone is seen.
        let other = |e: &Option<R::Elem>| {
            let differs = |known: &&R::Elem| e.is_none_or(|e| !(self.same)(known, &e));
            self.distinct.iter().find(differs).or(self.distinct.first()).copied()
        };
        let mut out: Vec<R::Elem> = expected.iter().map_while(other).collect();
        if out.len() < addresses.len() {
            return Some(None); // Nothing in this storage can be read.
        }
        let outcome = self.report.guard(method, address, || read(self.storage, &mut out))?;
        let readable = expected.iter().all(Option::is_some);
        match outcome {
            Ok(()) if !readable => self.report.add(Violation::Succeeds { method, address }),
            Ok(()) => {}
            Err(_) if readable => self.report.add(Violation::Fails { method, address }),
            Err(error) if addresses.contains(&error.address) => {}
            Err(StorageError { address: named, .. }) => {
                self.report.add(Violation::ErrorAddress { method, address, named });
            }
        }
        let mut pairs = expected.iter().zip(&out);
        Some(pairs.position(|(&a, &b)| readable && !agree(self.same, a, Some(b))))
    }
}
