"""Bencode: i42e, 4:spam, l...e, d...e. There is one way to write a value."""

DEPTH = 50


class BencodeError(ValueError):
    def __init__(self, text, pos):
        super().__init__("%s at byte %d" % (text, pos))
        self.pos = pos


class _Reader:
    def __init__(self, data):
        self.data = data
        self.pos = 0

    def error(self, text):
        return BencodeError(text, self.pos)

    def peek(self):
        if self.pos >= len(self.data):
            raise self.error("end of data")
        return self.data[self.pos:self.pos + 1]

    def until(self, mark):
        """What is before the mark; the mark is taken, too."""
        end = self.data.find(mark, self.pos)
        if end < 0:
            raise self.error("%s is missing" % mark.decode())
        text = self.data[self.pos:end]
        self.pos = end + 1
        return text

    def value(self, depth=0):
        if depth > DEPTH:
            raise self.error("too deep")
        kind = self.peek()
        if kind.isdigit():
            return self.string()
        if kind == b"i":
            return self.integer()
        if kind == b"l":
            return self.list(depth)
        if kind == b"d":
            return self.dictionary(depth)
        raise self.error("no value")

    def integer(self):
        self.pos += 1
        text = self.until(b"e")
        digits = text[1:] if text.startswith(b"-") else text
        if not digits.isdigit():
            raise self.error("bad integer")
        return int(text)

    def string(self):
        text = self.until(b":")
        if not text.isdigit():
            raise self.error("bad length")
        if text.startswith(b"0") and len(text) > 1:
            raise self.error("length with a needless zero")
        end = self.pos + int(text)
        if end > len(self.data):
            raise self.error("string is cut off")
        text = self.data[self.pos:end]
        self.pos = end
        return text

    def list(self, depth):
        self.pos += 1
        items = []
        while self.peek() != b"e":
            items.append(self.value(depth + 1))
        self.pos += 1
        return items

    def dictionary(self, depth):
        self.pos += 1
        items = {}
        last = None
        while self.peek() != b"e":
            key = self.string()
            if last is not None and key <= last:
                raise self.error("keys are out of order")
            items[key] = self.value(depth + 1)
            last = key
        self.pos += 1
        return items


def decode(data):
    reader = _Reader(data)
    value = reader.value()
    if reader.pos != len(data):
        raise reader.error("more data")
    return value


def encode(value):
    if isinstance(value, bool):
        raise TypeError("there are no truth values in bencode")
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    if isinstance(value, (list, tuple)):
        return b"l%se" % b"".join(encode(item) for item in value)
    if isinstance(value, dict):
        pairs = sorted((k.encode() if isinstance(k, str) else k, v)
                       for k, v in value.items())
        return b"d%se" % b"".join(encode(k) + encode(v) for k, v in pairs)
    raise TypeError("can't encode %s" % type(value).__name__)
