#!/usr/bin/env python3
"""Put the table of messages.def into foray-proto.7, between its markers.

With --check nothing is written: exit status 1 when the page is out of date.
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEF = ROOT / "proto/messages.def"
PAGE = ROOT / "proto/foray-proto.7"
BEGIN = '.\\" BEGIN of what tests/lint/proto_doc.py makes from messages.def\n'
END = '.\\" END\n'
ROLES = {"HOST": "host", "ORCH": "orchestrator", "WORKER": "worker"}


def calls(text):
    """Every MACRO(args) of the list, arguments split, strings unquoted."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    text = re.sub(r'"\s*"', "", text)  # a string in several pieces
    pattern = r'\b(MSG|END|U64|BOOL|STR|BIN|STRS)\s*\(((?:"[^"]*"|[^")])*)\)'
    for name, args in re.findall(pattern, text):
        yield name, [
            a.strip().strip('"')
            for a in re.findall(r'\s*("[^"]*"|[^",]+)\s*,?', args)
        ]


def size(n):
    """A number of bytes as a person writes it."""
    n = int(n)
    if n >= 1 << 20 and n % (1 << 20) == 0:
        return f"{n >> 20} MiB"
    if n >= 1 << 10 and n % (1 << 10) == 0:
        return f"{n >> 10} KiB"
    return f"{n} bytes"


def lines(text):
    """Text as lines of roff that no macro begins."""
    text = text.replace("\\", "\\e")
    for line in textwrap.wrap(text, 76, break_long_words=False,
                              break_on_hyphens=False):
        yield ("\\&" if line[0] in ".'" else "") + line


def kind(macro, args):
    if macro == "U64":
        return f"Unsigned integer, {args[0]} to {args[1]}"
    if macro == "BOOL":
        return "Boolean"
    if macro == "STR":
        return f"String, up to {size(args[0])}"
    if macro == "BIN":
        return f"Binary, up to {size(args[0])}"
    return f"Array of up to {args[0]} strings, each up to {size(args[1])}"


def table(text):
    out = []
    fields = 0
    for macro, args in calls(text):
        if macro == "MSG":
            name, _, number, sender, receiver, doc = args
            out.append(f".Ss {name}")
            out += lines(f"Number {number}, {ROLES[sender]} to "
                         f"{ROLES[receiver]}: {doc}.")
            fields = 0
        elif macro == "END":
            out.append(".El" if fields else "It has no fields.")
        else:
            _, field, req, *rest, doc = args
            if fields == 0:
                out.append('.Bl -tag -width "slowest_ms"')
            fields += 1
            out.append(f".It Va {field}")
            required = ", required" if req == "REQ" else ""
            out += lines(f"{kind(macro, rest)}{required}:")
            out += lines(f"{doc}.")
    return "\n".join(out) + "\n"


def main():
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    tail = rest.split(END, 1)[1]
    want = head + BEGIN + table(DEF.read_text()) + END + tail
    if sys.argv[1:] == ["--check"]:
        if page != want:
            sys.exit(f"{PAGE.relative_to(ROOT)} is out of date: "
                     "run tests/lint/proto_doc.py")
    elif sys.argv[1:]:
        sys.exit("usage: proto_doc.py [--check]")
    elif page != want:
        PAGE.write_text(want)


main()
