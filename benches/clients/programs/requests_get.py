"""One request to localhost:PORT by requests, which trusts a file or a directory.

    requests_get.py PORT PATH
"""
import sys

import requests

requests.get(f"https://localhost:{sys.argv[1]}/", verify=sys.argv[2], timeout=60)
