"""What GnuTLS loads of each file in a list of paths, one a line: `ok FP FP ...` or `refused`.

FP is the SHA-256 of a certificate that the credentials trust after gnutls_certificate_set_x509_trust_file. GnuTLS keeps
the length of its outer element as it was written, castore knows it by the shortest one.
"""

import ctypes
import hashlib
import sys

gnutls = ctypes.CDLL("libgnutls.so.30")
PEM, DER = 1, 0
# Every function takes and gives pointers, or numbers that fit an int; ctypes must know which are pointers.
pointer = ctypes.c_void_p


class Datum(ctypes.Structure):
    _fields_ = [("data", pointer), ("size", ctypes.c_uint)]


gnutls.gnutls_certificate_allocate_credentials.argtypes = [ctypes.POINTER(pointer)]
gnutls.gnutls_certificate_free_credentials.argtypes = [pointer]
gnutls.gnutls_certificate_free_credentials.restype = None
gnutls.gnutls_certificate_set_x509_trust_file.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int]
gnutls.gnutls_certificate_get_trust_list.argtypes = [pointer, ctypes.POINTER(pointer)]
gnutls.gnutls_certificate_get_trust_list.restype = None
gnutls.gnutls_x509_trust_list_iter_get_ca.argtypes = [pointer, ctypes.POINTER(pointer), ctypes.POINTER(pointer)]
gnutls.gnutls_x509_crt_export2.argtypes = [pointer, ctypes.c_int, ctypes.POINTER(Datum)]
gnutls.gnutls_x509_crt_deinit.argtypes = [pointer]
gnutls.gnutls_x509_crt_deinit.restype = None
# gnutls_free is a variable that holds a function.
free = ctypes.CFUNCTYPE(None, pointer).in_dll(gnutls, "gnutls_free")


def shortest_header(der):
    """A SEQUENCE that GnuTLS has taken, with its length in as few bytes as possible."""
    header = 2 + (der[1] & 0x7F if der[1] & 0x80 else 0)
    content = der[header:]
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    if len(content) >= 0x80:
        length = bytes([0x80 | len(length)]) + length
    return b"\x30" + length + content


def trusted(credentials):
    trust_list, iterator = pointer(), pointer()
    gnutls.gnutls_certificate_get_trust_list(credentials, ctypes.byref(trust_list))
    while True:
        certificate, datum = pointer(), Datum()
        # The certificate is a copy. The iterator frees itself at the end.
        if gnutls.gnutls_x509_trust_list_iter_get_ca(
            trust_list, ctypes.byref(iterator), ctypes.byref(certificate)
        ) < 0:
            return
        if gnutls.gnutls_x509_crt_export2(certificate, DER, ctypes.byref(datum)) < 0:
            raise SystemExit("a certificate that was loaded cannot be exported")
        der = ctypes.string_at(datum.data, datum.size)
        yield hashlib.sha256(shortest_header(der)).hexdigest()
        free(datum.data)
        gnutls.gnutls_x509_crt_deinit(certificate)


for path in open(sys.argv[1], "rb").read().splitlines():
    credentials = pointer()
    if gnutls.gnutls_certificate_allocate_credentials(ctypes.byref(credentials)) < 0:
        raise SystemExit("no credentials")
    loaded = gnutls.gnutls_certificate_set_x509_trust_file(credentials, path, PEM)
    print("refused" if loaded < 0 else " ".join(["ok", *trusted(credentials)]))
    gnutls.gnutls_certificate_free_credentials(credentials)
