/* What judges a run besides the files that its commands name. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/path.h"
#include "orchestrator/run/checkers.h"

static char dir[] = "/tmp/foray-checkers-XXXXXX";

/* pairs: name, text, ..., NULL. want: "a b ", sorted. */
static void
finds(const char *command, const char *want, const char *const *pairs)
{
	struct strv files = { 0 }, commands = { 0 }, got = { 0 };
	struct buf b;
	size_t i;

	memcpy(dir + sizeof dir - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	for (; *pairs != NULL; pairs += 2) {
		char *path = path_join(dir, pairs[0]), *up = path_dir(path);

		assert_int_equal(path_mkdirs(up, 0755, NULL), 0);
		assert_int_equal(
		    file_write(path, pairs[1], strlen(pairs[1]), 0755, NULL),
		    0);
		strv_add(&files, pairs[0]);
		free(path);
		free(up);
	}
	strv_sort(&files);
	strv_add(&commands, command);
	checkers_find(dir, &files, &commands);
	for (i = 1; i < commands.n; i++)
		strv_add(&got, commands.v[i] + 3);
	strv_sort(&got);
	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < got.n; i++)
		(void)buf_printf(&b, "%s ", got.v[i]);
	if (strcmp(buf_str(&b), want) != 0)
		fail_msg(
		    "%s: '%s' instead of '%s'", command, buf_str(&b), want);
	buf_clear(&b);
	strv_clear(&files);
	strv_clear(&commands);
	strv_clear(&got);
	assert_int_equal(path_rmtree(dir, NULL), 0);
}

#define FINDS(command, want, ...) \
	finds(command, want, (const char *const[]){ __VA_ARGS__, NULL })

#define MAX_SH "max.sh", "max() { echo 1; }\nfail() { exit 1; }\n"

/* What a shell test sources to judge with; not what it sources to test. */
static void
test_sourced(void **state unused_arg)
{
	FINDS("sh test.sh", "assert.sh test.sh ", "assert.sh", "", MAX_SH,
	    "test.sh", ". ./max.sh\n. ./assert.sh\nfoo\n");
	FINDS("sh t/run.sh", "t/lib/assert.sh t/run.sh ", "t/lib/assert.sh", "",
	    MAX_SH, "t/run.sh",
	    ". \"$(dirname \"$0\")/lib/assert.sh\"\n"
	    ". \"$(dirname \"$0\")/../max.sh\"\nmax\n");
	FINDS("bash t/run.sh", "t/run.sh test-lib.sh ", "test-lib.sh", "",
	    "t/run.sh",
	    "H=$(cd \"${0%/*}\" && pwd)\nsource $H/../test-lib.sh\n");
	/* By what it defines: most of it judges. */
	FINDS("sh a/go.sh", "a/go.sh a/lib.sh b.sh ", "a/go.sh",
	    "cd \"${BASH_SOURCE%/*}\"\nif [ x ]; then . ./lib.sh; fi\nis 1 1\n",
	    "a/lib.sh", ". ./b.sh\nis() {\n\techo FAIL\n}\nnot_ok() { :; }\n",
	    "b.sh", "expect_eq() { :; }\n");
	FINDS("sh go.sh", "go.sh ", "go.sh", ". ./lib.sh\nadd\n", "lib.sh",
	    "add() { :; }\nsub() { :; }\ncheck() { :; }\n");
	FINDS("sh go.sh", "go.sh ", "go.sh", ". ./conf.sh\nadd\n", "conf.sh",
	    "A=1\n");
	FINDS("sh go.sh", "go.sh ", "go.sh", ". ./sum.sh\nsummary\n", "sum.sh",
	    "summary() { :; }\n");
	/* Rules and words of -t source, too. */
	FINDS("make check", "assert.sh ", "assert.sh", "", "Makefile",
	    "check:\n\t. ./assert.sh; eq \"$$(./max 1)\" 1\n");
	FINDS("bash -c '. ./latest.sh; . ./assert.sh'", "assert.sh ",
	    "assert.sh", "", "latest.sh", "x() { :; }\n");
	/* What judges is called with what it should look at. */
	FINDS("sh go.sh", "assert_same.sh go.sh tap/expect.sh ", "go.sh",
	    "./calc >got\n./assert_same.sh got\nsh ./calc.sh 1\n"
	    "sh tap/expect.sh a b\n",
	    "assert_same.sh", "", "calc.sh", "", "tap/expect.sh", "");
	FINDS("sh go.sh", "go.sh ", "go.sh",
	    ". ../assert.sh\n. /assert.sh\n. \"$x\"\n. *\n. ./go.sh\n", "x",
	    "");
}

/* The files of a loop over a glob, when they are what is run. */
static void
test_globs(void **state unused_arg)
{
#define ONES "checks/a.sh", "exit 1\n", "checks/b.sh", "", "c.sh", ""
	FINDS("for t in checks/*.sh; do sh $t || exit 1; done",
	    "checks/a.sh checks/b.sh ", ONES);
	FINDS("make check", "checks/a.sh checks/b.sh ", ONES, "Makefile",
	    "check:\n\t@for t in checks/*.sh; do \\\n\t\tsh \"$$t\" || exit 1; "
	    "\\\n\tdone\n");
	FINDS("make check", "checks/a.sh checks/b.sh ", ONES, "Makefile",
	    "TESTS = $(wildcard checks/*.sh)\ncheck:\n\tfor t in $(TESTS); do "
	    "bash ./$$t; done\n");
	FINDS("npm test", "checks/a.sh checks/b.sh ", ONES, "package.json",
	    "{\"scripts\":{\"test\":"
	    "\"for f in checks/*; do bash -e $f || exit 1; done\"}}");
	FINDS("cd checks && for t in ?.sh; do ./$t; done",
	    "checks/a.sh checks/b.sh ", ONES);
	FINDS("cd checks && for t in ../?.sh; do sh $t; done", "c.sh ", ONES);
	FINDS("sh ci.sh", "checks/a.sh checks/b.sh ci.sh ", ONES, "ci.sh",
	    "bad=0\nfor t in checks/*.sh\ndo\n\tif ! timeout 9 sh \"$t\"\n"
	    "\tthen bad=1; fi\ndone\nexit $bad\n");
	FINDS("sh ci.sh", "checks/a.sh checks/b.sh ci.sh ", ONES, "ci.sh",
	    "for t in $(ls checks/*.sh); do\n\t\"./$t\" >/dev/null 2>&1\ndone\n"
	    "exit $?\n");
	FINDS("sh checks/all", "checks/a.sh checks/all checks/b.sh ", ONES,
	    "checks/all",
	    "for t in \"$(dirname \"$0\")\"/*.sh; do\n\tsh $t\ndone\nexit\n");
	FINDS("sh ci.sh", "ci.sh ", ONES, "ci.sh",
	    "for t in \"$@\" $* $1 $(cat list) a\ndo\n\t$t\n\tsh $t\ndone\nexit\n");
	/* Looked at, judged by others, told what to do, or not run at all. */
	FINDS("sh ci.sh", "ci.sh ", ONES, "ci.sh",
	    "for t in checks/*.sh; do\n\tsh -n $t\n\tshellcheck $t\n"
	    "\tsh $t | grep x\n\tsh $t >out\n\tsh $t 1\n"
	    "\t[ \"$(sh $t)\" = 1 ]\n\t./c.sh\ndone\nexit $?\n");
}

#define PROG "prog.c", "int main(void) {}\n"

/* What diff and cmp are given, if it was there before. */
static void
test_expected(void **state unused_arg)
{
	FINDS("make check", "in.txt out.txt ", PROG, "in.txt", "", "out.txt",
	    "", "Makefile", "check:\n\t./prog < in.txt | diff - out.txt\n");
	FINDS("make check", "want ", "want", "", "Makefile",
	    "check:\n\t./prog >got\n\tcmp got want\n");
	FINDS("make check", "want ", "want", "", "got", "", "Makefile",
	    "check: got\n\tcmp got want\ngot:\n\t./prog > got\n");
	FINDS("make check", "want ", "want", "", "got", "", "Makefile",
	    "check:\n\tpython3 t.py 1 got\n\tcmp got want\n");
	FINDS("make check", "expected/x ", "expected/x", "", "Makefile",
	    "SHELL = bash\ncheck:\n\tdiff -u expected/x <(./prog x)\n");
	FINDS("npm test", "x.txt ", "x.txt", "", "package.json",
	    "{\"scripts\":{\"test\":\"node a.js | diff x.txt -\"}}");
	/* What another command was given, it may write. */
	FINDS("make check", "x ", "x", "", "got", "", "Makefile",
	    "check:\n\tpython3 t.py got\n\tcmp got x\n");
	FINDS("make check", "a.ok ", "a.ok", "", "b.ok", "", "Makefile",
	    "check:\n\t./prog --out b.ok\n\tcmp b.ok a.ok\n");
	FINDS("make check", "a.ok ", "a.ok", "", "Makefile",
	    "check:\n\t./prog --like a.ok | diff a.ok -\n");
	/* Of two that are there and not told apart, neither. */
	FINDS("make check", "", "a", "", "b", "", "Makefile",
	    "check:\n\tcmp a b\n");
	/* A formatter's input is no expectation, and what a rule makes neither.
	 */
	FINDS("make check", "", PROG, "Makefile",
	    "check:\n\tindent prog.c | diff - prog.c\n");
	FINDS("make check", "", "want", "", "Makefile",
	    "check: want\n\t./prog | cmp - want\nwant:\n\tpython3 want.py\n");
	FINDS("make check", "", "all.h", "", "Makefile",
	    "check:\n\tpython3 gen.py >all.h\n\tdiff all.h -\n");
	/* Loops and functions of a script. */
#define DATA "d/1.in", "", "d/1.out", "", "d/2.in", "", "d/2.out", "", PROG
#define ALL "d/1.in d/1.out d/2.in d/2.out "
	FINDS("make check", ALL, DATA, "Makefile",
	    "check:\n\tfor i in d/*.in; do ./prog <$$i | cmp - "
	    "$${i%.in}.out; done\n");
	FINDS("sh go.sh", ALL "go.sh ", DATA, "go.sh",
	    "for i in d/*.in; do\n\t./prog < \"$i\" > got\n"
	    "\tdiff \"${i%%.*}.out\" got || exit 1\ndone\nexit 0\n");
	FINDS("sh go.sh", ALL "go.sh ", DATA, "go.sh",
	    "t() {\n\tif ! ./prog <d/$1.in | diff - d/$1.out; then\n"
	    "\t\texit 1\n\tfi\n}\nt 1\nt 2\n");
	FINDS("sh d/go.sh", "d/1.out d/2.out d/go.sh ", DATA, "d/go.sh",
	    "h=$(dirname $0)\nfor i in 1 2; do\n"
	    "\tx=$(./prog $i | diff \"$h/$i.out\" -) || exit 1\ndone\nexit\n");
	FINDS("sh go.sh", "go.sh ", DATA, "go.sh",
	    "diff - \"$1\"\ndiff - $x/*\ndiff - ../d/1.in\ncmp - /d/1.out\n");
}

#define PARSER "parser.c", "int parse(const char *s)\n{\n\treturn 1;\n}\n"
#define MAIN "int parse(const char *);\nint main(void)\n{\n\t"

/* Which file of a program that is run is the test. */
static void
test_programs(void **state unused_arg)
{
	FINDS("make check", "check.c ", PARSER, "check.c",
	    MAIN "return parse(\"1\");\n}\n", "Makefile",
	    "check: check.bin\n\t./check.bin\n"
	    "check.bin: check.c parser.c\n\tcc -o $@ check.c parser.c\n");
	FINDS("make said", "run.c ", PARSER, "run.c",
	    MAIN "return parse(\"7\") != 7;\n}\n", "Makefile",
	    "said:\n\t$(CC) -o run run.c parser.c\n\t./run\n");
	FINDS("g++ run.cc parser.c -o run && ./run", "run.cc ", PARSER,
	    "run.cc", MAIN "assert(parse(\"\"));\n}\n");
	FINDS("make said", "run.c ", PARSER, "run.c",
	    MAIN "if (parse(c[i].in) != c[i].want)\n\treturn 1;\n}\n",
	    "Makefile", "run: run.o parser.o\nsaid: run\n\t./run\n");
	FINDS("make said", "run.c ", "parser.c", "static int a;\n", "run.c",
	    "#include \"parser.c\"\nint main() { puts(\"FAIL\"); }\n",
	    "Makefile", "said:\n\tcc run.c -o run\n\t./run\n");
	/* Only the test's own rule makes it. */
	FINDS("make said", "run.c ", PARSER, "run.c",
	    MAIN "return parse(\"1\");\n}\n", "Makefile",
	    "all: parser.o\nrun: run.c parser.c\nsaid: run\n\t./run\n");
	/* The product itself. */
#define RULE "prog: prog.o parser.o\n\tcc -o prog prog.o parser.o\n"
#define TEST "test: prog\n\t./prog\n"
#define BUG "prog.c", MAIN "if (parse(\"x\") != 0)\n\t\treturn 1;\n}\n"
	FINDS("make test", "", PARSER, BUG, "Makefile", RULE TEST);
	FINDS("make test", "", PARSER, BUG, "Makefile",
	    "all: bin\nbin: prog\n" RULE TEST);
	FINDS("make test", "", PARSER, BUG, "Makefile",
	    "help:\n\techo\ninstall: prog\n\tcp prog /b\n" RULE TEST);
	FINDS("make test", "", PARSER, "prog.h", "int parse(const char *);\n",
	    "prog.c",
	    "#include \"prog.h\"\nint main(int c, char **v)\n{\n"
	    "\treturn strcmp(v[1], \"-x\") == 0 || parse(v[2]) == 1;\n}\n",
	    "Makefile", RULE TEST);
	FINDS("cc -o prog prog.c parser.c && ./prog", "", PARSER, BUG);
	/* Unless its main file says what should come out. */
	FINDS("make test", "prog.c ", PARSER, "prog.c",
	    MAIN "return parse(\"12\") == 12 ? 0 : 1;\n}\n", "Makefile",
	    RULE TEST);
	FINDS("make test", "prog.c ", PARSER, "prog.c",
	    MAIN "return strcmp(parse(\"12\"), \"12\");\n}\n", "Makefile",
	    RULE TEST);
	/* "all" that runs it makes no product of it. */
	FINDS("make", "prog.c ", PARSER, BUG, "Makefile",
	    "all: test\n" TEST RULE);
	FINDS("make test", "", "prog.c", "int main() { return 12 != 12; }\n",
	    "Makefile", "test: prog\n\t./prog\n");
}

/* Words that grow without end are given up. */
static void
test_growing(void **state unused_arg)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	(void)buf_adds(&b, "for a in");
	for (int i = 0; i < 2000; i++)
		(void)buf_adds(&b, " $a$a$a");
	(void)buf_adds(&b, "; do\n\tdiff $a$a$a.out -\ndone\nexit\n");
	FINDS("sh go.sh", "go.sh ", "go.sh", buf_str(&b), "x.in", "");
	buf_clear(&b);
	FINDS("sh go.sh", "go.sh ", "go.sh", ". ./go.sh\n. $(dirname \n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sourced),
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_expected),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_growing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
