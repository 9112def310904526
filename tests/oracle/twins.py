"""Makes certificates of one subject that differ in one thing, and chains that need the right one of them.

    twins.py FOLDER

For each scenario FOLDER/NAME holds `twin.pem`, `right.pem`, `leaf.pem`, `sent.pem` (what the peer sends beside the leaf,
perhaps nothing) and perhaps `more.pem` (what the store holds as well). Keys are new at each run; dates and names are
fixed. Needs PyPI's cryptography.
"""

import datetime
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "host.castore.example"
VALID = (2020, 2049)
EXPIRED = (2010, 2015)
FUTURE = (2045, 2049)


def new_key():
    return ec.generate_private_key(ec.SECP256R1())


def make(
    subject, key, issuer=None, issuer_key=None, years=VALID, ca=True, path_length=None, excluded=None, usage=None,
    identified=False, purpose=None, identifier=None, constrained=True,
):
    """A certificate; of itself where no issuer is named. `identified`: it names the issuer's key."""
    name = lambda text: x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer or subject))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.datetime(years[0], 1, 1))
        .not_valid_after(datetime.datetime(years[1], 1, 1))
        .add_extension(
            x509.SubjectKeyIdentifier(identifier) if identifier
            else x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
            critical=False,
        )
    )
    if constrained:
        builder = builder.add_extension(x509.BasicConstraints(ca, path_length if ca else None), critical=True)
    if purpose:
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    if subject == HOST:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
    if excluded:
        constraints = x509.NameConstraints(None, [x509.DNSName(excluded)])
        builder = builder.add_extension(constraints, critical=True)
    if usage:
        bits = dict.fromkeys(
            ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
             "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"), False,
        )
        builder = builder.add_extension(x509.KeyUsage(**{**bits, usage: True}), critical=True)
    if identified:
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
        builder = builder.add_extension(identifier, critical=False)
    return builder.sign(issuer_key or key, hashes.SHA256())


def main():
    folder = Path(sys.argv[1])
    root, other, cross, middle, low, leaf = (new_key() for _ in range(6))
    subject, crosser = "Castore Test Root", "Castore Test Cross"
    between, below = "Castore Test Intermediate", "Castore Test Intermediate 2"
    right = make(subject, root)
    from_root = make(HOST, leaf, subject, root, ca=False)
    intermediate = make(between, middle, subject, root)
    identified = make(HOST, leaf, subject, root, ca=False, identified=True)
    from_middle = make(HOST, leaf, between, middle, ca=False)
    second = make(below, low, between, middle)
    from_second = make(HOST, leaf, below, low, ca=False)
    crossing = make(crosser, cross)
    crossed = make(subject, root, crosser, cross)

    scenarios = {
        # name: twin, right one, leaf, what is sent beside it, what the store has as well
        "expired": (make(subject, root, years=EXPIRED), right, from_root, [], []),
        "not-yet-valid": (make(subject, root, years=FUTURE), right, from_root, [], []),
        "re-keyed": (make(subject, other), right, from_root, [], []),
        "re-keyed-and-identified": (make(subject, other), right, identified, [], []),
        "no-ca-by-its-usage": (make(subject, root, ca=False, usage="digital_signature"), right, from_root, [], []),
        "no-signer-by-its-usage": (make(subject, root, usage="digital_signature"), right, from_root, [], []),
        "no-ca-of-another-identifier": (
            make(subject, root, ca=False, identifier=b"another"), right, identified, [], [],
        ),
        "no-constraints": (make(subject, root, constrained=False), right, from_root, [], []),
        "client-purpose": (
            make(subject, root, purpose=x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH), right, from_root, [], [],
        ),
        "any-purpose": (
            make(subject, root, purpose=x509.oid.ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE), right, from_root, [], [],
        ),
        "server-purpose": (
            make(subject, root, purpose=x509.oid.ExtendedKeyUsageOID.SERVER_AUTH), right, from_root, [], [],
        ),
        "no-ca": (make(subject, root, ca=False), right, from_root, [], []),
        "equal": (make(subject, root), right, from_root, [], []),
        "path-length": (make(subject, root, path_length=0), right, from_middle, [intermediate], []),
        "path-length-of-one": (
            make(subject, root, path_length=1), right, from_second, [second, intermediate], [],
        ),
        "name-constraints": (make(subject, root, excluded="castore.example"), right, from_root, [], []),
        "cross-signed": (crossed, right, from_root, [], []),
        "cross-signed-by-a-root-here": (crossed, right, from_root, [], [crossing]),
        "expired-cross-signed": (
            make(subject, root, crosser, cross, years=EXPIRED), right, from_root, [], [],
        ),
        "re-keyed-no-ca": (make(subject, other, ca=False), right, from_root, [], []),
        "expired-no-ca": (make(subject, root, ca=False, years=EXPIRED), right, from_root, [], []),
    }
    for name, (twin, good, end, sent, more) in scenarios.items():
        place = folder / name
        place.mkdir()
        for file, certificates in (
            ("twin.pem", [twin]), ("right.pem", [good]), ("leaf.pem", [end]), ("sent.pem", sent), ("more.pem", more),
        ):
            text = b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates)
            (place / file).write_bytes(text)


main()
