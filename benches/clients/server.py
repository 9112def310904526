"""A TLS server on 127.0.0.1 that answers GET, and ends when its standard input does.

    server.py CHAIN.pem...

For each file (key and certificate) it listens on a port of its own; it prints the ports on one line.
"""
import http.server
import ssl
import sys
import threading

# A repository as git's plain HTTP protocol has it: one reference, so that ls-remote has something to list.
PAGES = {
    "/info/refs": b"0123456789012345678901234567890123456789\trefs/heads/main\n",
    "/HEAD": b"ref: refs/heads/main\n",
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = PAGES.get(self.path.partition("?")[0], b"hello\n")
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """A line for each request would hide what matters."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """A client that refuses the certificate is no fault of the server."""


def listen(chain: str) -> int:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    server = Server(("127.0.0.1", 0), Handler)
    # The handshake belongs into the connection's thread: a client that hangs in it must not stop the others.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


if __name__ == "__main__":
    print(*[listen(chain) for chain in sys.argv[1:]], flush=True)
    sys.stdin.read()
