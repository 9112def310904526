#!/usr/bin/env python3
"""Makes N different self-signed CA certificates with the keys of a real store, as one bundle.

    PYTHONPATH=target/material/openssl/3.5.6 benches/clients/make_certificates.py N LIKE.crt OUT.pem

The kinds of keys (RSA 2048 and 4096, EC) come in LIKE's proportions, shuffled, again and again: so every
beginning of OUT has about LIKE's mix. Of each kind there is one key: what differs is name and serial number,
which is what a store tells certificates apart by. Needs PyPI's cryptography; tests/setup.sh brings it.
"""
import datetime
import random
import re
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

Kind = tuple[str, int]
Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
CURVES = {256: ec.SECP256R1(), 384: ec.SECP384R1(), 521: ec.SECP521R1()}


def kinds(bundle: Path) -> list[Kind]:
    found: list[Kind] = []
    for block in BLOCK.findall(bundle.read_bytes()):
        key = x509.load_pem_x509_certificate(block).public_key()
        if isinstance(key, rsa.RSAPublicKey):
            found.append(("rsa", key.key_size))
        elif isinstance(key, ec.EllipticCurvePublicKey) and key.key_size in CURVES:
            found.append(("ec", key.key_size))
    # A store's order is that of names, which puts a CA's keys beside each other: shuffled, always alike.
    random.Random(0).shuffle(found)
    return found


def make_key(kind: Kind) -> Key:
    name, size = kind
    if name == "rsa":
        return rsa.generate_private_key(public_exponent=65537, key_size=size)
    return ec.generate_private_key(CURVES[size])


def make_certificate(number: int, key: Key) -> bytes:
    # As long as the names of real roots are.
    common = f"Castore Benchmark Root Certification Authority {number:04}"
    name = x509.Name([
        x509.NameAttribute(NameOID.COUNTRY_NAME, "XX"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Castore Benchmark Trust Services Limited"),
        x509.NameAttribute(NameOID.COMMON_NAME, common),
    ])
    start = datetime.datetime(2020, 1, 1)
    public = key.public_key()
    usage = x509.KeyUsage(
        digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(public)
        .serial_number((1 << 126) + number)
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=25 * 365))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
    )
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    mix = kinds(Path(sys.argv[2]))
    keys = {kind: make_key(kind) for kind in set(mix)}
    with open(sys.argv[3], "wb") as out:
        for number in range(int(sys.argv[1])):
            out.write(make_certificate(number, keys[mix[number % len(mix)]]))


main()
