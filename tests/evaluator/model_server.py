"""A real HTTP server that plays the endpoint of a model: it answers, times out, drops, refuses and lies."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: Any


Step = Callable[["_Handler"], None]


@dataclass
class ModelServer:
    """`steps` are played one a request, the last one for ever; `received` are the requests."""

    url: str
    steps: list[Step] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    closing: Event = field(default_factory=Event)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ModelServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.model.received.append(Received(self.path, headers, json.loads(body)))
        steps = self.model.steps
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        step(self)

    def log_message(self, *_: object) -> None:
        pass

    def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def answer(value: object, status: int = 200, **headers: str) -> Step:
    return raw(json.dumps(value).encode(), status, **headers)


def raw(body: bytes, status: int = 200, **headers: str) -> Step:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.send(status, body, named)


def chat(reply: object, tokens_in: object = 100, tokens_out: object = 20, **message: object) -> Step:
    """An OpenAI-style completion with this text."""
    choices = [{"finish_reason": "stop", "message": {"role": "assistant", "content": reply, **message}}]
    return answer(
        {"choices": choices, "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}}
    )


def hang(handler: _Handler) -> None:
    handler.model.closing.wait(30)


def drop(handler: _Handler) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def drop_halfway(handler: _Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    drop(handler)


def drip(handler: _Handler) -> None:
    """Send a byte of the answer's header now and then, for ever: no single read takes long."""
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not handler.model.closing.wait(0.02):
            handler.wfile.write(b"x")
            handler.wfile.flush()
    except OSError:
        handler.close_connection = True


@contextmanager
def model_server(*steps: Step) -> Iterator[ModelServer]:
    class Handler(_Handler):
        pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = ModelServer(f"http://127.0.0.1:{server.server_port}", list(steps))
    Handler.model = model
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield model
    finally:
        model.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def closed_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
