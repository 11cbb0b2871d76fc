"""Small real web servers on the loopback, honest and hostile, and a resolver that leads names to them."""

import contextlib
import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from metnos.core.errors import ExecutorFailed
from metnos.law.need import Need, http_need, refuse_never
from metnos.sandbox.web import Fetched, Web

Handler = Callable[[str, socket.socket], None]


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass
class Site:
    """A server that keeps what it was sent. ``pages`` maps a target to an answer or to a handler of the raw socket."""

    pages: Mapping[str, bytes | Handler] = field(default_factory=dict)
    address: str = "127.0.0.1"
    tls: ssl.SSLContext | None = None
    requests: list[str] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    port: int = 0

    @contextlib.contextmanager
    def open(self) -> Iterator["Site"]:
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        listener = socket.create_server((self.address, self.port), family=family)
        self.port = listener.getsockname()[1]
        thread = threading.Thread(target=self._serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            thread.join(5)

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(sock,), daemon=True).start()

    def _answer(self, sock: socket.socket) -> None:
        try:
            if self.tls is not None:
                self.tls.sni_callback = lambda _sock, name, _context: self.names.append(name)
                sock = self.tls.wrap_socket(sock, server_side=True)
            sock.settimeout(5)
            text = _request(sock)
            self.requests.append(text)
            page = self.pages.get(text.split(" ")[1], answer(b"nothing here", "404 Not Found"))
            if callable(page):
                page(text, sock)
            else:
                sock.sendall(page)
        except (OSError, IndexError):
            pass
        finally:
            with contextlib.suppress(OSError):
                sock.close()


def _request(sock: socket.socket) -> str:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        if not piece:
            break
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line), 0)
    while len(body) < length:
        body += sock.recv(65536)
    return (head + b"\r\n\r\n" + body).decode("latin-1")


@dataclass
class Names:
    """A resolver: each name's answers, one list for each time that it is asked; the last one stays."""

    table: Mapping[str, Sequence[Sequence[str]]]
    asked: list[str] = field(default_factory=list)

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host not in self.table:
            raise socket.gaierror(-2, "Name or service not known")
        answers = self.table[host]
        return list(answers[min(self.asked.count(host), len(answers)) - 1])


@dataclass
class Rules:
    """An `allow`: hosts and methods that may be used, and what was asked."""

    hosts: Sequence[str] = ("*",)
    methods: Sequence[str] = ("GET", "HEAD")
    asked: list[tuple[str, str, list[str]]] = field(default_factory=list)

    def __call__(self, host: str, method: str, addresses: list[str]) -> Need:
        self.asked.append((host, method, addresses))
        if (host not in self.hosts and "*" not in self.hosts) or method not in self.methods:
            raise ExecutorFailed(f"{method} to {host} is not permitted", kind="not_permitted")
        return http_need(host, method, addresses)


HERE = ["127.0.0.1"]
NAMES = {
    "site.example": [HERE],
    "other.example": [HERE],
    "six.example": [["::1"]],
    "metadata.example": [["169.254.169.254"]],
    "mixed.example": [["127.0.0.1", "93.184.216.34"]],
    "half.example": [["127.0.0.1", "169.254.169.254"]],
    "turncoat.example": [HERE, ["169.254.169.254"]],
    "traveller.example": [HERE, ["93.184.216.34"]],
    "empty.example": [[]],
    "crowd.example": [[f"127.0.0.{n}" for n in range(1, 60)]],
    "odd.example": [["site.example"]],
    "zone.example": [["fe80::1%lo"]],
}


class Town:
    """Servers that live as long as one test, and a `Web` that finds them."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self.names = Names(NAMES)
        self.rules = Rules()

    def site(self, address: str = "127.0.0.1", tls: Any = None, port: int = 0, **pages: bytes | Handler) -> Site:
        found = {"/" + name.replace("_", "/"): page for name, page in pages.items()}
        return self._stack.enter_context(Site(found, address, tls, port=port).open())

    def get(self, url: str, method: str = "GET", body: bytes = b"", **options: Any) -> Fetched:
        made = {name: options.pop(name) for name in ("timeout_s", "max_redirects", "tls") if name in options}
        headers = options.pop("headers", {})
        options = {"max_bytes": 100_000, "allow": self.rules, "screen": refuse_never, **options}
        return Web(self.names, **{"timeout_s": 5, **made}).fetch(method, url, headers, body, **options)

    def failure(self, url: str, **options: Any) -> ExecutorFailed:
        with pytest.raises(ExecutorFailed) as caught:
            self.get(url, **options)
        return caught.value


def redirect(to: str, status: str = "302 Found") -> bytes:
    return answer(b"moved", status, Location=to)


@dataclass(frozen=True)
class Certificates:
    """An authority of the test's own, and a folder for what it signs."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def make(cls, folder: Path) -> "Certificates":
        key = ec.generate_private_key(ec.SECP256R1())
        return cls(folder, key, _sign("Test authority", key, None, None, key))

    def server(self, *names: str, self_signed: bool = False, expired: bool = False) -> ssl.SSLContext:
        """A server's context with a certificate for these names."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = None if self_signed else self.certificate
        certificate = _sign(names[0], key, names, issuer, key if self_signed else self.key, expired=expired)
        path = self.folder / f"{names[0].replace(':', '_')}-{self_signed}-{expired}.pem"
        path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def client(self) -> ssl.SSLContext:
        """What `ssl.create_default_context` gives, with this authority for the system's."""
        return ssl.create_default_context(
            cadata=self.certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")
        )


def _sign(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    names: Sequence[str] | None,
    issuer: x509.Certificate | None,
    signer: ec.EllipticCurvePrivateKey,
    *,
    expired: bool = False,
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    until = now - datetime.timedelta(days=1) if expired else now + datetime.timedelta(days=1)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(until)
        .add_extension(x509.BasicConstraints(ca=names is None, path_length=None), critical=True)
    )
    if names is not None:
        listed = [_general(each) for each in names]
        builder = builder.add_extension(x509.SubjectAlternativeName(listed), critical=False)
    return builder.sign(signer, hashes.SHA256())


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
