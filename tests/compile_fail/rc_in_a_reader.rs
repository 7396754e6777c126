//! Storage that threads cannot share. Hold an `Arc` instead of the `Rc`.

use lensor::Reader;
use std::rc::Rc;

struct Shared(Rc<Vec<f64>>);

impl Reader for Shared {
    type Elem = f64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, address: usize) -> f64 {
        self.0[address]
    }
}

fn main() {}
