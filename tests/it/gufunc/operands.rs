//! Operands of one shape under random views of storages of every kind, and destinations.

use crate::model::{Model, all_indexes};
use crate::support::Random;
use crate::views::{Plain, under};
use lensor::arbitrary::Chain;
use lensor::gufunc::Gufunc;
use lensor::prelude::*;
use lensor::storage::{BlockMemory, BoxReader, Chunked, Sparse};
use lensor::{Reader, Result, Shape, StorageError, Writer};
use quickcheck::Gen;

/// Memory in which some elements cannot be read.
#[derive(Debug, Clone)]
pub(super) struct Faulty {
    data: Vec<i64>,
    bad: Vec<usize>,
}

impl Reader for Faulty {
    type Elem = i64;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn read(&self, address: usize) -> i64 {
        self.try_read(address).unwrap()
    }

    fn try_read(&self, address: usize) -> Result<i64, StorageError> {
        match self.bad.contains(&address) {
            true => Err(StorageError::new(address, "offline")),
            false => Ok(self.data[address]),
        }
    }
}

/// An operand of some storage: what it is, and what it should be.
#[derive(Debug)]
pub(super) struct Source {
    tensor: Tensor<BoxReader<'static, i64>>,
    divisors: Tensor<Vec<i64>>,
    how: usize,
    pub(super) model: Model<i64>,
    /// What reading it reports, if it is read at all.
    pub(super) fault: Option<Error>,
}

fn chain_to(shape: &[usize], random: &mut Random) -> Chain {
    let seed = random.below(usize::MAX >> 33) as u64;
    match random.below(3) {
        0 => Chain::new(Shape::from(shape.to_vec()), []).unwrap(),
        _ => Chain::arbitrary_to(
            &mut Gen::from_size_and_seed(20, seed),
            &Shape::from(shape.to_vec()),
        ),
    }
}

/// Blocks of random extents that hold elements in row-major order.
fn blocks(extents: &[usize], data: &[i64], random: &mut Random) -> Chunked<BlockMemory<i64>> {
    let block: Vec<usize> = extents.iter().map(|n| 1 + random.below(*n)).collect();
    let storage = BlockMemory::new(extents, &block[..], 7).unwrap();
    let mut chunked = Chunked::new(storage).unwrap().with_blocks(1 + random.below(3));
    data.iter().enumerate().for_each(|(address, &x)| chunked.write(address, x));
    chunked
}

impl Source {
    /// Random elements of a shape. Some fault, if that is asked for.
    pub(super) fn random(shape: &[usize], faulty: bool, random: &mut Random) -> Self {
        let chain = chain_to(shape, random);
        let count = chain.shape().count().unwrap();
        let mut data: Vec<i64> = (0..count)
            .map(|_| [0, 1, -1, random.below(1000) as i64 - 500][random.below(4)])
            .collect();
        let mut bad: Vec<usize> = Vec::new();
        let storage = match random.below(6) {
            _ if faulty => {
                bad.extend((0..1 + random.below(3)).map(|_| random.below(count)));
                BoxReader::new(Faulty { data: data.clone(), bad: bad.clone() })
            }
            0 => BoxReader::new(Plain(data.clone())),
            1 if count > 0 && chain.shape().rank() > 0 => {
                BoxReader::new(blocks(chain.shape(), &data, random))
            }
            2 => {
                data.iter_mut().for_each(|x| *x = if *x % 3 == 0 { *x } else { 5 });
                BoxReader::new(Sparse::from_dense(&data, 5).unwrap())
            }
            _ => BoxReader::new(data.clone()),
        };
        let tensor = Tensor::with_map(chain.map(), storage).unwrap();
        let mut model = under(&chain, &data);
        let addresses = under(&chain, &(0..count).collect::<Vec<usize>>());
        let first = |is_bad: &dyn Fn(usize) -> bool| {
            let position = addresses.data.iter().position(|address| is_bad(*address));
            position.map(|k| all_indexes(shape)[k].clone())
        };
        let mut fault = first(&|address| bad.contains(&address)).map(|index| {
            let address = *addresses.get(&index);
            Error::Storage { index: Some(index), source: StorageError::new(address, "offline") }
        });
        let how = if faulty { [0, 2][random.below(2)] } else { random.below(8) };
        let mut divisors = vec![1; model.data.len()];
        if faulty && fault.is_none() && !divisors.is_empty() {
            // What is bad is not looked at: a division by zero then.
            let at = random.below(divisors.len());
            divisors[at] = 0;
            fault = Some(Error::Arithmetic { index: all_indexes(shape)[at].clone() });
        }
        let how = if divisors.contains(&0) { 5 } else { how };
        if how == 2 {
            model.data.iter_mut().for_each(|x| *x *= 3);
        }
        let divisors = Tensor::from_vec(shape.to_vec(), divisors).unwrap();
        Self { tensor, divisors, how, model, fault }
    }

    /// The operand.
    pub(super) fn expr(&self) -> BoxExpr<'_, i64> {
        match self.how {
            2 => (&self.tensor * 3).boxed(),
            4 => Gufunc::<[i64; 1], [i64; 1], _>::each("()->()", |[x], [mut out]| out[0] = x[0])
                .unwrap()
                .call([&self.tensor])
                .lazy()
                .boxed(),
            5 => (&self.tensor / &self.divisors).boxed(),
            6 => self.tensor.view().insert_axis(0).unwrap().lazy().sum(0).boxed(),
            _ => self.tensor.boxed(),
        }
    }
}

/// A mask of a shape: its elements, under views.
pub(super) fn mask(shape: &[usize], random: &mut Random) -> (Tensor<Vec<bool>>, Model<bool>) {
    let chain = chain_to(shape, random);
    let count = chain.shape().count().unwrap();
    let rarely = 1 + random.below(4);
    let data: Vec<bool> = (0..count).map(|_| random.below(rarely + 1) > 0).collect();
    let model = under(&chain, &data);
    (Tensor::with_map(chain.map(), data).unwrap(), model)
}

/// A destination: extents in memory, selectors, and the order of axes.
#[derive(Debug, Clone)]
pub(super) struct Hole {
    pub(super) base: Vec<usize>,
    selectors: Vec<Select>,
    order: Vec<usize>,
}

impl Hole {
    /// Somewhere in memory for a result of a shape.
    pub(super) fn random(shape: &[usize], random: &mut Random) -> Self {
        let rank = shape.len();
        let mut order: Vec<usize> = (0..rank).collect();
        let (mut base, mut selectors) = (vec![0; rank], vec![Select::All; rank]);
        if random.below(3) > 0 {
            random.shuffle(&mut order);
        }
        let plain = random.below(3) == 0;
        for (k, &axis) in order.iter().enumerate() {
            let n = shape[k];
            (base[axis], selectors[axis]) = match random.below(if plain { 1 } else { 5 }) {
                1 => (2 * n + 1, Select::List((0..n).map(|k| 2 * k + 1).collect())),
                2 => (n, Select::Reverse),
                3 => (n + 2, Select::range(1..1 + n as isize)),
                4 if n > 0 => {
                    let stop = Some(2 * n as isize);
                    (2 * n, Select::Range { start: 0, stop, step: 2 })
                }
                _ => (n, Select::All),
            };
        }
        Self { base, selectors, order }
    }

    pub(super) fn view<W: Writer>(&self, t: Tensor<W>) -> Tensor<W> {
        t.select(self.selectors.clone()).unwrap().transpose(&self.order).unwrap()
    }

    /// The address of each element.
    pub(super) fn addresses(&self) -> Model<usize> {
        let all = Model::addresses(&self.base).select(&self.selectors);
        all.and_then(|all| all.transpose(&self.order)).unwrap()
    }
}
