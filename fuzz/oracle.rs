//! The machine's libcrypto, loaded at run time: what it makes of the same bytes.
//!
//! Functions and structures are those of OpenSSL 3.0 (openssl/x509.h, openssl/pem.h, openssl/pkcs7.h).

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uchar, c_ulong, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use castore::readers::openssl::Version;
use libloading::Library;

type D2i = unsafe extern "C" fn(*mut *mut c_void, *mut *const c_uchar, c_long) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);

/// libcrypto's functions.
pub struct Crypto {
    library: Library,
}

/// Loads libcrypto once.
pub fn crypto() -> &'static Crypto {
    static CRYPTO: OnceLock<Crypto> = OnceLock::new();
    CRYPTO.get_or_init(|| {
        // SAFETY: OpenSSL's library runs no code when it is loaded but its own.
        let library = unsafe { Library::new("libcrypto.so.3") }.expect("libcrypto.so.3 is installed");
        Crypto { library }
    })
}

/// Nobody is asked for the password of a private key.
unsafe extern "C" fn no_password(_: *mut c_char, _: c_int, _: c_int, _: *mut c_void) -> c_int {
    -1
}

impl Crypto {
    fn get<T: Copy>(&self, name: &CStr) -> T {
        // SAFETY: each caller names the type that OpenSSL's headers give the function.
        *unsafe { self.library.get::<T>(name) }.unwrap_or_else(|_| panic!("libcrypto has {name:?}"))
    }

    /// Which OpenSSL's behaviour is to be expected.
    pub fn version(&self) -> Version {
        let number: unsafe extern "C" fn() -> c_ulong = self.get(c"OpenSSL_version_num");
        // SAFETY: it takes nothing.
        match unsafe { number() } >> 20 {
            0x300..0x305 => Version::V3_0,
            0x305..0x400 => Version::V3_5,
            _ => Version::V4_0,
        }
    }

    /// Decodes with `d2i`, gives the result to `with`, and frees it. `None` where it is refused.
    fn decode<T>(
        &self,
        d2i: &CStr,
        free: &CStr,
        der: &[u8],
        with: impl FnOnce(*mut c_void) -> T,
    ) -> Option<(T, usize)> {
        let (d2i, free): (D2i, Free) = (self.get(d2i), self.get(free));
        let clear: unsafe extern "C" fn() = self.get(c"ERR_clear_error");
        let mut at = der.as_ptr();
        // SAFETY: `at` and the length are those of a slice that outlives the call.
        let decoded = unsafe { d2i(null_mut(), &mut at, der.len() as c_long) };
        // SAFETY: it takes nothing.
        unsafe { clear() };
        if decoded.is_null() {
            return None;
        }
        let used = at as usize - der.as_ptr() as usize;
        let result = with(decoded);
        // SAFETY: `decoded` was given by d2i, and is freed once.
        unsafe { free(decoded) };
        Some((result, used))
    }

    /// Whether `d2i_X509` takes a certificate: how many bytes of it, and the hash of its subject.
    pub fn certificate(&self, der: &[u8]) -> Option<(u32, usize)> {
        let subject: unsafe extern "C" fn(*mut c_void) -> *mut c_void = self.get(c"X509_get_subject_name");
        // SAFETY: the certificate is whole while `with` runs.
        self.decode(c"d2i_X509", c"X509_free", der, |x509| self.hash(unsafe { subject(x509) }))
    }

    /// `X509_NAME_hash_ex` of a name, where `d2i_X509_NAME` takes it.
    pub fn name(&self, der: &[u8]) -> Option<(u32, usize)> {
        self.decode(c"d2i_X509_NAME", c"X509_NAME_free", der, |name| self.hash(name))
    }

    fn hash(&self, name: *mut c_void) -> u32 {
        type Hash = unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_char, *mut c_int) -> c_ulong;
        let hash: Hash = self.get(c"X509_NAME_hash_ex");
        // SAFETY: the name is whole; no context, no properties, no place for a status.
        (unsafe { hash(name, null_mut(), null(), null_mut()) }) as u32
    }

    /// How many certificates are in a PKCS#7 message that is signed data, in DER; `None` where it is not.
    pub fn pkcs7(&self, der: &[u8]) -> Option<usize> {
        const SIGNED: c_int = 22;
        let nid: unsafe extern "C" fn(*const c_void) -> c_int = self.get(c"OBJ_obj2nid");
        let count: unsafe extern "C" fn(*const c_void) -> c_int = self.get(c"OPENSSL_sk_num");
        let encode: unsafe extern "C" fn(*mut c_void, *mut *mut c_uchar) -> c_int = self.get(c"i2d_PKCS7");
        let read = |message: *mut c_void| {
            let field = |of: *mut c_void, offset: usize| {
                // SAFETY: struct pkcs7_st and struct pkcs7_signed_st are public; the offsets are those of 64 bits.
                unsafe { *of.cast::<u8>().add(offset).cast::<*mut c_void>() }
            };
            // SAFETY: `message` is whole; without a place the length alone is asked for.
            let (kind, length) = unsafe { (nid(field(message, 24)), encode(message, null_mut())) };
            let signed = field(message, 32);
            if kind != SIGNED || signed.is_null() || length as usize != der.len() {
                return None;
            }
            let certificates = field(signed, 16);
            // SAFETY: a stack, or null, of which the number is -1.
            Some(unsafe { count(certificates) }.max(0) as usize)
        };
        self.decode(c"d2i_PKCS7", c"PKCS7_free", der, read).filter(|(_, used)| *used == der.len())?.0
    }

    /// How many certificates `PEM_X509_INFO_read_bio` reads of a file; `None` where it refuses the file.
    pub fn file(&self, bytes: &[u8]) -> Option<usize> {
        type Password = unsafe extern "C" fn(*mut c_char, c_int, c_int, *mut c_void) -> c_int;
        type ReadInfo = unsafe extern "C" fn(*mut c_void, *mut c_void, Password, *mut c_void) -> *mut c_void;
        // A file, as every program has it: a BIO in memory reads lines with NULs in another way.
        let open: unsafe extern "C" fn(*const c_char, *const c_char) -> *mut c_void =
            self.get(c"BIO_new_file");
        let path = format!("/dev/shm/castore-fuzz-{}", std::process::id());
        std::fs::write(&path, bytes).expect("a file in memory");
        let path = CString::new(path).expect("no NUL");
        let close: unsafe extern "C" fn(*mut c_void) -> c_int = self.get(c"BIO_free");
        let read: ReadInfo = self.get(c"PEM_X509_INFO_read_bio");
        let count: unsafe extern "C" fn(*const c_void) -> c_int = self.get(c"OPENSSL_sk_num");
        let value: unsafe extern "C" fn(*const c_void, c_int) -> *mut c_void = self.get(c"OPENSSL_sk_value");
        let free: unsafe extern "C" fn(*mut c_void, Free) = self.get(c"OPENSSL_sk_pop_free");
        let free_info: Free = self.get(c"X509_INFO_free");
        let clear: unsafe extern "C" fn() = self.get(c"ERR_clear_error");
        // SAFETY: the path outlives the call; the stack and what is in it is freed once; an X509_INFO begins with its X509.
        unsafe {
            let bio = open(path.as_ptr(), c"r".as_ptr());
            let infos = read(bio, null_mut(), no_password, null_mut());
            close(bio);
            clear();
            if infos.is_null() {
                return None;
            }
            let with = (0..count(infos))
                .filter(|&at| !(*value(infos, at).cast::<*const c_void>()).is_null())
                .count();
            free(infos, free_info);
            Some(with)
        }
    }
}
