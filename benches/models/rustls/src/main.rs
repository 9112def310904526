//! Prints the CPU milliseconds of loading the machine's store, and how many certificates rustls takes of it.

use rustix::time::{ClockId, clock_gettime};
use rustls::RootCertStore;

fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 / 1e6
}

fn main() {
    let start = cpu();
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    let (taken, _) = store.add_parsable_certificates(found.certs);
    println!("{:.3} {taken}", cpu() - start);
}
