r"""The script: what the model says.

    {"turns": [TURN...]}                            one for every conversation
    {"scripts": [{"match": REGEX, "turns": [...]}]} the first that matches
                                                    system + "\n" + what the
                                                    user says before any reply; "turns" beside it
                                                    is for all others
    "on": "system" | "user"     match in this alone
    "name": TEXT                of a script, for the record
    "vars": {NAME: REGEX | {"from": "first"|"system"|"last", "regex": REGEX}}
                                {{NAME}} in any text of a turn is group 1 (or
                                all) of what is found; named groups of "match"
                                count, too; also {{turn}} {{request}}
                                {{conversation}} {{model}} {{last}} (the whole
                                text of the last result or message). Beside
                                "scripts" they are for all of them.
    "end": TURN                 after the last one; default: says "Done."
    "turn_by": "count" (default: replies in the history) | "last_id" (the turn
                                in the last call's id, which also works when
                                earlier ones were dropped)

A turn, all of it optional:

    "text": TEXT
    "calls": [{"name", "arguments": {} | "raw": TEXT, "id": TEXT}]
                                raw: arguments as they are, malformed as well
    "thinking": TEXT, "redacted": TEXT      reasoning
    "stop": "length" | "filter" | "pause" | the API's own word
    "usage": null (left out) | "zero" | {"prompt", "cached", "written",
                                "output", "reasoning"} (instead)
    "repeat": N | "forever"
    "latency": MS before the reply, "pace": MS between its events
    "times": N                  (1) the first N requests of this turn get what
                                is below, later ones the turn itself:
    "fault": KIND               see faults.py
    "status": N, "headers": {}, "body": TEXT | JSON (none: the API's error)

Of the server (the options say the same): "window" and "max_output" in tokens;
"models": [NAME...], others are 404; "refuse": [PARAMETER...] that this model
doesn't know; "allow": [PARAMETER...] that the real one doesn't;
"reasoning_content": true, Chat Completions show reasoning as DeepSeek does.
"""
import json
import re

from rules import Call

OUR_ID = re.compile(r"(?:call|toolu)_([0-9a-f]{8}_\d+)_(\d+)_\d+[tn]?\Z")
END = {"text": "Done."}
TURN_KEYS = {"text", "calls", "thinking", "redacted", "stop", "usage",
             "repeat", "latency", "pace", "times", "fault", "status",
             "headers", "body"}
FOREVER = 1 << 40


class ScriptError(Exception):
    pass


class Role:
    """One list of turns and whom it is for."""

    def __init__(self, spec, name, shared):
        self.name = spec.get("name", name)
        self.match = re.compile(spec.get("match", ""), re.M | re.S)
        self.on = spec.get("on")
        self.vars = dict(shared, **spec.get("vars", {}))
        self.turns = spec.get("turns", [])
        self.end = spec.get("end", END)
        self.by_id = spec.get("turn_by") == "last_id"
        for turn in self.turns + [self.end]:
            unknown = set(turn) - TURN_KEYS
            if unknown:
                raise ScriptError("unknown in a turn: %s" % ", ".join(unknown))

    def fits(self, talk):
        return self.match.search(
            {"system": talk.system, "user": talk.first}.get(
                self.on, talk.system + "\n" + talk.first))

    def number(self, talk):
        ours = OUR_ID.match(talk.ids[-1]) if self.by_id and talk.ids else None
        return int(ours[2]) + 1 if ours else talk.turn

    def turn(self, number):
        for turn in self.turns:
            times = turn.get("repeat", 1)
            times = FOREVER if times == "forever" else times
            if number < times:
                return turn
            number -= times
        return self.end


class Script:
    def __init__(self, spec):
        self.spec = spec
        shared = spec.get("vars", {})
        self.roles = [Role(s, "script %d" % i, shared)
                      for i, s in enumerate(spec.get("scripts", []))]
        if "turns" in spec:
            self.roles.append(Role(spec, "all", shared))

    def find(self, talk):
        for role in self.roles:
            found = role.fits(talk)
            if found:
                return role, found
        raise ScriptError("no script matches this conversation")


def load(path):
    with open(path, encoding="utf-8") as f:
        return Script(json.load(f))


def values(role, found, talk, more):
    """What {{name}} stands for."""
    known = dict(more, last=talk.last)
    known.update({k: v or "" for k, v in found.groupdict().items()})
    for name, how in role.vars.items():
        how = {"from": "first", "regex": how} if isinstance(how, str) else how
        m = re.search(how["regex"], getattr(talk, how["from"]), re.M | re.S)
        known[name] = (m[1] if m.re.groups else m[0]) if m else ""
    return known


def fill(value, known):
    """The value with {{name}} replaced in every string of it."""
    if isinstance(value, str):
        return re.sub(r"\{\{(\w+)\}\}", lambda m: lookup(m[1], known), value)
    if isinstance(value, list):
        return [fill(v, known) for v in value]
    if isinstance(value, dict):
        return {k: fill(v, known) for k, v in value.items()}
    return value


def lookup(name, known):
    if name not in known:
        raise ScriptError("the script has no {{%s}}" % name)
    return str(known[name])


def calls(turn, prefix, ident, flag):
    """The turn's calls; their ids tell conversation and turn (OUR_ID)."""
    made = []
    for i, call in enumerate(turn.get("calls") or []):
        text = call.get("raw")
        if text is None:
            text = json.dumps(call.get("arguments", {}), ensure_ascii=False)
        made.append(Call(call.get("id", "%s_%s_%d%s" % (prefix, ident, i,
                                                        flag)),
                         call["name"], text))
    return made
