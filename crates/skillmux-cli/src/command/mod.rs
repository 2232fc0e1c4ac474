//! One module a command.

pub(crate) mod audit;
pub(crate) mod compile;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod hook;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod page;
pub(crate) mod route;
pub(crate) mod search;
pub(crate) mod shell;
pub(crate) mod stats;
pub(crate) mod synth;
pub(crate) mod train;
pub(crate) mod uninit;
