"""What was asked and answered: a record a request, and sums.

A record:
    request          its number; seq without holes over model requests
    api, path, model, status, fault, error, accepted (a whole, unspoilt reply)
    header_names, auth ("right", "wrong", "missing")
    conversation, turn, script; continues: the body begins with the body of the
                     conversation's request before, up to its last message
                     (None: there was none)
    usage            {prompt, cached, written, output, reasoning}
    prompt_bytes, prefix_bytes (of it: some earlier request began so; whole
                     messages), new_bytes (the rest)
    sha256, bytes_in, bytes_out, connection, in_flight (at its start)
    start, seconds   since the server began
"""
import hashlib
import json
import os

import cache
from rules import dump

DECODER = json.JSONDecoder()
SPACE = " \t\r\n,:"
USAGE = ("prompt", "cached", "written", "output", "reasoning")
ADDED = ("prompt_bytes", "prefix_bytes", "new_bytes", "bytes_in", "bytes_out")


def skip(text, at):
    while text[at] in SPACE:
        at += 1
    return at


def last_element(text, key):
    """Where in a JSON object's text the last element of that list begins, or
    the value itself when it is no list."""
    at = skip(text, text.index("{") + 1)
    while text[at] != "}":
        name, at = DECODER.raw_decode(text, at)
        at = start = skip(text, at)
        if name == key:
            return last_in_list(text, start)
        at = skip(text, DECODER.raw_decode(text, at)[1])
    return 0


def last_in_list(text, start):
    if text[start] != "[":
        return start
    at = last = skip(text, start + 1)
    while text[at] != "]":
        last = at
        at = skip(text, DECODER.raw_decode(text, at)[1])
    return last


class Stats:
    def __init__(self, log=None):
        self.records, self.log = [], log
        self.sums = {"requests": 0, "accepted": 0, "refused": 0, "faults": {},
                     "statuses": {}, "connections": 0, "max_in_flight": 0,
                     "continued": 0, "not_continued": 0}
        self.sums.update(dict.fromkeys(USAGE + ADDED, 0))
        self.heads = {}         # (conversation, turn): (bytes, digest)
        self.prefixes = set()
        self.in_flight = 0

    # -- as a request is read

    def repetition(self, record, talk):
        """How much of this prompt an earlier one began with."""
        chain = cache.chain(talk.pieces)
        known = [size for digest, size in chain if digest in self.prefixes]
        record["prompt_bytes"] = chain[-1][1]
        record["prefix_bytes"] = known[-1] if known else 0
        record["new_bytes"] = chain[-1][1] - record["prefix_bytes"]
        self.prefixes.update(digest for digest, _ in chain)

    def continuation(self, record, body, text, key):
        where = record["conversation"]
        before = [t for c, t in self.heads if c == where and
                  t < record["turn"]]
        record["continues"] = None
        if before:
            size, digest = self.heads[where, max(before)]
            record["continues"] = digest == sha256(body[:size])
        head = text[:last_element(text, key)].encode()
        self.heads[where, record["turn"]] = (len(head), sha256(head))

    # -- as it ends

    def add(self, record):
        self.records.append(record)
        if self.log:
            self.log.write(dump(record).decode() + "\n")
            self.log.flush()
        sums = self.sums
        count(sums["statuses"], record["status"])
        for key in ("bytes_in", "bytes_out"):
            sums[key] += record[key]
        if "api" not in record:
            return
        sums["requests"] += 1
        if record["fault"]:
            count(sums["faults"], record["fault"])
        if record["status"] != 200:
            sums["refused"] += 1
        if record["accepted"]:
            self.add_accepted(record)

    def add_accepted(self, record):
        sums = self.sums
        sums["accepted"] += 1
        for key in USAGE:
            sums[key] += record["usage"][key]
        for key in ("prompt_bytes", "prefix_bytes", "new_bytes"):
            sums[key] += record[key]
        if record["continues"] is not None:
            sums["continued" if record["continues"] else "not_continued"] += 1

    def entered(self):
        self.in_flight += 1
        self.sums["max_in_flight"] = max(self.sums["max_in_flight"],
                                         self.in_flight)
        return self.in_flight


def count(where, key):
    key = str(key)
    where[key] = where.get(key, 0) + 1


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Bodies:
    """The last so many request bodies, one file each."""

    def __init__(self, folder, number):
        self.folder, self.number, self.names = folder, number, []
        os.makedirs(folder, exist_ok=True)

    def keep(self, number, body):
        path = os.path.join(self.folder, "%06d.json" % number)
        with open(path, "wb") as f:
            f.write(body)
        self.names.append(path)
        if len(self.names) > self.number:
            os.unlink(self.names.pop(0))
