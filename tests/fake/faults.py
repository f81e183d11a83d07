"""What goes wrong, by kind.

Instead of a reply:
    429 529 500 503   the API's error (OpenAI has no 529: 503)
    quota             429 that no waiting helps against
    html502           a proxy's page
    reset close       the connection ends without a byte
In a reply (of a stream; a plain body is broken likewise):
    cut               ends halfway, the last chunk is missing
    truncated         ends halfway, properly for HTTP
    resetmid          reset halfway
    stall             stops halfway and stays open
    nodone            all but the last event
    empty             no event at all
    badjson           an event that is no JSON
    wrongtype         a value of another type than it has to be
    overlong          an event of so many bytes (--overlong)
    flood             text of so many bytes, in many events
    errevent          an error event halfway
    nostream          JSON although a stream was asked for
"""
import random

from rules import Refused

INSTEAD = {
    "429": (429, "rate_limit_error", "rate_limit_exceeded",
            "Rate limit reached for requests. Please try again later."),
    "529": (529, "overloaded_error", None, "Overloaded"),
    "500": (500, "api_error", None, "Internal server error"),
    "503": (503, "overloaded_error", None, "The server is overloaded or not "
            "ready yet."),
    "quota": (429, "insufficient_quota", "insufficient_quota",
              "You exceeded your current quota, please check your plan and "
              "billing details."),
}
ENDINGS = {"cut": "cut", "truncated": "whole", "resetmid": "reset",
           "stall": "stall"}
HALVED = set(ENDINGS) | {"errevent"}
KINDS = set(INSTEAD) | HALVED | {
    "html502", "reset", "close", "nodone", "empty", "badjson", "wrongtype",
    "overlong", "flood", "nostream"}
HTML = b"""<html>\r
<head><title>502 Bad Gateway</title></head>\r
<body>\r
<center><h1>502 Bad Gateway</h1></center>\r
<hr><center>cloudflare</center>\r
</body>\r
</html>\r
"""
BROKEN = '{"id":"x","choices":[{"delta":{"content":"abc'
# Without these an event can't be understood.
VITAL = ("choices", "delta", "tool_calls", "function", "arguments", "content",
         "item", "response", "content_block", "message", "partial_json",
         "text", "usage", "index", "output_index")
VALUES = (None, 7, -1, "x", [], {}, True, 1e300, [{}], {"a": 1})


def parse(spec):
    """[(kind, probability)] of 'kind:probability,...'"""
    found = []
    for word in filter(None, (spec or "").split(",")):
        kind, _, share = word.partition(":")
        if kind not in KINDS:
            raise ValueError("no such fault: %s; there are %s" %
                             (kind, ", ".join(sorted(KINDS))))
        found.append((kind, float(share or 1)))
    return found


def draw(faults, seed, number):
    """The kind for the request of that number, or None."""
    x = random.Random("%s/%d" % (seed, number)).random()
    for kind, share in faults:
        if x < share:
            return kind
        x -= share
    return None


def refusal(kind, api, retry_after):
    """The error reply of an INSTEAD kind."""
    status, type_, code, message = INSTEAD[kind]
    if api.NAME != "anthropic":
        status = 503 if status == 529 else status
        type_ = {"rate_limit_error": "requests",
                 "insufficient_quota": "insufficient_quota"}.get(
                     type_, "server_error")
    elif kind == "quota":
        type_ = "rate_limit_error"
    headers = [("Retry-After", retry_after)] if kind == "429" and \
        retry_after is not None else []
    return Refused(status, message, type_, code=code, headers=headers)


def spoil(kind, events, api, rng, overlong):
    """The events of a stream with that fault in them."""
    if kind in HALVED:
        events = events[:max(1, len(events) // 2)]
    if kind == "errevent":
        events.append(api.error_event(
            "overloaded_error" if api.NAME == "anthropic" else "server_error",
            "Overloaded"))
    elif kind == "nodone":
        events = events[:-1]
    elif kind == "empty":
        events = []
    elif kind == "badjson":
        middle = len(events) // 2
        events[middle] = (events[middle][0], BROKEN)
    elif kind == "overlong":
        events.insert(len(events) // 2, (None, {"pad": "x" * overlong}))
    elif kind == "wrongtype":
        events = [(name, retype(data, rng)) for name, data in events]
    return events


def retype(data, rng):
    """A copy in which one vital value has another type."""
    if not isinstance(data, dict):
        return data
    places = list(vital(data))
    if not places:
        return data
    spot = rng.choice(places)
    old = spot[0][spot[1]]
    return replaced(data, spot, rng.choice(
        [v for v in VALUES if type(v) is not type(old)]))


def vital(value):
    """(container, key) of all that is vital in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, sub in items:
        if key in VITAL:
            yield value, key
        if isinstance(sub, (dict, list)):
            yield from vital(sub)


def replaced(value, spot, new):
    if isinstance(value, dict):
        return {k: new if (value is spot[0] and k == spot[1]) else
                replaced(v, spot, new) for k, v in value.items()}
    if isinstance(value, list):
        return [replaced(v, spot, new) for v in value]
    return value
