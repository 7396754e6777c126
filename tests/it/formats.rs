//! Libraries and formats of others by themselves, whose dependencies take long to build: a module of `main.rs`, all of
//! which would take several minutes more.
#![allow(dead_code, reason = "what modules share is used by the others too")]

mod model;
mod support;
mod views;

mod interop;
