"""COUNT connections to localhost:PORT, each with a context of its own, that trusts OpenSSL's defaults or what is named.

    handshake.py PORT COUNT [CAFILE | --capath DIRECTORY | --openssl-cafile]
"""
import socket
import ssl
import sys

port, count = int(sys.argv[1]), int(sys.argv[2])
match sys.argv[3:]:
    case []:
        trusted = {}
    case ["--capath", directory]:
        trusted = {"capath": directory}
    case ["--openssl-cafile"]:
        # The path that OpenSSL has built in, whether or not a file is there.
        trusted = {"cafile": ssl.get_default_verify_paths().openssl_cafile}
    case [cafile]:
        trusted = {"cafile": cafile}
for _ in range(count):
    context = ssl.create_default_context(**trusted)
    with socket.create_connection(("127.0.0.1", port)) as plain:
        with context.wrap_socket(plain, server_hostname="localhost"):
            pass
