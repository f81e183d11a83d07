#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/buf.h"
#include "orchestrator/repair/expr.h"
#include "orchestrator/repair/token.h"

static struct source *
make(const char *path, const char *text)
{
	struct source *s = source_create(path, text, strlen(text));

	assert_non_null(s);
	return s;
}

/* Tokens as text, parted by '|'; a newline as \n. */
static void
check_tokens(const char *path, const char *text, const char *want)
{
	struct source *s = make(path, text);
	struct buf b;

	buf_init(&b, 4096);
	for (size_t i = 0; i < s->n_tok; i++) {
		const struct token *t = &s->tok[i];

		(void)buf_printf(&b, "%s%.*s", i > 0 ? "|" : "",
		    t->kind == TOK_NEWLINE ? 2 : (int)t->len,
		    t->kind == TOK_NEWLINE ? "\\n" : s->text + t->off);
	}
	assert_string_equal(buf_str(&b), want);
	buf_clear(&b);
	source_free(s);
}

static void
check_first_line(const char *text, enum token_dialect want)
{
	assert_int_equal(dialect_of("run", text, strlen(text)), want);
}

static void
test_dialects(void **state)
{
	(void)state;
	assert_int_equal(dialect_of("a/b.py", NULL, 0), DIALECT_PY);
	assert_int_equal(dialect_of("x.tsx", NULL, 0), DIALECT_JS);
	assert_int_equal(dialect_of("x.rs", NULL, 0), DIALECT_C);
	assert_int_equal(dialect_of("x.md", NULL, 0), DIALECT_NONE);
	assert_int_equal(dialect_of("run", "#!/bin/sh\n", 10), DIALECT_SH);
	assert_int_equal(
	    dialect_of("run", "#!/usr/bin/env python3\n", 23), DIALECT_PY);
	check_first_line("#!/usr/bin/env -S X=1 python3 -B", DIALECT_PY);
	check_first_line("#!/opt/node/bin/ruby", DIALECT_PY);
	check_first_line("#!/usr/bin/gawk -f", DIALECT_JS);
	check_first_line("#! /bin/bash", DIALECT_SH);
	check_first_line("#!/usr/bin/env", DIALECT_NONE);
	check_first_line("#!/usr/bin/perl -w", DIALECT_JS);
	check_first_line("#!/usr/bin/octave", DIALECT_NONE);
	check_first_line("#!/", DIALECT_NONE);
	assert_int_equal(dialect_of("run", "hello", 5), DIALECT_NONE);
	assert_int_equal(dialect_of(".py", NULL, 0), DIALECT_NONE);
	assert_null(source_create("a.py", "a\0b", 3));
	assert_null(source_create("a.txt", "a", 1));
}

static void
test_tokens(void **state)
{
	(void)state;
	check_tokens("a.py", "if x not in y: # no\n  z = 'a' \"b\"\n",
	    "if|x|not in|y|:|\\n|z|=|'a'|\"b\"|\\n");
	check_tokens("a.py", "f(1,\n  2)\n\"\"\"a\nb\"\"\"\n",
	    "f|(|1|,|2|)|\\n|\"\"\"a\nb\"\"\"|\\n");
	check_tokens("a.py", "f\"a{x + 1:3}b\"\n", "f\"a{|x|+|1|:3}b\"|\\n");
	check_tokens("a.c", "#include <a>\nx->y >>= 1.5e-3; /* z */ 'c'",
	    "#include <a>|\\n|x|->|y|>>=|1.5e-3|;|'c'");
	check_tokens("a.c", "#define N 7\n", "#define N|7");
	check_tokens("a.js", "a = b / c; d = /x[/]y/g.test(`p${q}r`)\n",
	    "a|=|b|/|c|;|d|=|/x[/]y/g|.|test|(|`p${|q|}r`|)|\\n");
	check_tokens("a.js", "a\n  .b()\nc\n", "a|.|b|(|)|\\n|c|\\n");
	check_tokens("a.sh", "[ \"$x\" -lt 5 ] && f -n1 $((a + 1)) # c\n",
	    "[|\"|$|x|\"|-lt|5|]|&&|f|-n|1|$|(|(|a|+|1|)|)|\\n");
	check_tokens("a.sh", "cat <<E\nif x\nE\necho ${v%.*} 'a b'\n",
	    "cat|<<E|\\n|echo|$|{|v|%|.|*|}|'a b'|\\n");
	check_tokens("a.php", "f(); # no\ng(); // no\n", "f|(|)|;|g|(|)|;");
	check_tokens("a.awk", "/^#/ { next } # no\nNF > 1 { n += $1 }\n",
	    "/^#/|{|next|}|NF|>|1|{|n|+=|$1|}");
	check_tokens("a.pm", "return $a{'# x'} <= 1 # no\n",
	    "return|$a|{|'# x'|}|<=|1|\\n");
	check_tokens("a.c", "f(); a = b; // no\n", "f|(|)|;|a|=|b|;");
	check_tokens(
	    "a.sh", "awk '{ print $1 + 2 }' f", "awk|'|{|print|$|1|+|2|}|'|f");
}

/* Cut off anywhere, nothing bad happens. */
static void
test_cut_texts(void **state)
{
	static const char text[] =
	    "x = f\"a{b['c']}\" + '''d''' /* ` ${ $(( \"$(a \"b\")\" ";
	static const char *const paths[] = { "a.py", "a.c", "a.js", "a.sh" };

	(void)state;
	for (size_t k = 0; k < nitems(paths); k++) {
		for (size_t n = 0; n < sizeof text; n++)
			source_free(source_create(paths[k], text, n));
	}
}

static void
check_region(const struct source *s, size_t i, const char *name, uint32_t first,
    uint32_t last)
{
	assert_true(i < s->n_region);
	assert_string_equal(s->region[i].name, name);
	assert_int_equal(s->region[i].first_line, first);
	assert_int_equal(s->region[i].last_line, last);
}

static void
test_regions(void **state)
{
	struct source *s;

	(void)state;
	s = make("a.py",
	    "class A:\n    def f(self):\n        x = 1\n\n"
	    "        return x\n\n    async def g(self): pass\ny = 2\n");
	assert_int_equal(s->n_region, 2);
	check_region(s, 0, "f", 2, 5);
	check_region(s, 1, "g", 7, 7);
	assert_int_equal(source_region(s, 3), 0);
	assert_int_equal(source_region(s, 8), -1);
	source_free(s);
	s = make("a.c",
	    "static int f(int a)\n{\n\tif (a) {\n\t\tg();\n\t}\n"
	    "\treturn 0;\n}\nstruct x { int y; };\n");
	assert_int_equal(s->n_region, 1);
	check_region(s, 0, "f", 1, 7);
	source_free(s);
	s = make("a.js",
	    "function f(a) {\n  return a;\n}\nclass B {\n  m(x) {\n"
	    "    if (x) { y(); }\n  }\n}\n"
	    "const g = (a) => a + 1;\nconst h = async (b) => {\n"
	    "  z();\n};\n");
	check_region(s, 0, "f", 1, 3);
	check_region(s, 1, "m", 5, 7);
	check_region(s, 2, "g", 9, 9);
	check_region(s, 3, "h", 10, 12);
	source_free(s);
	s = make("a.go",
	    "func (q *Q) Pop(n int) (int, error) {\n\treturn 1, "
	    "nil\n}\n");
	check_region(s, 0, "Pop", 1, 3);
	source_free(s);
	s = make("a.awk",
	    "function f(a, n) {\n\treturn a / n\n}\nEND {\n\tx()\n}\n");
	assert_int_equal(s->n_region, 1);
	check_region(s, 0, "f", 1, 3);
	source_free(s);
	s = make("a.pl",
	    "sub f {\n\tmy ($x) = @_;\n\tfor my $y (g($x)) {\n\t\th($y);\n"
	    "\t}\n}\nsub h ($z) {\n\t1;\n}\n");
	assert_int_equal(s->n_region, 2);
	check_region(s, 0, "f", 1, 6);
	check_region(s, 1, "h", 7, 9);
	source_free(s);
	s = make("a.sh", "f() {\n  echo \"${x}\"\n}\nfunction g {\n  :\n}\n");
	check_region(s, 0, "f", 1, 3);
	check_region(s, 1, "g", 4, 6);
	source_free(s);
}

static void
test_expressions(void **state)
{
	struct source *s =
	    make("a.py", "v = not a.b(c)[1] + 2 * d == e or f\n");
	/* v0 =1 not2 a3 .4 b5 (6 c7 )8 [9 1 ]11 +12 2 *14 d15 ==16 e or18 f */
	struct span v;

	(void)state;
	assert_int_equal(expr_primary_start(s, 11), 3);
	assert_int_equal(expr_primary_end(s, 3), 11);
	assert_int_equal(expr_left(s, 12), 3);
	assert_int_equal(expr_right(s, 12), 15);
	assert_int_equal(expr_left(s, 16), 3);
	assert_int_equal(expr_left(s, 18), 2);
	assert_int_equal(expr_right(s, 18), 19);
	assert_int_equal(expr_left(s, 5), EXPR_NONE);
	assert_true(expr_value(s, &s->stmt[0], &v));
	assert_int_equal(v.a, 2);
	assert_int_equal(v.b, 19);
	source_free(s);
	s = make("a.ts", "x: Map<string, number> = a < b;\n");
	assert_int_equal(expr_prec(s, 3), 0); /* a type, no comparison */
	assert_true(expr_prec(s, 10) > 0);
	source_free(s);
}

static void
test_lines(void **state)
{
	struct source *s = make("a.py", "a\n\nbc");
	size_t len;

	(void)state;
	assert_int_equal(s->n_line, 3);
	assert_memory_equal(source_line_text(s, 3, &len), "bc", 2);
	assert_int_equal(len, 2);
	(void)source_line_text(s, 2, &len);
	assert_int_equal(len, 0);
	(void)source_line_text(s, 4, &len);
	assert_int_equal(len, 0);
	assert_int_equal(source_line(s, 2), 2);
	source_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dialects),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_cut_texts),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
