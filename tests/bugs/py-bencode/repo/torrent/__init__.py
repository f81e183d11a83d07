from .bencode import BencodeError, decode, encode
from .meta import Meta, MetaError

__all__ = ["BencodeError", "Meta", "MetaError", "decode", "encode"]
