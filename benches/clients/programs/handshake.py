"""COUNT connections to localhost:PORT, each with a context of its own. CAFILE, when given, is all it trusts.

    handshake.py PORT COUNT [CAFILE]
"""
import socket
import ssl
import sys

port, count = int(sys.argv[1]), int(sys.argv[2])
cafile = sys.argv[3] if len(sys.argv) > 3 else None
for _ in range(count):
    context = ssl.create_default_context(cafile=cafile)
    with socket.create_connection(("127.0.0.1", port)) as plain:
        with context.wrap_socket(plain, server_hostname="localhost"):
            pass
