//! The section `mutation` of the benchmark without its peers, which take long to build:
//! `cargo run --release -p views --example mutation -- [MODEL…] [K/N]` from the root of the project.

#[path = "../../../bench/src/mutation.rs"]
mod mutation;

fn main() {
    mutation::section(&std::env::args().skip(1).collect::<Vec<_>>());
}
