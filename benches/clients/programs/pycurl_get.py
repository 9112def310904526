"""COUNT requests to localhost:PORT through libcurl-gnutls, each with a handle of its own."""
import io
import sys

import pycurl

if "gnutls" not in pycurl.version.lower():
    sys.exit(f"this pycurl has no GnuTLS: {pycurl.version}")
for _ in range(int(sys.argv[2])):
    handle = pycurl.Curl()
    handle.setopt(pycurl.URL, f"https://localhost:{sys.argv[1]}/")
    handle.setopt(pycurl.WRITEDATA, io.BytesIO())
    handle.perform()
    handle.close()
