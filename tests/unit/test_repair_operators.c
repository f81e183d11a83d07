/* Each operator: one place, and an edit that must be among its candidates. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/log.h"
#include "orchestrator/repair/operators.h"

struct row {
	const char *op, *path, *text;
	uint32_t line;
	const char *want; /* the new lines */
};

static const struct row rows[] = {
	{ "pair word", "a.py", "def f(a, b):\n    return a and b\n", 2,
	    "    return a or b" },
	{ "pair word", "a.c", "int f(void) { return a && b; }\n", 1,
	    "int f(void) { return a || b; }" },
	{ "pair word", "a.py", "def f():\n    return True\n", 2,
	    "    return False" },
	{ "operand dropped", "a.py", "x = a + b * 2\n", 1, "x = a" },
	{ "operand dropped", "a.js", "f(a && !b);\n", 1, "f(!b);" },
	{ "operand dropped", "a.py", "x = -y\n", 1, "x = y" },
	{ "operand dropped", "a.sh", "[ -f a ] && [ -f b ] && c\n", 1,
	    "[ -f b ] && c" },
	{ "arguments swapped", "a.py", "f(a, g(b, c))\n", 1, "f(g(b, c), a)" },
	{ "arguments swapped", "a.py", "def f():\n    return a, b\n", 2,
	    "    return b, a" },
	{ "arguments swapped", "a.sh", "f \"$a\" \"$b c\" d\n", 1,
	    "f \"$b c\" \"$a\" d" },
	{ "operands swapped", "a.py", "x = a.b - c[0]\n", 1, "x = c[0] - a.b" },
	{ "relation", "a.py", "while lo < hi:\n    lo += 1\n", 1,
	    "while lo <= hi:" },
	{ "relation", "a.sh", "if [ \"$a\" -gt 1 ]; then b; fi\n", 1,
	    "if [ \"$a\" -ge 1 ]; then b; fi" },
	{ "relation", "a.sh", "if [ \"$a\" = b ]; then c; fi\n", 1,
	    "if [ \"$a\" != b ]; then c; fi" },
	{ "relation", "a.js", "if (a === b) c();\n", 1, "if (a !== b) c();" },
	{ "relation and constant", "a.py", "if n == 0:\n    pass\n", 1,
	    "if n <= 1:" },
	{ "constant", "a.py", "x = y[10]\n", 1, "x = y[9]" },
	{ "constant", "a.c", "int f(void) { return 0x1f; }\n", 1,
	    "int f(void) { return 0x20; }" },
	{ "constant", "a.c", "#define N 7\n", 1, "#define N 8" },
	{ "constant", "a.js", "function f(a = 1) {}\n", 1,
	    "function f(a = 2) {}" },
	{ "far constant", "a.py", "x = 0.5\n", 1, "x = 0.05" },
	{ "far constant", "a.py", "x = 50\n", 1, "x = 100" },
	{ "unfed collection", "a.py",
	    "def f(g, n):\n    seen = set()\n    while n not in seen:\n"
	    "        n = g[n]\n    return n\n",
	    4, "        seen.add(n)\n        n = g[n]" },
	{ "unfed collection", "A.java",
	    "class A {\n\tint f(int n) {\n"
	    "\t\tStack<Integer> s = new Stack<>();\n"
	    "\t\twhile (n > 0) {\n\t\t\tn = n / 2;\n\t\t}\n"
	    "\t\treturn s.size();\n\t}\n}\n",
	    5, "\t\t\ts.add(n);\n\t\t\tn = n / 2;" },
	{ "stale variable", "a.py",
	    "def f(x):\n    n = 0\n    for y in x:\n        g(y)\n"
	    "    return n\n",
	    4, "        n += 1\n        g(y)" },
	{ "stale variable", "a.js",
	    "function f(x) {\n  let last = null;\n  for (const y of x) {\n"
	    "    g(y, last + 1);\n  }\n}\n",
	    4, "    last = y;\n    g(y, last + 1);" },
	{ "method asked", "a.py", "for w in text.split():\n    g(w)\n", 1,
	    "for w in text.lower().split():" },
	{ "method asked", "a.js", "f(a.key());\ng(a, b);\n", 2,
	    "g(a, b.key());" },
	{ "opposite clause", "a.c",
	    "int f(int i, int n)\n{\n\tif (n == 8)\n\t\tdrop();\n"
	    "\tif (i != 0)\n\t\treturn i;\n\treturn n;\n}\n",
	    3, "\tif (i == 0 && n == 8)" },
	{ "opposite clause", "a.py",
	    "def f(a, b):\n    if a:\n        return 1\n"
	    "    if not b.ok():\n        return 2\n",
	    2, "    if b.ok() and a:" },
	{ "bound doubled", "a.py", "if a - b <= near:\n    pass\n", 1,
	    "if a - b <= 2 * near:" },
	{ "bound doubled", "a.c", "int f(int a, int b) { return a < b; }\n", 1,
	    "int f(int a, int b) { return a < b / 2; }" },
	{ "absent value", "a.py",
	    "def f(v):\n    if not v:\n        return 1\n    return v\n", 2,
	    "    if v is None:" },
	{ "absent value", "a.js", "if (a.b && c(d)) e();\n", 1,
	    "if (a.b !== undefined && c(d)) e();" },
	{ "absent value", "a.js", "if (v === null) return w;\n", 1,
	    "if (v == null) return w;" },
	{ "absent value", "a.c",
	    "int f(char *s)\n{\n\tif (s == NULL)\n\t\treturn 1;\n"
	    "\treturn 0;\n}\n",
	    3, "\tif (s == NULL || *s == '\\0')" },
	{ "argument passed", "a.py",
	    "def g(a, b=1, error=None):\n    return a\n"
	    "def f(x):\n    error = h(x)\n    return g(x)\n",
	    5, "    return g(x, error=error)" },
	{ "argument passed", "a.js",
	    "class T {\n  constructor(a, opts) {\n    this.opts = opts;\n  }\n"
	    "  f(k) {\n    return new T(k);\n  }\n}\n",
	    6, "    return new T(k, this.opts);" },
	{ "length asked", "a.py", "if v[0] == v[-1] == q:\n    f(v)\n", 1,
	    "if len(v) > 1 and v[0] == v[-1] == q:" },
	{ "length asked", "a.c",
	    "int f(struct s *v)\n{\n\tv->len--;\n"
	    "\tif (v->data[0] == 1)\n\t\treturn 1;\n\treturn 0;\n}\n",
	    4, "\tif (v->len > 0 && v->data[0] == 1)" },
	{ "flag asked", "a.py",
	    "def f(task):\n    if not task.outputs:\n        return 0\n"
	    "    return 1\n",
	    2, "    if task.always or not task.outputs:" },
	{ "flag asked", "a.c",
	    "int f(struct t *t)\n{\n\tif (t->n > 0)\n\t\treturn 1;\n"
	    "\treturn 0;\n}\n",
	    3, "\tif (t->n > 0 && !t->always)" },
	{ "name and member", "a.py",
	    "def f(name, all):\n    for p in all:\n"
	    "        if p.n not in found:\n            found.append(p.name)\n",
	    3, "        if p.n not in found and p.name != name:" },
	{ "fallback", "a.py",
	    "def f(base, query):\n    return URL(base.host, query)\n"
	    "def g(u):\n    return u.query\n",
	    2, "    return URL(base.host, query or base.query)" },
	{ "fallback", "a.js", "for (const x of list) f(pad(x), x);\n", 1,
	    "for (const x of list || []) f(pad(x), x);" },
	{ "names compared", "a.c",
	    "char *f(char *base)\n{\n\tchar *dot = strrchr(base, '.');\n"
	    "\tif (dot == NULL)\n\t\treturn base;\n\treturn dot;\n}\n",
	    4, "\tif (dot == NULL || dot == base)" },
	{ "guard composed", "a.py",
	    "def f(a, b):\n    if a in b:\n        return []\n"
	    "    x = a.y\n    return [x, b]\n",
	    4, "    if not a:\n        return []\n    x = a.y" },
	{ "guard composed", "a.js",
	    "function f(e, d) {\n  if (e === 'x') return d();\n"
	    "  const n = d(e);\n  return n;\n}\n",
	    3, "  if (e === undefined)\n    return d();\n  const n = d(e);" },
	{ "put under a condition", "a.c",
	    "void f(struct s *s)\n{\n\tg(s);\n\ts->data[s->n] = 0;\n}\n", 4,
	    "\tif (s->data != NULL)\n\t\ts->data[s->n] = 0;" },
	{ "put under a condition", "a.py",
	    "def f(out):\n    g(out)\n    out.pop()\n", 3,
	    "    if len(out) > 1:\n        out.pop()" },
	{ "clause on a literal", "a.py",
	    "def f(method, x):\n    if x == 3:\n        method = x\n"
	    "    if method == 'GET':\n        return 1\n",
	    4, "    if method == 'GET' or method == 'skip':" },
	{ "clause changed", "a.c",
	    "int f(char *a, char *key)\n{\n"
	    "\tif (strlen(key) >= sizeof it->key)\n\t\treturn a[0];\n"
	    "\treturn 0;\n}\n",
	    3,
	    "\tif (strlen(key) >= sizeof it->key || "
	    "strlen(a) >= sizeof it->a)" },
	{ "attribute", "a.py",
	    "class A:\n    @property\n    def full(self):\n        return 1\n"
	    "    def g(self):\n        return self.port\n",
	    6, "        return self.full" },
	{ "wrapped", "a.py",
	    "from a import (clean, other)\ndef f(x):\n    return other(x, 1)\n",
	    3, "    return other(clean(x), 1)" },
	{ "wrapped", "a.js",
	    "function flat(a) {\n  for (const b of a) c.push(...b);\n}\n", 2,
	    "  for (const b of a) c.push(...flat(b));" },
	{ "guard", "a.js", "if (s.length === 0) f(s);\n", 1,
	    "if (typeof s !== 'string' || s.length === 0) f(s);" },
	{ "accessor", "a.js",
	    "class A {\n  get full() {\n    return 1;\n  }\n"
	    "  g() {\n    return this.port;\n  }\n}\n",
	    6, "    return this.full;" },
	/* What is there and never called. */
	{ "wrapped", "a.py",
	    "def _cents(n):\n    return n\n\n\ndef f(x):\n    y = x\n"
	    "    return y\n",
	    6, "    y = _cents(x)" },
	{ "wrapped", "a.py",
	    "from m import cents\n\n\ndef f(x):\n    y = x\n    return y\n", 5,
	    "    y = cents(x)" },
	{ "wrapped", "a.js",
	    "function cents(n) {\n  return n;\n}\n\n"
	    "export function f(x) {\n  const y = x;\n  return y;\n}\n",
	    6, "  const y = cents(x);" },
	/* Of texts the order matters. */
	{ "term appended", "a.js",
	    "function f(req, base, prefix) {\n  req.base = prefix;\n}\n", 2,
	    "  req.base = base + prefix;" },
	/* The name may stand farther away. */
	{ "term appended", "a.py",
	    "def f(edges, start, goal):\n    queue = [(0, start)]\n"
	    "    while queue:\n        distance, node = pop(queue)\n"
	    "        if node == goal:\n            return distance\n"
	    "        for (a, b), weight in edges.items():\n"
	    "            if a == node and b not in seen:\n"
	    "                push(queue, (weight, b))\n",
	    9, "                push(queue, (weight + distance, b))" },
	{ "wrapped", "a.js", "list.push(row);\n", 1, "list.push({ ...row });" },
	{ "attribute", "a.py", "x = a.near\ny = a.far\n", 1, "x = a.far" },
	{ "string", "a.py", "f(x, 'ab')\n", 1, "f(x, 'AB')" },
	{ "string", "a.py", "f(x, '(')\n", 1, "f(x, ')')" },
	{ "string", "a.py", "f(x, ' ')\n", 1, "f(x, '')" },
	{ "other literal", "a.py", "a = 'x'\nb = 'y'\n", 1, "a = 'y'" },
	{ "default value", "a.py", "def f(a, b=None):\n    pass\n", 1,
	    "def f(a, b=0):" },
	{ "method to assignment", "a.py", "x.add(y)\n", 1, "x = y" },
	{ "argument dropped", "a.py", "f(a, b, c)\n", 1, "f(a, c)" },
	{ "argument dropped", "a.sh", "f -x \"$a\" b\n", 1, "f -x b" },
	{ "sibling name", "a.py", "x = a.lstrip()\n", 1, "x = a.rstrip()" },
	{ "assignment operator", "a.c", "void f(void) { a += b; }\n", 1,
	    "void f(void) { a -= b; }" },
	{ "assignment operator", "a.py", "x = a & b\n", 1, "x = a | b" },
	{ "plus one", "a.py", "x = range(n)\n", 1, "x = range(n + 1)" },
	{ "plus one", "a.py", "x = a[i]\n", 1, "x = a[i - 1]" },
	{ "plus one", "a.py", "x = n * m\n", 1, "x = (n - 1) * m" },
	{ "statement deleted", "a.py", "def f():\n    a()\n    b()\n    c()\n",
	    3, "    c()" },
	{ "statement deleted", "a.py", "if x:\n    a()\nb()\n", 2, "    pass" },
	{ "statement deleted", "a.py",
	    "def f():\n    if x:\n        return 1\n    c()\n", 2, "    c()" },
	{ "unwrapped", "a.py", "x = abs(y)\n", 1, "x = y" },
	{ "unwrapped", "a.py", "x = y.strip()\n", 1, "x = y" },
	{ "unwrapped", "a.c", "int f(void) { return a[i]; }\n", 1,
	    "int f(void) { return a; }" },
	{ "negated", "a.py", "if not x:\n    pass\n", 1, "if x:" },
	{ "negated", "a.py", "if x.y:\n    pass\n", 1, "if not x.y:" },
	{ "negated", "a.js", "if (a && b.c) { d(); }\n", 1,
	    "if (a && !b.c) { d(); }" },
	{ "negated", "a.py", "if x in y:\n    pass\n", 1, "if x not in y:" },
	{ "negated", "a.js", "if (!(a < b)) c();\n", 1, "if (a < b) c();" },
	{ "arithmetic", "a.py", "x = a / b\n", 1, "x = a // b" },
	{ "clamped", "a.py", "x = a - b\n", 1, "x = max(0, a - b)" },
	{ "clamped", "a.js", "this.n = b;\n", 1,
	    "this.n = Math.min(this.n, b);" },
	{ "list value", "a.py", "def f():\n    return x\n", 2,
	    "    return [x]" },
	{ "name", "a.py", "def f(low, high):\n    return low\n", 2,
	    "    return high" },
	{ "name", "a.sh", "f() {\n  a=$1 b=$2\n  echo \"$a\"\n}\n", 3,
	    "  echo \"$b\"" },
	{ "names swapped", "a.py", "x = a[i] - b[j]\n", 1, "x = a[j] - b[i]" },
	{ "collapsed", "a.py", "def f(a, b, c):\n    return g(a, b)\n", 2,
	    "    return c" },
	{ "donor", "a.py", "def f(a, b):\n    x = b\n    y = a.size - 1\n", 2,
	    "    x = a.size - 1" },
	{ "twin clause", "a.py",
	    "def f(c, d, q):\n    if c == '|' and d == 0 and not q:\n"
	    "        g()\n    if c == ',' and not q:\n        h()\n",
	    4, "    if c == ',' and not q and d == 0:" },
	{ "twin argument", "a.py",
	    "def f(a, now):\n    x = g(now, 1)\n    y = g(a.old, 1)\n", 3,
	    "    y = g(now, 1)" },
	{ "guard", "a.py", "def f(a):\n    return a.b is False\n", 2,
	    "    return a is not None and a.b is False" },
	{ "clause cloned", "a.c",
	    "int f(int a, int b)\n{\n\tif (a > 1)\n\t\treturn 1;\n"
	    "\tif (b)\n\t\treturn 2;\n}\n",
	    5, "\tif (b && a > 1)" },
	{ "clause cloned", "a.js",
	    "function f(a, b) {\n  if (!a) return 1;\n"
	    "  return b.some((c) => c.x);\n}\n",
	    3, "  return b.some((c) => c.x && !a);" },
	{ "slice", "a.py", "for x in items:\n    pass\n", 1,
	    "for x in items[1:]:" },
	{ "wrapped", "a.py", "x = sorted(a)\ny = b\n", 2, "y = sorted(b)" },
	{ "atom clause", "a.py", "def f(a, b):\n    if a:\n        pass\n", 2,
	    "    if a and b == 0:" },
	{ "statement inserted", "a.py",
	    "def f(a):\n    a.n += 1\n    if a:\n        b()\n", 4,
	    "        b()\n        a.n += 1" },
	{ "term appended", "a.py", "def f(a, b):\n    return a\n", 2,
	    "    return a + b" },
	{ "test", "a.sh", "if [ -f x ]; then y; fi\n", 1,
	    "if [ -d x ]; then y; fi" },
	{ "expansion", "a.sh", "a=${b%.*}\n", 1, "a=${b%%.*}" },
	{ "expansion", "a.sh", "f \"$@\" >x\n", 1, "f \"$@\" >>x" },
	{ "option", "a.sh", "a | sort\n", 1, "a | sort -n" },
	/* The second wave, in each dialect that it is for. */
	{ "condition or result", "a.py",
	    "def f(queue):\n    while True:\n        g(queue)\n", 2,
	    "    while queue:" },
	{ "condition or result", "a.py",
	    "def f(n):\n    depth = n\n    return True\n", 3,
	    "    return depth == 0" },
	{ "condition or result", "a.py",
	    "def f(a, rest):\n    return [a + x for x in rest]\n", 2,
	    "    return rest + [a + x for x in rest]" },
	{ "condition or result", "a.c",
	    "int f(int a, int b)\n{\n\twhile (1)\n\t\tg(a, b);\n}\n", 3,
	    "\twhile (a < b)" },
	{ "condition or result", "a.js",
	    "function f(a, b) {\n  if (a.x) return b;\n}\n", 2,
	    "  if (!b) return b;" },
	{ "condition or result", "a.js",
	    "function f(queue) {\n  while (true) {\n    g(queue);\n  }\n}\n", 2,
	    "  while (queue.length) {" },
	{ "target", "a.py", "def f(a, b, k):\n    a[k] = 1\n    g(b[k])\n", 2,
	    "    b[k] = 1" },
	{ "target", "a.c",
	    "void f(int *a, int *b)\n{\n\ta[0] = 1;\n\tb[1] = 2;\n}\n", 3,
	    "\tb[1] = 1;" },
	{ "target", "a.js", "function f(a, b) {\n  a.n = 1;\n  b.n = 2;\n}\n",
	    2, "  b.n = 1;" },
	{ "clause changed", "a.py",
	    "def f(a, b):\n    if a < 0:\n        return 1\n", 2,
	    "    if a < 0 or b < 0:" },
	{ "clause changed", "a.c",
	    "int f(int a, int b)\n{\n\tif (a == 7)\n\t\treturn b;\n}\n", 3,
	    "\tif (a == 7 || a == 0)" },
	{ "clause changed", "a.js",
	    "function f(a, b) {\n  if (a.n === null) return b;\n}\n", 2,
	    "  if (b.n === null || a.n === null) return b;" },
	{ "slice", "a.py", "def f(a, k):\n    for x in a:\n        g(x)\n", 2,
	    "    for x in a[k:]:" },
	{ "slice", "a.js", "function f(a, k) {\n  return g(a);\n}\n", 2,
	    "  return g(a.slice(k));" },
	{ "term appended", "a.py", "def f(x, y):\n    return abs(x - y)\n", 2,
	    "    return abs(x - y ** 2)" },
	{ "term appended", "a.py", "def f(x, y):\n    return g(x)\n", 2,
	    "    return g(x * y)" },
	{ "term appended", "a.c", "int f(int x, int y)\n{\n\treturn g(x);\n}\n",
	    3, "\treturn g(x - y);" },
	{ "term appended", "a.c", "int f(int x, int y)\n{\n\treturn g(x);\n}\n",
	    3, "\treturn g(x * x);" },
	{ "term appended", "a.js", "function f(x, y) {\n  return x;\n}\n", 2,
	    "  return x + y;" },
	{ "list value", "a.py", "def f(n):\n    return []\n", 2,
	    "    return [n]" },
	{ "list value", "a.js", "function f(n) {\n  return n;\n}\n", 2,
	    "  return [n];" },
	{ "collapsed", "a.py", "def f(a, d):\n    x = g(a, 1) + a[d]\n", 2,
	    "    x = d + a[d]" },
	{ "atom clause", "a.py",
	    "def f(n, xs):\n    if n < 0:\n        return 0\n", 2,
	    "    if n < 0 or not xs:" },
	{ "atom clause", "a.c",
	    "int f(int n, int m)\n{\n\tif (n)\n\t\treturn 1;\n\tg(m);\n}\n", 3,
	    "\tif (n && g(m))" },
	{ "statement inserted", "a.c",
	    "void f(void)\n{\n\tlock();\n\tg(1);\n\tunlock();\n}\n", 4,
	    "\tunlock();\n\tg(1);" },
	{ "statement inserted", "a.js",
	    "function f(a) {\n  for (const x of a) {\n    g(x);\n  }\n}\n", 3,
	    "    g(x);\n    break;" },
	{ "statement adapted", "a.py",
	    "def f(out, stack, xs):\n    for x in xs:\n        if x:\n"
	    "            while stack:\n                out.append(x)\n"
	    "    return out\n",
	    5, "                out.append(x)\n            stack.append(x)" },
	{ "statement adapted", "a.c",
	    "void f(int *p, int *q)\n{\n\tif (p) {\n\t\tg(p);\n\t}\n}\n", 4,
	    "\t\tg(p);\n\t\tg(q);" },
	{ "statement adapted", "a.js",
	    "function f(a, b) {\n  a.push(1);\n  return b;\n}\n", 3,
	    "  b.push(1);\n  return b;" },
	{ "statement adapted", "a.sh", "f() {\n  rm \"$a\"\n  g \"$b\"\n}\n", 3,
	    "  rm \"$b\"\n  g \"$b\"" },
	{ "name assigned", "a.py",
	    "def f(node):\n    last = None\n    while node:\n"
	    "        node = node.next\n    return last\n",
	    4, "        last = node\n        node = node.next" },
	{ "name assigned", "a.c",
	    "int f(int a)\n{\n\tint n = 0;\n\tg(a);\n\tn = 1;\n\treturn n;\n}\n",
	    6, "\tn = a;\n\treturn n;" },
	{ "name assigned", "a.js",
	    "function f(a) {\n  let n = 0;\n  g(a);\n  return n;\n}\n", 4,
	    "  n = a;\n  return n;" },
	{ "element added", "a.py",
	    "def f(node):\n    seen = set()\n    return g(node)\n", 3,
	    "    seen.add(node)\n    return g(node)" },
	{ "element added", "a.js",
	    "function f(x) {\n  const out = [];\n  return out;\n}\n", 3,
	    "  out.push(x);\n  return out;" },
	{ "far constant", "a.sh", "x=$((h * 84600))\n", 1, "x=$((h * 86400))" },
	{ "assignment operator", "a.py", "x ^= y\n", 1, "x &= ~y" },
	{ "assignment operator", "a.c", "void f(void) { a |= b + c; }\n", 1,
	    "void f(void) { a &= ~(b + c); }" },
	{ "assignment operator", "a.js", "x = a >> 1;\n", 1, "x = a >>> 1;" },
	{ "assignment operator", "A.java",
	    "class A {\n    int f(int a) {\n        return a >> 1;\n    }\n}\n",
	    3, "        return a >>> 1;" },
	{ "sibling name", "a.js", "x = encodeURI(y);\n", 1,
	    "x = encodeURIComponent(y);" },
	{ "term appended", "a.py", "def f(a):\n    return a <= size\n", 2,
	    "    return a <= 2 * size" },
	{ "clause changed", "a.js",
	    "function f(a, b) {\n  g(a.high);\n  return a.wide <= b.wide;\n}\n",
	    3, "  return a.wide <= b.wide && a.high <= b.high;" },
	{ "clause changed", "a.c",
	    "int f(int c)\n{\n\tg('/');\n\tif (c == ' ')\n\t\treturn 1;\n}\n",
	    4, "\tif (c == ' ' || c == '/')" },
	{ "statement of the file", "a.py",
	    "class A:\n    def f(self):\n        self.key = None\n\n"
	    "    def g(self, x):\n        self.put(x)\n",
	    6, "        self.put(x)\n        self.key = None" },
	{ "own guard of a shell", "a.sh",
	    "f() {\n    is_mine \"$1\" || return 1\n    a \"$1\"\n}\ng() {\n"
	    "    b \"$1\"\n}\n",
	    6, "    is_mine \"$1\" || return 1\n    b \"$1\"" },
	{ "reset", "a.c",
	    "void f(struct a *c)\n{\n\tc->used++;\n}\nvoid g(struct a *c)\n{\n"
	    "\tc->first = NULL;\n}\n",
	    7, "\tc->first = NULL;\n\tc->used = 0;" },
	{ "reset", "a.py",
	    "class A:\n    def f(self, x):\n        self.undone.append(x)\n\n"
	    "    def g(self, x):\n        self.put(x)\n",
	    6, "        self.undone.clear()\n        self.put(x)" },
	{ "reset", "a.js",
	    "function f(a) {\n  a.list.push(1);\n}\nfunction g(a) {\n"
	    "  a.end();\n}\n",
	    5, "  a.end();\n  a.list.length = 0;" },
	{ "member for a name", "a.py",
	    "class A:\n    def f(self):\n        self.start = 1\n\n"
	    "    def g(self, due):\n        return h(due.day)\n",
	    6, "        return h(self.start.day)" },
	{ "member for a name", "a.js",
	    "class A {\n  f(x) {\n    this.n = 1;\n    return g(x);\n  }\n}\n",
	    4, "    return g(this.n);" },
	{ "predicate", "a.py",
	    "def old(day):\n    return day < 3\n\n\ndef f(day, x):\n    if x:\n"
	    "        return day\n",
	    6, "    if x and not old(day):" },
	{ "predicate", "a.py",
	    "class A:\n    def old(self, day):\n        return day < 3\n\n"
	    "    def f(self, day, lot):\n        return lot.n > 0\n",
	    6, "        return lot.n > 0 and not lot.old(day)" },
	{ "predicate", "a.c",
	    "static bool old(int day)\n{\n\treturn day < 3;\n}\n"
	    "int f(int day, int x)\n{\n\tif (x)\n\t\treturn day;\n}\n",
	    7, "\tif (x && !old(day))" },
	{ "regrouped", "a.c", "int f(int a) { return a + 1 % N; }\n", 1,
	    "int f(int a) { return (a + 1) % N; }" },
	{ "regrouped", "a.py", "x = n * m + 1\n", 1, "x = n * (m + 1)" },
	{ "regrouped", "a.py", "x = a or b and c\n", 1, "x = (a or b) and c" },
	{ "regrouped", "a.js", "x = a[0] + a[1] / 2;\n", 1,
	    "x = (a[0] + a[1]) / 2;" },
	{ "wrapped", "a.py", "def f(x):\n    for k in x.data:\n        g(k)\n",
	    2, "    for k in list(x.data):" },
	{ "own guard", "a.py",
	    "def f(a):\n    if not a:\n        return None\n    return a.x\n"
	    "\n\ndef g(a):\n    return a.y\n",
	    8, "    if not a:\n        return None\n    return a.y" },
	{ "own guard", "a.c",
	    "int f(int *p)\n{\n\tif (p == NULL)\n\t\treturn -1;\n\treturn *p;\n}\n"
	    "int g(int *q)\n{\n\treturn q[1];\n}\n",
	    9, "\tif (q == NULL)\n\t\treturn -1;\n\treturn q[1];" },
	{ "own guard", "a.js",
	    "function f(a) {\n  if (!a) return 0;\n  return a.x;\n}\n"
	    "function g(a) {\n  return a.y;\n}\n",
	    6, "  if (!a)\n    return 0;\n  return a.y;" },
	{ "put under a condition", "a.py",
	    "def f(a, quiet):\n    g(a)\n    return quiet\n", 2,
	    "    if not quiet:\n        g(a)" },
	{ "put under a condition", "a.c",
	    "void f(int a, int b)\n{\n\tg(a);\n\th(b);\n}\n", 3,
	    "\tif (b)\n\t\tg(a);" },
	{ "put under a condition", "a.js",
	    "function f(a, b) {\n  g(a);\n  h(b);\n}\n", 2,
	    "  if (b)\n    g(a);" },
	{ "put under a condition", "a.sh",
	    "f() {\n  rm \"$a\"\n  g \"$b\"\n}\n", 2,
	    "  [ -n \"$b\" ] && rm \"$a\"" },
	{ "two edits", "a.py", "def f(a, b):\n    return a < 1 and b\n", 2,
	    "    return a <= 1 or b" },
	{ "two edits", "a.c",
	    "int f(int a, int b)\n{\n\treturn a < 3 && b;\n}\n", 3,
	    "\treturn a <= 3 || b;" },
	{ "two edits", "a.js", "const f = (a, b) => a < 3 && g(b, 1);\n", 1,
	    "const f = (a, b) => a <= 3 || g(b, 1);" },
	{ "two edits", "a.sh", "[ \"$a\" -lt 3 ] && f 7\n", 1,
	    "[ \"$a\" -le 3 ] || f 7" },
	{ "kin clause", "a.js",
	    "function f(n) {\n  if (has(n, 2, 4)) return 1;\n  return 2;\n}\n"
	    "function g(n) {\n  if (has(n % 9, 1, 3)) return 1;\n}\n",
	    2, "  if (has(n, 2, 4) && !has(n % 9, 1, 3)) return 1;" },
	{ "clause on a literal", "a.c",
	    "int f(char *s)\n{\n\tif (*s == '/')\n\t\treturn 1;\n"
	    "\treturn !g(s) || *s == 'a';\n}\n",
	    5, "\treturn !g(s) || *s == 'a' || *s == '/';" },
	{ "clause on a literal", "a.c",
	    "int f(char *s)\n{\n\tif (s[0] == '-')\n\t\treturn 1;\n"
	    "\treturn *s == '\\0';\n}\n",
	    3, "\tif (s[0] == '-' && s[1] != '\\0')" },
	{ "clause on a literal", "a.go",
	    "func f(p []string, i int) {\n\tswitch {\n\tcase i == 0:\n"
	    "\t\tx = p[i]\n\t}\n}\n",
	    3, "\tcase i == 0 && p[i] != \"\":" },
	{ "member test", "a.py",
	    "def f(a, k):\n    if a.x:\n        a.seen.setdefault(k, 1)\n", 2,
	    "    if a.x or k in a.seen:" },
	{ "member test", "a.js",
	    "function f(a, k) {\n  if (a.x) a.seen.set(k, 1);\n}\n", 2,
	    "  if (a.x && !a.seen.has(k)) a.seen.set(k, 1);" },
	{ "statement moved", "a.c",
	    "void f(struct a *t)\n{\n\tt->call(t);\n\tt->on = 0;\n}\n", 3,
	    "\tt->on = 0;\n\tt->call(t);" },
	{ "statement moved", "a.js",
	    "function f(a) {\n  if (a.x) {\n    g(a);\n    a.n = 1;\n  }\n"
	    "  h(a);\n}\n",
	    3, "    g(a);\n  }\n  a.n = 1;" },
	{ "statement moved", "a.js",
	    "function f(a) {\n  if (a.x) {\n    g(a);\n  }\n  a.n = 1;\n}\n", 3,
	    "    g(a);\n    a.n = 1;\n  }" },
	{ "statement moved", "a.py",
	    "def f(a):\n    if a.x:\n        g(a)\n        a.n = 1\n"
	    "    h(a)\n",
	    3, "        g(a)\n    a.n = 1" },
	{ "statement moved", "a.py",
	    "def f(a):\n    for x in a:\n        n = 1\n        g(x)\n", 2,
	    "    n = 1\n    for x in a:" },
	{ "guard made", "a.go",
	    "func f(a []int) int {\n\tif a == nil {\n\t\treturn 0\n\t}\n"
	    "\treturn g(a) / int(len(a))\n}\n",
	    5,
	    "\tif len(a) == 0 {\n\t\treturn 0\n\t}\n"
	    "\treturn g(a) / int(len(a))" },
	{ "guard made", "a.js",
	    "function f(a) {\n  if (!a) throw new E('x');\n"
	    "  return g(a) / a.length;\n}\n",
	    3,
	    "  if (a.length === 0)\n    throw new E('x');\n"
	    "  return g(a) / a.length;" },
	{ "guard made", "a.c",
	    "int f(struct a *d)\n{\n\td->pads++;\n\tif (g(d) < 0)\n"
	    "\t\treturn -1;\n\treturn h(d);\n}\n",
	    6, "\tif (d->pads > 0)\n\t\treturn -1;\n\treturn h(d);" },
	{ "command wrapped", "a.sh",
	    "f() {\n  a=$(low \"$1\")\n}\ng() {\n  h \"$x\"\n}\n", 5,
	    "  h \"$(low \"$x\")\"" },
	{ "clause cloned", "a.py",
	    "def f(a, d):\n    return [x for x in a if x.old(d) and x.n]\n\n\n"
	    "def g(a, d):\n    return [x for x in a if x.n]\n",
	    6, "    return [x for x in a if x.n and not x.old(d)]" },
	{ "accessor", "a.py",
	    "class A:\n    def has(self, x):\n        return x in self.all\n\n"
	    "    def some(self):\n        return self.all + 1\n",
	    3, "        return x in self.some()" },
	{ "like with like", "a.js",
	    "const D = { wide: 1, high: 2 };\nfunction f(a, b) {\n"
	    "  return a.wide <= b.wide;\n}\n",
	    3, "  return a.wide <= b.wide && a.high <= b.high;" },
	{ "kin clause", "a.py",
	    "def f(a, d):\n    return [x for x in a if x.old(d)]\n\n\n"
	    "def g(a, d):\n    return [x for x in a if x.n]\n",
	    6, "    return [x for x in a if x.n and not x.old(d)]" },
	{ "kin clause", "a.js",
	    "const R = {\n  a(n) {\n    if (has(n, 2)) return 1;\n  },\n"
	    "  b(n) {\n    if (has(n, 3)) return 1;\n  },\n};\n",
	    3, "    if (has(n, 2) && !has(n, 3)) return 1;" },
	{ "wrapped", "a.py", "x = cents(a * b)\ny = t(r, sum(c) * r / 100)\n",
	    2, "y = t(r, cents(sum(c) * r / 100))" },
	{ "callee", "a.py",
	    "def width(s):\n    return s.n\n\n\ndef f(s):\n"
	    "    return len(s)\n",
	    6, "    return width(s)" },
	{ "kin clause", "a.sh",
	    "old() {\n  [ \"$1\" -gt 1 ]\n}\nf() {\n  if old \"$2\"; then\n"
	    "    g\n  fi\n}\nh() {\n  if [ -n \"$2\" ]; then\n    g\n  fi\n}\n",
	    10, "  if [ -n \"$2\" ] && ! old \"$2\"; then" },
	{ "reset", "a.c",
	    "void f(struct a *c)\n{\n\tc->x++;\n\tc->used++;\n}\n"
	    "void g(struct a *c)\n{\n\tc->first = NULL;\n\treturn;\n}\n",
	    9, "\tc->used = 0;\n\treturn;" },
	{ "clause cloned", "a.sh",
	    "f() {\n  if pinned \"$1\"; then\n    g\n  fi\n"
	    "  if [ \"$2\" -gt 1 ]; then\n    h\n  fi\n}\n",
	    5, "  if [ \"$2\" -gt 1 ] && ! pinned \"$1\"; then" },
	{ "expansion", "a.sh", "a | uniq\n", 1, "a | sort -u" },
	{ "assignment operator", "a.js", "x += (a & 31) << b;\n", 1,
	    "x += (a & 31) * 2 ** b;" },
	{ "assignment operator", "A.java",
	    "class A {\n    long signed() {\n        return a >> 1;\n    }\n}\n",
	    3, "        return a >>> 1;" },
	{ "constant", "a.c", "int match(char *s)\n{\n\treturn 1;\n}\n", 3,
	    "\treturn 2;" },
	{ "negated", "a.go",
	    "func f(x int) int {\n\tif g(x) {\n\t\treturn 1\n\t}\n"
	    "\treturn 2\n}\n",
	    2, "\tif !g(x) {" },
	{ "string", "a.py", "f(x, 'YYYY-MM')\n", 1, "f(x, 'yyyy-MM')" },
	{ "wrapped", "a.c",
	    "int f(char *s)\n{\n\tx = low(s);\n"
	    "\treturn x + (unsigned char)*s;\n}\n",
	    4, "\treturn x + low((unsigned char)*s);" },
	{ "reset", "a.go",
	    "func f(b *B) {\n\tb.n += 1\n}\nfunc g(b *B) {\n"
	    "\tb.m = nil\n\treturn\n}\n",
	    6, "\tb.n = 0\n\treturn" },
	/* A member goes without the blank that parts two words. */
	{ "unwrapped", "a.py", "def f(x):\n    if x.y is x:\n        g()\n", 2,
	    "    if x is x:" },
};

/* Edits that no operator may make: they can't be right, or not even parse. */
static const struct row never[] = {
	{ "for", "a.py", "def f(xs, y):\n    for x in xs:\n        g(y)\n", 2,
	    "    for x + y in xs:" },
	{ "lambda", "a.py", "def f(y):\n    return g(lambda x: x + y)\n", 2,
	    "    return g(lambda x - y: x + y)" },
	{ "index", "a.py", "x = b[i]\ny = g(a)\n", 1, "x = bg([i])" },
	{ "index", "a.py", "def f(a, i):\n    return a[i]\n", 2,
	    "    return a[]" },
	{ "keyword", "a.py", "f(a, key=b)\n", 1, "f(key=b, a)" },
	{ "no loop", "a.py", "def f(a):\n    g(a)\n    h(a)\n", 3,
	    "    break\n    h(a)" },
	{ "counter", "a.py", "def f(a):\n    n = 0\n    return g(n)\n", 3,
	    "    return g(n[1:])" },
	{ "not", "a.py", "def f(a, b):\n    return a == b and a\n", 2,
	    "    return a == not b and a" },
	{ "dict", "a.py",
	    "def f(a):\n    return {\n        'x': a,\n        'y': 1,\n    }\n",
	    3, "        return\n        'x': a," },
	/* What a test gives is no case of its own. */
	{ "test's value", "a.py",
	    "def f(word, n):\n    if n:\n        return word\n"
	    "    return g(word)\n",
	    2, "    if n or n == 'skip':" },
	{ "test's value", "a.py",
	    "def f(word, n):\n    if n:\n        return word\n"
	    "    return g(word)\n",
	    4,
	    "    if word == 'skip':\n        return word\n"
	    "    return g(word)" },
	{ "head", "a.c", "void f(int a)\n{\n\tif (a)\n\t\tg(a);\n\th(a);\n}\n",
	    4, "\t\th(a);\n\t\tg(a);" },
	/* What a file offers is called by others, not by itself; a module is no
	 * function. */
	{ "wrapped", "a.py",
	    "def order(n):\n    return n\n\n\ndef f(x):\n    y = x\n"
	    "    return y\n",
	    6, "    y = order(x)" },
	{ "wrapped", "a.js",
	    "export function order(n) {\n  return n;\n}\n\n"
	    "export function f(x) {\n  const y = x;\n  return y;\n}\n",
	    6, "  const y = order(x);" },
	{ "wrapped", "a.py",
	    "from os import path\n\n\ndef f(x):\n    y = x\n    return y\n", 5,
	    "    y = os(x)" },
};

static bool
made(const struct row *r, bool by_op)
{
	struct source *s = source_create(r->path, r->text, strlen(r->text));
	struct cands c = { 0 };
	struct hints h = { 0 };
	bool found = false;

	assert_non_null(s);
	strv_add(&h.names, "always");
	strv_add(&h.literals, "'skip'");
	c.hints = &h;
	repair_generate(&c, &s, 1, 0, NULL);
	hints_clear(&h);
	for (size_t i = 0; i < c.n && !found; i++)
		found = c.v[i].line == r->line &&
		    (!by_op ||
			strcmp(repair_ops[c.v[i].op].name, r->op) == 0) &&
		    strcmp(c.v[i].new_text, r->want) == 0;
	cands_clear(&c);
	source_free(s);
	return found;
}

static void
test_rows(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < nitems(rows); i++) {
		/* An operator before it may have made the same edit. */
		if (made(&rows[i], false))
			continue;
		print_error("%s: %s does not become %s\n", rows[i].op,
		    rows[i].text, rows[i].want);
		bad++;
	}
	assert_int_equal(bad, 0);
}

static void
test_never(void **state)
{
	(void)state;
	for (size_t i = 0; i < nitems(never); i++) {
		if (made(&never[i], false))
			print_error("%s: %s becomes %s\n", never[i].op,
			    never[i].text, never[i].want);
		assert_false(made(&never[i], false));
	}
}

/* No operator without a row above that it made itself. */
static void
test_all_operators(void **state)
{
	(void)state;
	for (size_t k = 0; k < n_repair_ops; k++) {
		bool found = false;

		for (size_t i = 0; i < nitems(rows) && !found; i++)
			found = strcmp(rows[i].op, repair_ops[k].name) == 0 &&
			    made(&rows[i], true);
		if (!found)
			print_error("nothing tests %s\n", repair_ops[k].name);
		assert_true(found);
	}
	assert_true(n_repair_ops <= REPAIR_OPS_MAX);
}

/* The score of the edit that makes want of a line. */
static float
score(const char *text, uint32_t line, const char *want)
{
	struct source *s = source_create("a.py", text, strlen(text));
	struct cands c = { 0 };
	float best = 0;

	repair_generate(&c, &s, 1, 0, NULL);
	for (size_t i = 0; i < c.n; i++)
		if (c.v[i].line == line && c.v[i].score > best &&
		    strcmp(c.v[i].new_text, want) == 0)
			best = c.v[i].score;
	cands_clear(&c);
	source_free(s);
	return best;
}

/* What is given a value and never read is likelier to be missing. */
static void
test_idle(void **state)
{
	static const char want[] = "    if c and not old:";
	float idle = score("def f(a, b, c):\n    old = g(a, b)\n    if c:\n"
			   "        return 1\n    return b\n",
	    3, want);
	float read = score("def f(a, b, c):\n    old = g(a, b)\n    if c:\n"
			   "        return 1\n    return old\n",
	    3, want);
	/* Only its own next value is made of it. */
	float own = score("def f(a, b, c):\n    old = g(a, b)\n    old += 1\n"
			  "    if c:\n        return 1\n    return b\n",
	    4, want);

	(void)state;
	assert_true(read > 0);
	assert_true(idle >= 2 * read);
	assert_true(own >= 2 * read);
}

static void
none(const char *path, const char *text)
{
	struct source *s = source_create(path, text, strlen(text));
	struct cands c = { 0 };

	repair_generate(&c, &s, 1, 0, NULL);
	if (c.n > 0)
		print_error("%s: %s\n", text, c.v[0].what);
	assert_int_equal(c.n, 0);
	cands_clear(&c);
	source_free(s);
}

/* Comments, imports, prototypes, documentation: nothing runs there. */
static void
test_inert(void **state)
{
	(void)state;
	none("a.py", "# a < b\n\"\"\"x < 1\"\"\"\nimport a, b\n");
	none("a.c", "/* a < b */\n#include <a.h>\nint f(int a, int b);\n");
	none("a.sh", "#!/bin/sh\n# a -lt b\n");
	none("a.py", "");
}

/* "insert `=`" tells nobody where. */
static void
test_words(void **state)
{
	static const char text[] = "def f(a, b):\n    if a < b:\n"
				   "        return 1\n    return a <= 2\n";
	struct source *s = source_create("a.py", text, strlen(text));
	struct cands c = { 0 };
	bool in = false, out = false;

	(void)state;
	repair_generate(&c, &s, 1, 0, NULL);
	for (size_t i = 0; i < c.n; i++) {
		const char *w = c.v[i].what;

		in |= strcmp(w, "`a < b` -> `a <= b`") == 0;
		out |= strcmp(w, "`a <= 2` -> `a < 2`") == 0;
		if (strcmp(w, "insert `=`") == 0 ||
		    strcmp(w, "delete `=`") == 0)
			fail_msg("%s", w);
	}
	assert_true(in && out);
	cands_clear(&c);
	source_free(s);
}

static void
test_no_duplicates(void **state)
{
	static const char text[] =
	    "def f(a, b):\n    if a < b and b > 0:\n        return a - b\n"
	    "    return max(a, b)\n";
	struct source *s = source_create("a.py", text, strlen(text));
	struct cands c = { 0 };

	(void)state;
	repair_generate(&c, &s, 1, 0, NULL);
	cands_sort(&c, 0);
	for (size_t i = 0; i < c.n; i++) {
		char *old = cand_old(&c.v[i], s);

		assert_string_not_equal(old, c.v[i].new_text);
		free(old);
		for (size_t k = 0; k < i; k++)
			assert_false(c.v[i].line == c.v[k].line &&
			    c.v[i].n_lines == c.v[k].n_lines &&
			    strcmp(c.v[i].new_text, c.v[k].new_text) == 0);
		if (i > 0)
			assert_true(c.v[i].score <= c.v[i - 1].score);
	}
	cands_clear(&c);
	source_free(s);
}

/* A quarter of a megabyte of code stays bounded. */
static void
test_large(void **state)
{
	struct source *s;
	struct cands c = { 0 };
	struct buf b;

	(void)state;
	buf_init(&b, 1 << 20);
	(void)buf_adds(&b, "def f(a, b):\n");
	while (b.len < SOURCE_MAX_BYTES - 100)
		(void)buf_printf(&b, "    x%zu = a[%zu] + b * f(a, x, %zu)\n",
		    b.len, b.len, b.len);
	s = source_create("a.py", buf_str(&b), b.len);
	assert_non_null(s);
	repair_generate(&c, &s, 1, 0, NULL);
	cands_sort(&c, 0);
	assert_int_equal(c.n, CAND_MAX);
	cands_clear(&c);
	source_free(s);
	buf_clear(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_all_operators),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_inert),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_no_duplicates),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
