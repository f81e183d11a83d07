"""What a metainfo file says of the files."""

import hashlib

from .bencode import decode, encode

DIGEST = 20


class MetaError(ValueError):
    pass


class Meta:
    def __init__(self, data):
        top = decode(data)
        if not isinstance(top, dict) or b"info" not in top:
            raise MetaError("no info")
        self.info = top[b"info"]
        self.piece = self.info[b"piece length"]
        self.size = sum(length for _, length in self.files())
        pieces = self.info[b"pieces"]
        if len(pieces) % DIGEST:
            raise MetaError("a digest is cut off")
        if len(pieces) // DIGEST != self.count():
            raise MetaError("wrong number of pieces")

    def digest(self):
        return hashlib.sha1(encode(self.info)).hexdigest()

    def files(self):
        name = self.info[b"name"].decode()
        if b"files" not in self.info:
            return [(name, self.info[b"length"])]
        return [("/".join([name] + [p.decode() for p in file[b"path"]]),
                 file[b"length"]) for file in self.info[b"files"]]

    def count(self):
        return -(-self.size // self.piece)
