//! The program: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    castore::cli::main()
}
