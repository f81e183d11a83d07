"""A TCP relay that is as bad as a network can be.

    r = Relay(("10.1.1.1", 0), ("127.0.0.1", port))     # r.port
    r.cut()             ends what is there; new connections come through
    r.mode = "refuse"   new ones are ended at once (cut() ends the others)
    r.mode = "swallow"  half-open: accepted, read, and nothing comes out; no FIN
    r.mode = "hold"     nothing is read: what is sent arrives after "pass"
    r.mode = "pass"     healed; connections that lost bytes are ended first
    r.delay = 0.1       seconds, each way
    r.close()

One thread serves all of one relay.
"""
import collections
import selectors
import socket
import threading
import time

BITE = 1 << 16
QUEUE = 1 << 20  # bytes of one way; more is not read
STEP = 0.005     # s, while something waits for its time


class Way:
    """From one socket to the other: what is on its way."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.waiting = collections.deque()  # (when, bytes)
        self.size = 0


class Pair:
    def __init__(self, a, b):
        self.ends = (a, b)
        self.ways = [Way(a, b), Way(b, a)]
        self.lossy = False


class Relay:
    def __init__(self, at, to):
        self.to, self.mode, self.delay = to, "pass", 0.0
        self.pairs, self.wish_cut, self.ended = [], False, False
        self.seen = 0       # connections
        self.listen = socket.create_server(at)
        self.port = self.listen.getsockname()[1]
        self.listen.setblocking(False)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def cut(self):
        self.wish_cut = True
        while self.wish_cut and self.thread.is_alive():
            time.sleep(STEP)

    def close(self):
        self.ended = True
        self.thread.join()

    # ------------------------------------------------------------ the thread

    def serve(self):
        while not self.ended:
            if self.wish_cut:
                self.end_all(self.pairs)
                self.wish_cut = False
            if self.mode == "pass":
                self.end_all([p for p in self.pairs if p.lossy])
            self.turn()
        self.end_all(self.pairs)
        self.listen.close()

    def end_all(self, pairs):
        for pair in list(pairs):
            self.pairs.remove(pair)
            for s in pair.ends:
                s.close()

    def turn(self):
        """One round: take what is there, write what is due."""
        with selectors.DefaultSelector() as sel:
            sel.register(self.listen, selectors.EVENT_READ)
            for pair in self.pairs:
                self.register(sel, pair)
            busy = any(w.waiting for p in self.pairs for w in p.ways)
            for key, events in sel.select(STEP if busy else 0.02):
                if key.fileobj is self.listen:
                    self.accept()
                elif events & selectors.EVENT_READ and key.data in self.pairs:
                    self.read(key.data, key.fileobj)
        for pair in list(self.pairs):
            if self.mode != "hold" and not self.write(pair):
                self.end_all([pair])

    def register(self, sel, pair):
        if self.mode == "hold":
            return
        for way in pair.ways:
            if way.size < QUEUE:
                sel.register(way.source, selectors.EVENT_READ, pair)

    def accept(self):
        try:
            a, _ = self.listen.accept()
        except OSError:
            return
        self.seen += 1
        if self.mode == "refuse":
            a.close()
            return
        try:
            b = socket.create_connection(self.to, 5)
        except OSError:
            a.close()
            return
        for s in (a, b):
            s.setblocking(False)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pairs.append(Pair(a, b))

    def read(self, pair, source):
        way = next(w for w in pair.ways if w.source is source)
        try:
            part = source.recv(BITE)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        if self.mode == "swallow":
            pair.lossy = True
            if not part:
                way.size = QUEUE    # nobody learns of its end
            return
        if not part:
            way.waiting.append((time.monotonic() + self.delay, None))
            way.size = QUEUE
            return
        way.waiting.append((time.monotonic() + self.delay, part))
        way.size += len(part)

    def write(self, pair):
        """False: one side has ended."""
        if self.mode == "swallow":
            return True
        for way in pair.ways:
            while way.waiting and way.waiting[0][0] <= time.monotonic():
                when, part = way.waiting.popleft()
                if part is None:
                    return False
                try:
                    sent = way.sink.send(part)
                except BlockingIOError:
                    sent = 0
                except OSError:
                    return False
                way.size -= sent
                if sent < len(part):
                    way.waiting.appendleft((when, part[sent:]))
                    break
        return True
