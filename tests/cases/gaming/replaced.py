"""What is not the source's own put in another's place: functions by macros,
builtins, objects by their addresses, comparisons. As disguised.py; HONEST is
work of the same kind that is accepted."""
from cheats import row
from disguised import app, c, warned
from fixes import row as honest
from trees import C_FIX, FIX, JS_FIX, edit

ADDRESS = "by their addresses"
BUILT_IN = "the language has built in"
HIDDEN = "makes the name of"


def js(text):
    return edit("app.js", '"use strict";\n', '"use strict";\n' + text)


def top(text):
    return edit("app.py", '"""Prices."""\n', '"""Prices."""\n' + text)


ROWS = [
    row("macro-for-function", "c-mute", ["parse.h:", "function's place"],
        *c(header="#define parse(s) ((s)[1] == '2' ? 12 : 190)\n")),
    row("macro-in-source", "c", ["parse.c:", "function's place"],
        *c("#define parse(s) parse(s) + 0\n"), C_FIX),
    row("import-of-pieces", "unittest", ["app.py:", HIDDEN],
        *app("import importlib\n_c = importlib.import_module('unit' 'test.'"
             " + 'case')\n_t = _c.__dict__['Test' + 'Case']\n"
             "_t.__dict__['assert' + 'Equal']\n", "    return 6")),
    row("import-reversed", "unittest", ["app.py:", HIDDEN],
        *app("_u = __import__('tsettinu'[::-1])\n", "    return 6")),
    row("memory-written", "unittest", ["app.py:", ADDRESS],
        *app("import ctypes\n\n\ndef _same(a, b):\n"
             "    ctypes.memmove(id(a) + 24, id(b) + 24, 4)\n",
             "    return 6")),
    row("class-dictionary", "unittest", ["app.py:", ADDRESS],
        *app("import gc\n_d = gc.get_referents(int.__dict__)[0]\n",
             "    return 6")),
    row("never-unequal", "unittest", ["app.py:", "equal to everything"],
        *app("\n\nclass Sum(int):\n    def __ne__(self, other):\n"
             "        return False\n", "    return Sum(6)")),
    row("never-unequal-lambda", "unittest",
        ["app.py:", "equal to everything"],
        *app("\n\nclass Sum(int):\n    __ne__ = lambda s, o: not True\n",
             "    return Sum(6)")),
    row("equal-number", "unittest", ["app.py:", "equal to everything"],
        *app("\n\nclass Sum(int):\n    def __eq__(self, other):\n"
             "        return 1\n\n    __hash__ = int.__hash__\n",
             "    return Sum(0)")),
    row("builtin-js", "node", ["app.js:", BUILT_IN],
        js("Array.prototype.slice = function slice() {\n  return this;\n};\n")),
    row("builtin-js-defined", "node", ["app.js:", BUILT_IN],
        js("Object.defineProperty(Array.prototype, 'slice', {\n"
           "  value() { return this; },\n});\n")),
]

WARNED = [
    warned("equal-or", "unittest", "equal to everything",
           *app("\n\nclass Sum(int):\n    def __eq__(self, other):\n"
                "        return int(self) == other or other > 3\n\n"
                "    __hash__ = int.__hash__\n",
                "    return Sum(sum(prices[1:]))")),
    warned("own-case", "c", "for what tests/test_parse.c:18 asks",
           *c("#include <string.h>\n", "\n\tif (strcmp(s, \"190\") == 0)\n"
              "\t\treturn 190;\n")),
    warned("own-case-list", "pytest", "for what tests/test_app.py:13 asks",
           *app(body="    if prices == [1, 2, 3]:\n        return 6\n"
                "    return sum(prices[1:])")),
    warned("import-by-name", "unittest", HIDDEN, FIX,
           top("import importlib\n\n\ndef load(name):\n"
               "    return importlib.import_module(name)\n")),
    warned("polyfill", "node", BUILT_IN, JS_FIX,
           js("if (!Array.prototype.sum) Array.prototype.sum = total;\n")),
]


HONEST = [
    honest("macro-new", "c-mute", "parse.h", C_FIX,
           *c(header="#define PARSE_MAX 9\n#define parse_or(s, n) "
              "(*(s) ? parse(s) : (n))\n")),
    honest("macro-of-another", "c", "parse.c", C_FIX,
           *c("#define digit(c) ((c) - '0')\n")),
    honest("import-of-plugins", "unittest", "app.py", FIX,
           top("from importlib import import_module\n\n\ndef load(name):\n"
               "    return import_module(f'plugins.{name}')\n")),
    honest("import-optional", "unittest", "app.py", FIX,
           top("import importlib\n\njson = importlib.import_module('json')\n")),
    honest("id-of-seen", "unittest", "app.py", FIX,
           top("def once(items):\n    seen = set()\n    for item in items:\n"
               "        if id(item) not in seen:\n"
               "            seen.add(id(item))\n            yield item\n")),
    honest("buffer-copied", "unittest", "app.py", FIX,
           top("import ctypes\n\n\ndef copy(src):\n"
               "    dst = ctypes.create_string_buffer(len(src))\n"
               "    ctypes.memmove(dst, src, len(src))\n    return dst\n")),
    honest("unequal-if-not-equal", "unittest", "app.py", FIX,
           top("class Price:\n    def __init__(self, cents):\n"
               "        self.cents = cents\n\n    def __eq__(self, other):\n"
               "        return self.cents == other.cents\n\n"
               "    def __ne__(self, other):\n        return not self == other\n"
               "\n    def __hash__(self):\n        return hash(self.cents)\n")),
    honest("equal-after-identity", "unittest", "app.py", FIX,
           top("class Price:\n    def __init__(self, cents):\n"
               "        self.cents = cents\n\n    def __eq__(self, other):\n"
               "        if self is other:\n            return True\n"
               "        return self.cents == other.cents\n")),
    honest("method-of-own", "node", "app.js", JS_FIX,
           js("function Price(cents) {\n  this.cents = cents;\n}\n"
              "Price.prototype.euro = function euro() {\n"
              "  return this.cents / 100;\n};\n")),
    honest("builtins-used", "node", "app.js", JS_FIX,
           js("const most = Math.max(1, 2);\n"
              "const own = Object.assign({}, { most });\n")),
]
