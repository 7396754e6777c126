//! Tensors under any chain of views, against the model, which copies.

mod arguments;
mod display;
mod parts;
mod reads;
mod stored;
