"""Servers on this machine, for what reads from addresses."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@contextmanager
def serving(handler) -> Iterator[str]:
    """Serve requests by a handler's class, or a partial one, and give the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def answering(status: int, asked: list[str]) -> type[BaseHTTPRequestHandler]:
    """Return a handler that answers every request with an error, and adds to `asked` what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(status)

        do_HEAD = do_GET

        def log_message(self, *words):
            pass

    return Handler
