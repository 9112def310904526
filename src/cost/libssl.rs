//! OpenSSL's libssl, loaded at run time: the only module with `unsafe`.
//!
//! A library that is not what it seems can do anything, so this is only called in a child process
//! ([`super::measure::serve`]). What is used has one signature in OpenSSL 1.1.1, 3.x and 4.0; where they differ at all,
//! it is in `const`.
#![allow(unsafe_code, reason = "calls into a C library that is chosen at run time")]

use std::cell::Cell;
use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_long, c_uchar, c_ulong, c_void};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::ptr::{self, NonNull};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

/// The names under which the loader knows libssl, in the order in which they are tried.
pub const NAMES: &[&str] = &["libssl.so.3", "libssl.so.4", "libssl.so.1.1"];

/// `X509_LU_X509`.
const LU_X509: c_int = 1;
/// `OPENSSL_VERSION`, the argument of `OpenSSL_version`.
const VERSION: c_int = 0;

macro_rules! functions {
    ($(#[$doc:meta])* struct $table:ident { $($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)+ }) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "the names of C")]
        struct $table { $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)+ }

        impl $table {
            /// Finds all of them in a library and in what it is linked to, or names one that is not there.
            fn find(library: &Library) -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: the type is the signature in OpenSSL's headers (see the table).
                    $($name: unsafe {
                        symbol::<unsafe extern "C" fn($($argument),*) $(-> $result)?>(library, stringify!($name))
                    }
                    .ok_or(stringify!($name))?,)+
                })
            }
        }
    };
}

type Pointer = *mut c_void;
/// `pem_password_cb`.
type Password = unsafe extern "C" fn(*mut c_char, c_int, c_int, Pointer) -> c_int;

functions!(
    /// From `openssl/ssl.h`, `x509_vfy.h`, `x509.h`, `bio.h`, `pem.h`, `evp.h`, `err.h`, `crypto.h`. Every structure is
    /// opaque.
    struct Functions {
        TLS_client_method: fn() -> Pointer;
        SSL_CTX_new: fn(Pointer) -> Pointer;
        SSL_CTX_free: fn(Pointer);
        SSL_CTX_load_verify_locations: fn(Pointer, *const c_char, *const c_char) -> c_int;
        SSL_CTX_get_cert_store: fn(Pointer) -> Pointer;
        X509_STORE_CTX_new: fn() -> Pointer;
        X509_STORE_CTX_init: fn(Pointer, Pointer, Pointer, Pointer) -> c_int;
        X509_STORE_CTX_get_by_subject: fn(Pointer, c_int, Pointer, Pointer) -> c_int;
        X509_STORE_CTX_free: fn(Pointer);
        X509_OBJECT_new: fn() -> Pointer;
        X509_OBJECT_free: fn(Pointer);
        X509_NAME_free: fn(Pointer);
        d2i_X509_NAME: fn(*mut Pointer, *mut *const c_uchar, c_long) -> Pointer;
        BIO_new_file: fn(*const c_char, *const c_char) -> Pointer;
        BIO_free: fn(Pointer) -> c_int;
        PEM_read_bio_PrivateKey: fn(Pointer, *mut Pointer, Option<Password>, Pointer) -> Pointer;
        EVP_PKEY_free: fn(Pointer);
        EVP_PKEY_CTX_new: fn(Pointer, Pointer) -> Pointer;
        EVP_PKEY_CTX_free: fn(Pointer);
        ERR_get_error: fn() -> c_ulong;
        ERR_error_string_n: fn(c_ulong, *mut c_char, usize);
        ERR_clear_error: fn();
        OpenSSL_version: fn(c_int) -> *const c_char;
    }
);

functions!(
    /// How the certificates in a store are counted.
    struct Counting {
        X509_STORE_get0_objects: fn(Pointer) -> Pointer;
        X509_OBJECT_get_type: fn(Pointer) -> c_int;
        OPENSSL_sk_num: fn(Pointer) -> c_int;
        OPENSSL_sk_value: fn(Pointer, c_int) -> Pointer;
    }
);

functions!(
    /// Since 1.1.1.
    struct Checking {
        EVP_PKEY_check: fn(Pointer) -> c_int;
    }
);

/// # Safety
/// `T` is the type of a pointer to the function of this name.
unsafe fn symbol<T: Copy>(library: &Library, name: &str) -> Option<T> {
    // SAFETY: the type is what the caller says. An `Option` of a function pointer is a pointer that may be null.
    let symbol = unsafe { library.get::<Option<T>>(name) }.ok()?;
    *symbol
}

/// Why a library cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// The loader gives none; its words, one for each name that was tried.
    NotLoaded(Vec<String>),
    /// A function is missing.
    Lacks(OsString, &'static str),
}

/// A loaded libssl, with the libcrypto that it is linked to.
pub struct Libssl {
    // Never unloaded: OpenSSL has handlers that run at the exit of the process.
    _library: ManuallyDrop<Library>,
    functions: Functions,
    counting: Option<Counting>,
    checking: Option<Checking>,
}

impl Libssl {
    /// Loads the first of these that the loader finds: names, or paths with a slash.
    ///
    /// Beside a path, a libcrypto of the same ending is loaded first, so that both are of one version.
    ///
    /// # Errors
    /// Where none can be loaded, or that one lacks a function.
    pub fn load(names: &[OsString]) -> Result<Self, Unusable> {
        let mut complaints = Vec::new();
        for name in names {
            if let Some(sibling) = libcrypto_beside(name) {
                // SAFETY: runs the initialisers of a library that is named by the user, as any program linked to it.
                // What is not there is found by the loader, or missing then.
                if let Ok(library) = unsafe { Library::open(Some(&sibling), RTLD_NOW | RTLD_GLOBAL) } {
                    let _ = ManuallyDrop::new(library);
                }
            }
            // SAFETY: as above.
            match unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) } {
                Ok(library) => {
                    let library = ManuallyDrop::new(library);
                    let functions =
                        Functions::find(&library).map_err(|lacks| Unusable::Lacks(name.clone(), lacks))?;
                    let counting = Counting::find(&library).ok();
                    let checking = Checking::find(&library).ok();
                    return Ok(Self { _library: library, functions, counting, checking });
                }
                Err(error) => complaints.push(match error {
                    libloading::Error::DlOpen { source } => source.to_string(),
                    other => other.to_string(),
                }),
            }
        }
        Err(Unusable::NotLoaded(complaints))
    }

    /// `OpenSSL 3.0.19 27 Jan 2026`: `OpenSSL_version(OPENSSL_VERSION)`.
    #[must_use]
    pub fn version(&self) -> String {
        // SAFETY: takes any number, gives a string that lives as long as the library, or null.
        let text = unsafe { (self.functions.OpenSSL_version)(VERSION) };
        if text.is_null() {
            return String::new();
        }
        // SAFETY: not null, ends with NUL.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }

    /// An address in libssl, and one in libcrypto: the map of the process tells which files they are.
    #[must_use]
    pub fn addresses(&self) -> (usize, usize) {
        (self.functions.SSL_CTX_new as usize, self.functions.OpenSSL_version as usize)
    }

    /// A new context: `SSL_CTX_new(TLS_client_method())`.
    ///
    /// # Errors
    /// OpenSSL's text.
    pub fn context(&self) -> Result<Context<'_>, String> {
        // SAFETY: no arguments; the method is a static table, and `SSL_CTX_new` takes null for one.
        let context = unsafe { (self.functions.SSL_CTX_new)((self.functions.TLS_client_method)()) };
        let context = NonNull::new(context).ok_or_else(|| self.errors())?;
        Ok(Context { library: self, context })
    }

    /// A name to look up, from its DER: `d2i_X509_NAME`.
    ///
    /// # Errors
    /// OpenSSL's text.
    pub fn name(&self, der: &[u8]) -> Result<Name<'_>, String> {
        let length = c_long::try_from(der.len()).map_err(|_| "too long".to_owned())?;
        let mut start = der.as_ptr();
        // SAFETY: `start` points to `length` bytes; OpenSSL moves the copy in `start` and keeps neither.
        let name = unsafe { (self.functions.d2i_X509_NAME)(ptr::null_mut(), &mut start, length) };
        Ok(Name { library: self, name: NonNull::new(name).ok_or_else(|| self.errors())? })
    }

    /// A private key from a PEM file: `PEM_read_bio_PrivateKey`. Its content stays in the library's memory, which clears
    /// it. A password is never asked for.
    ///
    /// # Errors
    /// Where there is none, or it is encrypted.
    pub fn private_key(&self, path: &CStr) -> Result<Key<'_>, NoKey> {
        // SAFETY: both strings end with NUL and are only read during the call.
        let file = unsafe { (self.functions.BIO_new_file)(path.as_ptr(), c"rb".as_ptr()) };
        if file.is_null() {
            return Err(NoKey::Refused(self.errors()));
        }
        let asked = Cell::new(false);
        let user: *const Cell<bool> = &asked;
        // SAFETY: `file` is a BIO. `user` is only given to `refuse`, during the call, in this thread; `asked` outlives it.
        let key = unsafe {
            (self.functions.PEM_read_bio_PrivateKey)(
                file,
                ptr::null_mut(),
                Some(refuse),
                user.cast_mut().cast(),
            )
        };
        // SAFETY: made above, not used again.
        unsafe { (self.functions.BIO_free)(file) };
        match NonNull::new(key) {
            Some(key) => Ok(Key { library: self, key }),
            None if asked.get() => {
                self.forget_errors();
                Err(NoKey::Encrypted)
            }
            None => Err(NoKey::Refused(self.errors())),
        }
    }

    /// The queue of errors of this thread as text, the cause first, and leaves it empty.
    fn errors(&self) -> String {
        let mut out: Vec<String> = Vec::new();
        loop {
            // SAFETY: no arguments.
            let code = unsafe { (self.functions.ERR_get_error)() };
            if code == 0 {
                break;
            }
            let mut text = [0_u8; 256];
            // SAFETY: writes at most 256 bytes, NUL included, which the buffer has.
            unsafe { (self.functions.ERR_error_string_n)(code, text.as_mut_ptr().cast(), text.len()) };
            let text = CStr::from_bytes_until_nul(&text).unwrap_or(c"").to_string_lossy().into_owned();
            if out.len() < 3 {
                out.push(in_words(&text));
            }
        }
        if out.is_empty() { "no reason given".to_owned() } else { out.join(", ") }
    }

    fn forget_errors(&self) {
        // SAFETY: no arguments.
        unsafe { (self.functions.ERR_clear_error)() };
    }
}

/// `error:0480006C:PEM routines::no start line` without the number, which means nothing to people.
fn in_words(text: &str) -> String {
    let words =
        text.strip_prefix("error:").and_then(|rest| rest.split_once(':')).map_or(text, |(_, rest)| rest);
    let parts: Vec<&str> = words.split(':').filter(|part| !part.is_empty()).collect();
    parts.join(": ")
}

/// A `pem_password_cb` that has none, and notes that it was asked.
unsafe extern "C" fn refuse(_: *mut c_char, _: c_int, _: c_int, user: Pointer) -> c_int {
    // SAFETY: `private_key` gives a pointer to a cell that lives longer than the call, and OpenSSL hands it on.
    if let Some(asked) = unsafe { user.cast::<Cell<bool>>().as_ref() } {
        asked.set(true);
    }
    // Below zero is failure; zero would be an empty password.
    -1
}

/// `libcrypto.so.3` beside `libssl.so.3`, where that was named with its directory.
fn libcrypto_beside(name: &OsStr) -> Option<OsString> {
    let path = Path::new(name);
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty())?;
    let ending = path.file_name()?.as_bytes().strip_prefix(b"libssl")?;
    let mut file = b"libcrypto".to_vec();
    file.extend_from_slice(ending);
    Some(directory.join(OsString::from_vec(file)).into_os_string())
}

/// A path as C takes it; `None` where it holds a NUL, which no path does.
#[must_use]
pub fn c_path(path: &OsStr) -> Option<CString> {
    CString::new(path.as_bytes()).ok()
}

/// An `SSL_CTX`. It belongs to the thread that made it.
pub struct Context<'a> {
    library: &'a Libssl,
    context: NonNull<c_void>,
}

impl Context<'_> {
    /// `SSL_CTX_load_verify_locations`; of neither, nothing.
    ///
    /// # Errors
    /// OpenSSL's text: the context loads nothing of the file.
    pub fn load(&self, cafile: Option<&CStr>, capath: Option<&CStr>) -> Result<(), String> {
        if cafile.is_none() && capath.is_none() {
            return Ok(());
        }
        let pointer = |path: Option<&CStr>| path.map_or(ptr::null(), CStr::as_ptr);
        let load = self.library.functions.SSL_CTX_load_verify_locations;
        // SAFETY: the context is alive; each path ends with NUL or is null, not both null.
        let loaded = unsafe { load(self.context.as_ptr(), pointer(cafile), pointer(capath)) };
        if loaded == 1 { Ok(()) } else { Err(self.library.errors()) }
    }

    fn store(&self) -> Pointer {
        // SAFETY: the context is alive; its store lives as long, and is not freed by the caller.
        unsafe { (self.library.functions.SSL_CTX_get_cert_store)(self.context.as_ptr()) }
    }

    /// How many certificates its store holds now, each once; `None` where the library has no way to say.
    #[must_use]
    pub fn certificates(&self) -> Option<usize> {
        let counting = self.library.counting.as_ref()?;
        let store = self.store();
        if store.is_null() {
            return None;
        }
        // SAFETY: the store is alive, nobody changes it during the count, and its stack belongs to it. A null stack has
        // -1 members, and every index below the number has one.
        unsafe {
            let objects = (counting.X509_STORE_get0_objects)(store);
            let is_certificate = |index: &c_int| {
                let object = (counting.OPENSSL_sk_value)(objects, *index);
                !object.is_null() && (counting.X509_OBJECT_get_type)(object) == LU_X509
            };
            Some((0..(counting.OPENSSL_sk_num)(objects)).filter(is_certificate).count())
        }
    }

    /// Looks a subject up, in memory and then in the directories, as a verification does:
    /// `X509_STORE_CTX_get_by_subject`. Whether a certificate is found.
    #[must_use]
    pub fn look_up(&self, name: &Name<'_>) -> bool {
        let functions = &self.library.functions;
        // SAFETY: no arguments, and null is checked. The store and the name are alive; the store outlives the
        // verification context, the certificate that is found is held by `object`, and both are freed once.
        unsafe {
            let verification = (functions.X509_STORE_CTX_new)();
            let object = (functions.X509_OBJECT_new)();
            let found = !verification.is_null()
                && !object.is_null()
                && (functions.X509_STORE_CTX_init)(
                    verification,
                    self.store(),
                    ptr::null_mut(),
                    ptr::null_mut(),
                ) == 1
                && (functions.X509_STORE_CTX_get_by_subject)(
                    verification,
                    LU_X509,
                    name.name.as_ptr(),
                    object,
                ) == 1;
            (functions.X509_OBJECT_free)(object);
            (functions.X509_STORE_CTX_free)(verification);
            // A directory in which it looked in vain leaves errors behind.
            (functions.ERR_clear_error)();
            found
        }
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `SSL_CTX_new`, freed once.
        unsafe { (self.library.functions.SSL_CTX_free)(self.context.as_ptr()) };
    }
}

/// An `X509_NAME`.
pub struct Name<'a> {
    library: &'a Libssl,
    name: NonNull<c_void>,
}

impl Drop for Name<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `d2i_X509_NAME`, freed once.
        unsafe { (self.library.functions.X509_NAME_free)(self.name.as_ptr()) };
    }
}

/// Why there is no private key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoKey {
    /// A password was asked for.
    Encrypted,
    /// OpenSSL's text.
    Refused(String),
}

/// An `EVP_PKEY`.
pub struct Key<'a> {
    library: &'a Libssl,
    key: NonNull<c_void>,
}

impl Key<'_> {
    /// `EVP_PKEY_check`: the numbers of the key fit. `None` where the library has no such function, or not for this kind
    /// of key (-2).
    ///
    /// # Errors
    /// OpenSSL's text: they do not.
    #[must_use]
    pub fn check(&self) -> Option<Result<(), String>> {
        let functions = &self.library.functions;
        let check = self.library.checking.as_ref()?.EVP_PKEY_check;
        // SAFETY: the key is alive and takes a reference of its own; no engine. Null is checked, and freed as nothing.
        let answer = unsafe {
            let context = (functions.EVP_PKEY_CTX_new)(self.key.as_ptr(), ptr::null_mut());
            let answer = if context.is_null() { 0 } else { check(context) };
            (functions.EVP_PKEY_CTX_free)(context);
            answer
        };
        match answer {
            1 => Some(Ok(())),
            -2 => {
                self.library.forget_errors();
                None
            }
            _ => Some(Err(self.library.errors())),
        }
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `PEM_read_bio_PrivateKey`, freed once.
        unsafe { (self.library.functions.EVP_PKEY_free)(self.key.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_in_words() {
        assert_eq!(in_words("error:0480006C:PEM routines::no start line"), "PEM routines: no start line");
        assert_eq!(
            in_words("error:0909006C:PEM routines:get_name:no start line"),
            "PEM routines: get_name: no start line"
        );
        assert_eq!(in_words("something else"), "something else");
    }

    #[test]
    fn the_libcrypto_of_the_same_directory() {
        assert_eq!(libcrypto_beside(OsStr::new("/a/libssl.so.3")), Some("/a/libcrypto.so.3".into()));
        assert_eq!(libcrypto_beside(OsStr::new("libssl.so.3")), None);
        assert_eq!(libcrypto_beside(OsStr::new("/a/libtls.so")), None);
    }
}
