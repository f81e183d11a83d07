"""HTTP/1.1 and server-sent events, well-behaved or (mode "hostile") as odd as
the standards allow.

How a body is cut into HTTP chunks:
    event    one event a chunk, as the providers do
    whole    all of it in one chunk
    byte     one byte a chunk
    random   pieces of 1 to 64 bytes
    hostile  small pieces, chunk extensions, leading zeros, a trailer, writes
             that end anywhere; events with comments, any line ending, a
             byte-order mark, data over two lines
"""
import asyncio
import socket
import struct

from rules import dump

MODES = ("event", "whole", "byte", "random", "hostile")
SMALL = (1, 1, 2, 3, 5, 17, 200)


class BadRequest(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Request:
    def __init__(self, method, target, headers):
        self.method, self.path = method, target.split("?")[0]
        self.headers = headers      # {lower-case name: value}
        self.body = b""
        self.size = 0               # of all of it

    @property
    def keep_alive(self):
        return self.headers.get("connection", "").lower() != "close"


async def read_request(reader, writer, most):
    """The next Request, or None at the connection's end."""
    head = await reader.read(1)
    if not head:
        return None
    head += await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    try:
        method, target, version = lines[0].split(" ")
        headers = {k.strip().lower(): v.strip() for k, v in
                   (line.split(":", 1) for line in lines[1:] if line)}
    except ValueError:
        raise BadRequest(400, "malformed request") from None
    request = Request(method, target, headers)
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.body = await read_body(reader, headers, most)
    request.size = len(head) + len(request.body)
    return request


async def read_body(reader, headers, most):
    if "chunked" in headers.get("transfer-encoding", ""):
        return await read_chunks(reader, most)
    try:
        size = int(headers.get("content-length", 0))
    except ValueError:
        raise BadRequest(400, "malformed Content-Length") from None
    if size > most:
        raise BadRequest(413, "Request exceeds the maximum allowed number of "
                         "bytes.")
    return await reader.readexactly(size)


async def read_chunks(reader, most):
    body = bytearray()
    while True:
        try:
            size = int((await reader.readline()).split(b";")[0], 16)
        except ValueError:
            raise BadRequest(400, "malformed chunk") from None
        if len(body) + size > most:
            raise BadRequest(413, "Request exceeds the maximum allowed number "
                             "of bytes.")
        body += await reader.readexactly(size)
        await reader.readline()
        if not size:
            return bytes(body)


# ------------------------------------------------------------------- events


def frame(name, data, odd=None):
    """An event's bytes; odd: a random source, for unusual ones."""
    data = data.encode() if isinstance(data, str) else dump(data)
    if odd:
        return odd_frame(name, data, odd)
    head = b"event: %s\n" % name.encode() if name else b""
    return head + b"data: " + data + b"\n\n"


def odd_frame(name, data, odd):
    # One ending throughout an event: CR before a line that begins with LF
    # would be one line end, not two.
    end = odd.choice((b"\n", b"\r\n", b"\r"))
    space = odd.choice((b"", b" "))
    lines = [b": keep-alive"] * odd.randint(0, 2)
    if odd.random() < 0.2:
        lines.append(odd.choice((b"retry: 10", b"id: 7", b"unknown: x", b"id")))
    if name:
        lines.append(b"event:" + space + name.encode())
    if data.startswith(b"{") and odd.random() < 0.5:
        lines.append(b"data:" + space + b"{")   # joined by LF: still JSON
        data = data[1:]
    lines.append(b"data:" + space + data)
    return end.join(lines) + end + end


def frames(events, mode, rng):
    odd = rng if mode == "hostile" else None
    made = [frame(name, data, odd) for name, data in events]
    if odd and made and odd.random() < 0.5:
        made[0] = b"\xef\xbb\xbf" + made[0]
    return made


# ------------------------------------------------------------------ replies


class Reply:
    """Writes one reply and counts its bytes."""

    def __init__(self, reader, writer, mode, rng):
        self.reader, self.writer, self.rng = reader, writer, rng
        self.mode, self.bytes = mode, 0
        self.closed = False         # by us: no further request

    async def put(self, data):
        self.bytes += len(data)
        self.writer.write(data)
        await self.writer.drain()

    def head(self, status, headers):
        lines = ["HTTP/1.1 %d %s" % (status, "OK" if status == 200 else "X")]
        lines += ["%s: %s" % pair for pair in headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    async def body(self, status, headers, data, ending="whole", stall=0):
        """All at once, with its length; another ending breaks off halfway."""
        size = [("Content-Length", len(data))]
        if ending != "whole":
            data = data[:len(data) // 2]
        await self.put(self.head(status, list(headers) + size) + data)
        await self.end(ending, stall)

    async def stream(self, headers, blocks, pace=0, ending="whole", stall=0):
        """Events, chunked; ending: whole, cut, reset or stall."""
        headers = [("Content-Type", "text/event-stream; charset=utf-8"),
                   ("Cache-Control", "no-cache"),
                   ("Transfer-Encoding", "chunked")] + list(headers)
        await self.put(self.head(200, headers))
        if self.mode == "whole" and not pace:
            blocks = [b"".join(blocks)]
        for block in blocks:
            await self.write(b"".join(self.chunks(block)))
            if pace:
                await asyncio.sleep(pace / 1000)
        if ending == "whole":
            await self.write(b"000;last\r\nX-Trailer: 1\r\n\r\n"
                             if self.mode == "hostile" else b"0\r\n\r\n")
        await self.end(ending, stall)

    def chunks(self, data):
        odd = self.mode == "hostile"
        at = 0
        while at < len(data):
            end = at + self.size(len(data))
            piece = data[at:end]
            size = b"%X" % len(piece)
            if odd:
                size = b"0" * self.rng.randint(0, 2) + size.lower()
                size += self.rng.choice((b"", b"", b";x=y"))
            yield size + b"\r\n" + piece + b"\r\n"
            at = end

    def size(self, whole):
        if whole > 1 << 20:         # an overlong one: its bytes are the point
            return 1 << 16
        return {"byte": 1, "random": self.rng.randint(1, 64),
                "hostile": self.rng.choice(SMALL)}.get(self.mode, whole)

    async def write(self, data):
        if self.mode != "hostile" or len(data) > 1 << 20:
            return await self.put(data)
        at = 0
        while at < len(data):
            end = at + self.rng.choice((7, 100, 1000, 5000))
            await self.put(data[at:end])
            at = end
            if at < len(data):      # the last one ends the request
                await asyncio.sleep(0)

    async def end(self, ending, stall):
        if ending == "stall":
            try:                    # until the client leaves, too
                await asyncio.wait_for(self.reader.read(1), stall)
            except asyncio.TimeoutError:
                pass
        if ending == "reset":
            self.reset()
        self.closed = self.closed or ending != "whole"

    def reset(self):
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        self.closed = True
