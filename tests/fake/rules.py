"""What the three APIs have in common: a refusal, a conversation as it was read
out of a request, what it cost, and how JSON is written.

An api module (chat, responses, messages) has
    NAME, LIST                     the key of the request that holds the turns
    check(req)                     Refused when the real server would refuse it
    read(req)                      -> Talk
    whole(x), events(x)            the reply to Exchange x, at once or streamed
    error(refused)                 its body
    error_event(kind, message)     an error in the middle of a stream
"""
import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, field

# The same in every process, so that what one server signed is good at the next
# one: `foray resume` asks again after a restart.
SECRET = b"tests/fake"


class Refused(Exception):
    """An error reply; kind, param and code as far as the API has them."""

    def __init__(self, status, message, kind="invalid_request_error",
                 param=None, code=None, headers=()):
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind
        self.param, self.code, self.headers = param, code, headers


@dataclass
class Talk:
    """A conversation: the prompt in the order in which a model reads it."""
    pieces: list                    # bytes: tools, system, then messages
    system: str = ""
    first: str = ""                 # user's text before any reply
    last: str = ""                  # text of the last message or result
    turn: int = 0                   # replies in it
    ids: list = field(default_factory=list)    # of its calls
    marks: list = field(default_factory=list)  # pieces with a cache breakpoint
    head: int = 0                   # pieces before the first message


@dataclass
class Usage:
    prompt: int = 0                 # the whole of it
    cached: int = 0                 # of prompt: read from the cache
    written: int = 0                # of prompt: written to the cache
    output: int = 0                 # reasoning included
    reasoning: int = 0


@dataclass
class Call:
    id: str
    name: str
    arguments: str                  # as the model wrote it


@dataclass
class Exchange:
    """A reply to be written down in one of the APIs."""
    req: dict
    text: str
    calls: list
    thinking: str
    redacted: str
    stop: str                       # see stop_word
    usage: Usage                    # None: left out
    ident: str                      # unique
    now: int
    rng: object                     # where text is cut into deltas
    reasoning_content: bool = False


def dump(value):
    """Compact JSON as the servers write it: UTF-8, but for lone surrogates."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def tokens(size):
    return size // 4


def sign(text):
    mac = hmac.new(SECRET, text.encode("utf-8", "surrogatepass"),
                   hashlib.sha256)
    return base64.b64encode(b"\x12" + mac.digest()).decode()


def seal(text):
    """Text that only unseal() reads; it can't be altered."""
    raw = text.encode("utf-8", "surrogatepass")
    mac = hmac.new(SECRET, b"sealed" + raw, hashlib.sha256).digest()
    return "gAAAAA" + base64.urlsafe_b64encode(mac + raw).decode()


def unseal(sealed):
    """The text, or None when it is not ours."""
    try:
        raw = base64.urlsafe_b64decode(sealed[6:].encode())
        text = raw[32:].decode("utf-8", "surrogatepass")
    except (ValueError, UnicodeError):
        return None
    return text if seal(text) == sealed else None


def cut(text, rng):
    """Text as the deltas of a stream."""
    most = 12 if len(text) < 2000 else len(text) // 100
    at = 0
    while at < len(text):
        end = at + rng.randint(1, most)
        yield text[at:end]
        at = end


def stop_word(x, words):
    """The API's word for why a reply ended; another word passes as it is."""
    return words.get(x.stop or ("calls" if x.calls else "end"), x.stop)


def text_of(content, *types):
    """Text of a message's content: a string or parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or []
                     if part.get("type") in types)


def opening(texts):
    """What the user says before any reply; texts: (role, text) in order."""
    said = []
    for role, text in texts:
        if role == "assistant":
            break
        if role == "user":
            said.append(text)
    return "\n\n".join(said)
