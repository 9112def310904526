//! What TLS libraries load of a file: one module a library, each a model of that library's own reading, held to it by
//! the tests (`tests/oracle_*.rs`).
//!
//! A reader takes the bytes of a file and says which certificates the library gets, what it passes over without a
//! word, and what makes it refuse the file. None of them decides what castore does.

pub mod openssl;
pub mod reading;

pub mod go;
