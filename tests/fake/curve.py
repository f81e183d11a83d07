"""A host that speaks CURVE byte by byte, so that it can also speak it badly.

    s = curve.connect(port)                     # the greetings are exchanged
    c = curve.Client(s, server_public, public, secret)     # raw 32-byte keys
    c.handshake()
    c.send(b"", curve.pack({"t": 1, ...}))      # a message of two parts
    c.recv()                                    # the parts of the next one

rfc.zeromq.org/spec/23 (frames) and 26 (CURVE); the boxes are libsodium's.
"""
import ctypes
import os
import re
import socket
import struct

sodium = ctypes.CDLL("libsodium.so.23")
sodium.sodium_init()
MAC = 16
GREETING = b"\xff" + b"\0" * 7 + b"\x01\x7f\x03\x00"


class Closed(Exception):
    """The other side ended the connection."""


class Refused(Exception):
    """It sent ERROR."""


def greeting(mechanism):
    return (GREETING + mechanism.ljust(20, b"\0")).ljust(64, b"\0")


def key_pair():
    public, secret = (ctypes.create_string_buffer(32) for _ in range(2))
    sodium.crypto_box_keypair(public, secret)
    return public.raw, secret.raw


def public_of(secret):
    public = ctypes.create_string_buffer(32)
    sodium.crypto_scalarmult_base(public, secret)
    return public.raw


def box(text, nonce, public, secret):
    out = ctypes.create_string_buffer(len(text) + MAC)
    assert len(nonce) == 24
    if sodium.crypto_box_easy(out, text, ctypes.c_ulonglong(len(text)), nonce,
                              public, secret):
        raise ValueError("box")
    return out.raw


def unbox(text, nonce, public, secret):
    out = ctypes.create_string_buffer(max(1, len(text) - MAC))
    if sodium.crypto_box_open_easy(out, text, ctypes.c_ulonglong(len(text)),
                                   nonce, public, secret):
        raise ValueError("box")
    return out.raw[:len(text) - MAC]


Z85 = ("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
       ".-:+=^!/*?&<>()[]{}@%$#")


def z85(text):
    out = b""
    for i in range(0, len(text), 5):
        value = 0
        for c in text[i:i + 5]:
            value = value * 85 + Z85.index(c)
        out += struct.pack(">I", value)
    return out


def frame(body, flags=0):
    if len(body) > 255:
        return struct.pack(">BQ", flags | 2, len(body)) + body
    return struct.pack("BB", flags, len(body)) + body


def pack(value):
    """msgpack of what messages are made of."""
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return struct.pack(">BQ", 0xcf, value)
    if isinstance(value, str):
        raw = value.encode()
        return struct.pack(">BI", 0xdb, len(raw)) + raw
    if isinstance(value, bytes):
        return struct.pack(">BI", 0xc6, len(value)) + value
    if isinstance(value, list):
        return struct.pack(">BI", 0xdd, len(value)) + b"".join(map(pack, value))
    return struct.pack(">BI", 0xdf, len(value)) + b"".join(
        pack(k) + pack(v) for k, v in value.items())


def unpack(raw):
    """msgpack's map of strings, numbers and lists: what comes down."""
    value, rest = take(raw)
    assert rest == b""
    return value


def take(raw):
    b, rest = raw[0], raw[1:]
    if b < 0x80:
        return b, rest
    if b < 0xa0 or b >= 0xdc:
        n, size = b & 15, {0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4}.get(b, 0)
        if size:
            n, rest = int.from_bytes(rest[:size], "big"), rest[size:]
        items = []
        if b in (0xdc, 0xdd) or 0x90 <= b < 0xa0:
            for _ in range(n):
                item, rest = take(rest)
                items.append(item)
            return items, rest
        for _ in range(n):
            key, rest = take(rest)
            item, rest = take(rest)
            items.append((key, item))
        return dict(items), rest
    if b < 0xc0:
        return rest[:b & 31].decode(), rest[b & 31:]
    if b in (0xc2, 0xc3):
        return b == 0xc3, rest
    sizes = {0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd9: 1, 0xda: 2, 0xdb: 4,
             0xc4: 1, 0xc5: 2, 0xc6: 4}
    size = sizes[b]
    n, rest = int.from_bytes(rest[:size], "big"), rest[size:]
    if b >= 0xd9:
        return rest[:n].decode(), rest[n:]
    if b <= 0xc6:
        return rest[:n], rest[n:]
    return n, rest


def connect(port, host="127.0.0.1", mechanism=b"CURVE", seconds=60):
    s = socket.create_connection((host, port), seconds)
    s.sendall(greeting(mechanism))
    exactly(s, 64)
    return s


def exactly(s, n):
    out = b""
    while len(out) < n:
        try:
            got = s.recv(n - len(out))
        except ConnectionError:
            got = b""
        if not got:
            raise Closed
        out += got
    return out


def hello(server, public, secret, number=1):
    """The first command, and with another server's key a bad one."""
    nonce = struct.pack(">Q", number)
    body = b"\x05HELLO\x01\x00" + b"\0" * 72 + public + nonce + box(
        b"\0" * 64, b"CurveZMQHELLO---" + nonce, server, secret)
    return frame(body, 4)


class Client:
    def __init__(self, s, server, public, secret):
        self.s, self.server = s, server
        self.public, self.secret = public, secret
        self.short, self.short_secret = key_pair()
        self.number = 1
        self.theirs = None
        self.sent = b""  # of the handshake, to be said again

    def nonce(self):
        self.number += 1
        return struct.pack(">Q", self.number)

    def write(self, raw):
        self.sent += raw
        self.s.sendall(raw)

    def read_frame(self):
        flags = exactly(self.s, 1)[0]
        n = struct.unpack(">Q", exactly(self.s, 8))[0] if flags & 2 \
            else exactly(self.s, 1)[0]
        body = exactly(self.s, n)
        if flags & 4 and body.startswith(b"\x05ERROR"):
            raise Refused(body[7:].decode())
        return body

    def handshake(self, identity=b""):
        self.write(hello(self.server, self.short, self.short_secret))
        body = self.read_frame()
        assert body[:8] == b"\x07WELCOME", body[:8]
        inner = unbox(body[24:], b"WELCOME-" + body[8:24], self.server,
                      self.short_secret)
        self.theirs, cookie = inner[:32], inner[32:]
        random = os.urandom(16)
        vouch = random + box(self.short + self.server, b"VOUCH---" + random,
                             self.theirs, self.secret)
        data = b"\x0bSocket-Type\0\0\0\x06DEALER" + \
            b"\x08Identity" + struct.pack(">I", len(identity)) + identity
        nonce = self.nonce()
        self.write(frame(b"\x08INITIATE" + cookie + nonce + box(
            self.public + vouch + data, b"CurveZMQINITIATE" + nonce,
            self.theirs, self.short_secret), 4))
        body = self.read_frame()
        assert body[:6] == b"\x05READY", body[:6]
        unbox(body[14:], b"CurveZMQREADY---" + body[6:14], self.theirs,
              self.short_secret)
        return self

    def part(self, body, flags=0):
        nonce = self.nonce()
        return frame(b"\x07MESSAGE" + nonce + box(
            bytes([flags]) + body, b"CurveZMQMESSAGEC" + nonce, self.theirs,
            self.short_secret))

    def send(self, *parts):
        for i, p in enumerate(parts):
            self.s.sendall(self.part(p, 1 if i + 1 < len(parts) else 0))

    def recv(self):
        parts, more = [], True
        while more:
            body = self.read_frame()
            assert body[:8] == b"\x07MESSAGE", body[:8]
            inner = unbox(body[16:], b"CurveZMQMESSAGES" + body[8:16],
                          self.theirs, self.short_secret)
            if inner[0] & 2:
                continue  # PING and the like
            more = inner[0] & 1
            parts.append(inner[1:])
        return parts

    def ended(self):
        """Read until the other side has closed."""
        try:
            while True:
                self.read_frame()
        except (Closed, Refused):
            return True
        except socket.timeout:
            return False


def profile_of(start):
    """The hash that a host has to say: told by a real one, which start(endpoint)
    starts."""
    listen = socket.create_server(("127.0.0.1", 0))
    host = start("tcp://127.0.0.1:%d" % listen.getsockname()[1])
    s, _ = listen.accept()
    s.sendall(greeting(b"NULL"))
    exactly(s, 64)
    ready = b"\5READY\x0bSocket-Type\0\0\0\6ROUTER\x08Identity\0\0\0\0"
    s.sendall(frame(ready, 4))
    found, raw = None, b""
    s.settimeout(120)
    while not found:
        raw += s.recv(65536)
        found = re.search(rb"profile\xd9\x40([0-9a-f]{64})", raw)
    host.kill()
    host.wait()
    s.close()
    listen.close()
    return found.group(1).decode()
