"""What libssl puts into a store from each of a list of files.

    python3 openssl.py LIST            the system's libcrypto.so.3, and Python's own ssl module beside it
    python3 openssl.py LIST wheel      the OpenSSL inside the wheel of `cryptography` on PYTHONPATH, by pyOpenSSL

The first line names the version; then one line a file: `ok` or `refused`, and for each certificate in the store the
SHA-256 of what i2d_X509 writes, a colon, and that of its TBSCertificate: those bytes are as they were in the file, while
i2d_X509 writes what is around them anew.
"""

import ctypes
import hashlib
import os
import ssl
import sys


def inner(der):
    """The first element inside the outer one: DER, so its lengths are definite."""

    def header(at):
        count = der[at + 1] & 0x7F if der[at + 1] & 0x80 else 0
        length = int.from_bytes(der[at + 2 : at + 2 + count], "big") if count else der[at + 1]
        return at + 2 + count, length

    start, _ = header(0)
    if der[start + 1] == 0x80:
        return b"indefinite"
    content, length = header(start)
    return der[start : content + length]


def line(refused, ders):
    prints = sorted({f"{hashlib.sha256(der).hexdigest()}:{hashlib.sha256(inner(der)).hexdigest()}" for der in ders})
    print(" ".join(["refused" if refused else "ok", *prints]), flush=True)


def system(paths):
    crypto = ctypes.CDLL("libcrypto.so.3")
    for name in "X509_STORE_new", "X509_STORE_get0_objects", "OPENSSL_sk_value", "X509_OBJECT_get0_X509":
        getattr(crypto, name).restype = ctypes.c_void_p
    crypto.OpenSSL_version.restype = ctypes.c_char_p
    print(crypto.OpenSSL_version(0).decode())
    pointer = ctypes.c_void_p
    for path in paths:
        store = pointer(crypto.X509_STORE_new())
        loaded = crypto.X509_STORE_load_locations(store, path.encode(), None)
        objects = pointer(crypto.X509_STORE_get0_objects(store))
        ders = []
        for index in range(crypto.OPENSSL_sk_num(objects)):
            certificate = crypto.X509_OBJECT_get0_X509(pointer(crypto.OPENSSL_sk_value(objects, index)))
            if certificate is None:
                continue
            length = crypto.i2d_X509(pointer(certificate), None)
            buffer = ctypes.create_string_buffer(length)
            crypto.i2d_X509(pointer(certificate), ctypes.byref(pointer(ctypes.addressof(buffer))))
            ders.append(buffer.raw)
        crypto.X509_STORE_free(store)
        crypto.ERR_clear_error()
        # Python's own way, in the same run: the count is all that it tells of every certificate.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(cafile=path)
            refused = False
        except ssl.SSLError:
            refused = True
        count = context.cert_store_stats()["x509"]
        assert refused == (loaded != 1) and count == len(ders), (path, refused, loaded, count, len(ders))
        line(refused, ders)


class Stack(ctypes.Structure):
    """struct stack_st of crypto/stack/stack.c, as far as it is needed."""

    _fields_ = [("num", ctypes.c_int), ("data", ctypes.POINTER(ctypes.c_void_p))]


class Object(ctypes.Structure):
    """struct x509_object_st of crypto/x509/x509_local.h."""

    _fields_ = [("type", ctypes.c_int), ("certificate", ctypes.c_void_p)]


def wheel(paths):
    from OpenSSL import SSL, crypto

    lib, ffi = SSL._lib, SSL._ffi
    print(SSL.SSLeay_version(SSL.SSLEAY_VERSION).decode(), flush=True)
    for path in paths:
        context = SSL.Context(SSL.TLS_CLIENT_METHOD if hasattr(SSL, "TLS_CLIENT_METHOD") else SSL.SSLv23_METHOD)
        try:
            context.load_verify_locations(path)
            refused = False
        except SSL.Error:
            refused = True
        objects = lib.X509_STORE_get0_objects(lib.SSL_CTX_get_cert_store(context._context))
        stack = Stack.from_address(int(ffi.cast("uintptr_t", objects)))
        ders = []
        for index in range(stack.num):
            found = Object.from_address(stack.data[index])
            if found.type == 1:
                certificate = ffi.cast("X509 *", found.certificate)
                lib.X509_up_ref(certificate)
                owned = crypto.X509._from_raw_x509_ptr(certificate)
                ders.append(crypto.dump_certificate(crypto.FILETYPE_ASN1, owned))
        line(refused, ders)


def survivor(read, paths):
    """Some versions crash on some files (3.0.7 frees twice, CVE-2022-4450): a child reads, and the next one goes on
    behind the file that killed it, which counts as refused."""
    first = True
    while paths or first:
        sys.stdout.flush()
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(into, 1)
            os.close(out)
            read(paths)
            sys.stdout.flush()
            os._exit(0)
        os.close(into)
        with os.fdopen(out) as pipe:
            lines = pipe.read().splitlines(keepends=True)
        _, status = os.waitpid(child, 0)
        # The version comes first each time.
        sys.stdout.writelines(lines if first else lines[1:])
        done = len(lines) - 1
        if status == 0:
            return
        if done < 0 or not os.WIFSIGNALED(status):
            sys.exit(1)
        line(True, [])
        paths, first = paths[done + 1 :], False


paths = open(sys.argv[1]).read().splitlines()
survivor(wheel, paths) if sys.argv[2:] == ["wheel"] else system(paths)
