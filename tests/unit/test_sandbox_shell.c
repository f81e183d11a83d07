/*
 * The shell reader: each text against the simple commands that it holds. A
 * command is its words in brackets, with "$" before one whose value is not
 * known; {..} is an assignment, <fd>op:target a redirection.
 */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include <unistd.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/json.h"
#include "common/log.h"
#include "sandbox/policy/shell.h"

static const char *const ops[] = { "<", ">", ">>", "<>", "&>", "dup", "<<",
	"<<<" };

static void
add_word(struct buf *b, const struct sh_word *w)
{
	(void)buf_printf(b, "[%s%s%s]",
	    (w->flags & SH_COMPUTED) != 0 ? "$" : "",
	    (w->flags & SH_GLOB) != 0 ? "*" : "", w->text);
}

static void
dump(const struct sh_script *s, struct buf *b)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sh_cmd *c = &s->cmds[i];

		if (c->n_words + c->n_assigns + c->n_redirs == 0)
			continue; /* NAME() of a function */
		(void)buf_adds(b, b->len > 0 ? " " : "");
		(void)buf_adds(b, c->piped ? "|" : "");
		for (size_t k = 0; k < c->n_assigns; k++)
			(void)buf_printf(b, "{%s}", c->assigns[k].text);
		for (size_t k = 0; k < c->n_words; k++)
			add_word(b, &c->words[k]);
		for (size_t k = 0; k < c->n_redirs; k++) {
			if (c->redirs[k].fd >= 0)
				(void)buf_printf(b, "%d", c->redirs[k].fd);
			(void)buf_printf(b, "%s:", ops[c->redirs[k].op]);
			add_word(b, &c->redirs[k].target);
		}
	}
	if (s->error[0] != '\0')
		(void)buf_adds(b, " ERROR");
	if (s->evaluates)
		(void)buf_adds(b, " EVALUATES");
}

static const struct {
	const char *text, *want;
} rows[] = {
	/* words and quotes */
	{ "", "" },
	{ "ls -l", "[ls][-l]" },
	{ "  ls\t-l  # x; rm y", "[ls][-l]" },
	{ "a#b #c", "[a#b]" },
	{ "r''m \"x y\" a\\ b", "[rm][x y][a b]" },
	{ "r\\\nm -r", "[rm][-r]" },
	{ "\\rm '' \"\"", "[rm][][]" },
	{ "echo 'a\\n' \"b\\n\\\"\\$x\\`\"", "[echo][a\\n][b\\n\"$x`]" },
	{ "$'r\\x6d' $'\\162m' $'a\\tb\\'' $\"q\"", "[rm][rm][a\tb'][q]" },
	{ "echo $x ${x} \"$x\" $1 $@ $$ $",
	    "[echo][$$x][$${x}][$$x][$$1][$$@]"
	    "[$$$][$]" },
	{ "ls *.c a?b [ab]c '*'", "[ls][**.c][*a?b][*[ab]c][*]" },
	{ "~/x ~", "[~/x][~]" },
	{ "{rm,-r,out}", "[rm][-r][out]" },
	{ "x{1..3}y {a..c} {}  {a} a{b",
	    "[x1y][x2y][x3y][a][b][c][{}][{a}]"
	    "[a{b]" },
	{ "{a,{b,c}d} '{a,b}' {a\\,b}", "[a][bd][cd][{a,b}][{a,b}]" },
	{ "{{a,b}", "[{a][{b]" },
	/* lists and pipelines */
	{ "a;b&c&&d||e|f|&g\nh", "[a] [b] [c] [d] [e] |[f] |[g] [h]" },
	{ "a &&\n\nb |\n c", "[a] [b] |[c]" },
	{ "! a | ! b", "[a] |[!][b]" },
	{ "time -p a; time", "[a]" },
	{ "(a; {b; c;}; { d; })", "[a] [{b] [c] ERROR" },
	{ "(a; { d; }) >x", "[a] [d] >:[x]" },
	{ "a | { b; c; }", "[a] |[b] |[c]" },
	{ "a | (b; $(c))", "[a] |[b] |[$$(c)] |[c]" },
	{ "if a; then b; elif c; then d; else e; fi", "[a] [b] [c] [d] [e]" },
	{ "while a; do b; done <x; until c; do d; done",
	    "[a] [b] <:[x] [c] [d]" },
	{ "for i in a $(b); do c $i; done; for i; do d; done",
	    "[b] [c][$$i] [d]" },
	{ "for ((i=0; i<$(n); i++)); do c; done", "[n] [c] EVALUATES" },
	{ "for i in x; { c; }; select z in 1; do q; done", "[c] [q]" },
	{ "case $x in a|b) c;; (d) e;& *) f;; esac", "[c] [e] [f]" },
	{ "case $(w) in $(p)) ;; esac", "[w] [p]" },
	{ "f() { a; }; function g { b; }; function h() (c); f",
	    "[a] [b] [c] [f]" },
	{ "coproc X { y; }; coproc z w", "|[y] |[z][w]" },
	{ "!(rm z)", "[rm][z] ERROR" },
	{ "! (rm z)", "[rm][z]" },
	{ "if a; then b", "[a] [b] ERROR" },
	{ "fi", " ERROR" },
	{ "a;;b", "[a] ERROR" },
	{ "a)", "[a] ERROR" },
	{ "&& a", " ERROR" },
	{ "echo if then", "[echo][if][then]" },
	{ "A=1 if", "{A=1}[if]" },
	/* assignments */
	{ "A=1 B+='x y' C[i]=2 make D=3",
	    "{A=1}{B+=x y}{C[i]=2}[make][D=3]"
	    " EVALUATES" },
	{ "a[1 + 2]=3", "{a[1 + 2]=3}" },
	{ "a[i]; a[bc]*", "[*a[i]] [*a[bc]*]" },
	{ "a=([ab]* [$(x)]=1)", "{a=([ab]* [$(x)]=1)} [x] [x]" },
	{ "a=(1 $(b) [k]=v); c", "{a=(1 $(b) [k]=v)} [b] [c]" },
	{ "declare -i i", "[declare][-i][i] EVALUATES" },
	{ "export PS1='[$(a)]'", "[export][PS1=[$(a)]]" },
	{ "export A=(x) B", "[export][$A=(x)][B]" },
	{ "'A'=1 \"B=2\"", "[A=1][B=2]" },
	{ "A={b,c}", "{A={b,c}}" },
	/* substitutions */
	{ "echo \"size $(rm -r out)\"",
	    "[echo][$size $(rm -r out)] "
	    "[rm][-r][out]" },
	{ "echo `a \\`b\\``", "[echo][$`a \\`b\\``] [a][$`b`] [b]" },
	{ "echo '$(a)' '`b`'", "[echo][$(a)][`b`]" },
	{ "echo ${x:-$(a)} ${y#${z%`b`}}",
	    "[echo][$${x:-$(a)}]"
	    "[$${y#${z%`b`}}] [a] [b]" },
	{ "cat <(a) >(b) x<(c)", "[cat][$<(a)][$>(b)][$x<(c)] [a] |[b] [c]" },
	{ "echo data > >(rm -r out)",
	    "[echo][data]>:[$>(rm -r out)] "
	    "|[rm][-r][out]" },
	{ "echo $((1 + $(a))) $((b); (c))",
	    "[echo][$$((1 + $(a)))]"
	    "[$$((b); (c))] [a] [b] [c] EVALUATES" },
	{ "((a)); ((b); c)", "[b] [c] EVALUATES" },
	{ "echo $[1+$(a)]", "[echo][$$[1+$(a)]] [a]" },
	{ "m['a b']=1 n[\"k\"]=2; echo ${m['a b']} $((m['k'] + \"1\"))",
	    "{m['a b']=1}{n[\"k\"]=2} [echo][$${m['a b']}]"
	    "[$$((m['k'] + \"1\"))] EVALUATES" },
	{ "echo ${@:2} ${x: -3} ${x:(-1):${#y}}",
	    "[echo][$${@:2}][$${x: -3}]"
	    "[$${x:(-1):${#y}}] EVALUATES" },
	{ "echo ${x@P} ${y:n}", "[echo][$${x@P}][$${y:n}] EVALUATES" },
	{ "[[ -f $(a) && x =~ ^(b|c)$ ]] && d", "[a] [d]" },
	{ "[[ a ]]; [[ $(b) -eq 1 ]]", "[b] EVALUATES" },
	{ "[[ $x =~ ^(a b|c;d)|( #)$ && y ]] && d", "[d]" },
	{ "[[ a ; b ]]", " ERROR" },
	{ "echo \"a $(b \"c $(d)\") e\"",
	    "[echo][$a $(b \"c $(d)\") e] "
	    "[b][$c $(d)] [d]" },
	{ "echo \"$\\\n(rm)\"", "[echo][] ERROR" },
	{ "echo $(a; (b); case c in d) e;; esac)",
	    "[echo][$$(a; (b); case c in d) e;; esac)] [a] [b] [e]" },
	{ "echo \"${x:-'$(a)'}\"", "[echo][$] ERROR" },
	{ "\"$x\" $y z$(w)", "[$$x][$$y][$z$(w)] [w]" },
	{ "echo \"abc; rm", "[echo][abc; rm] ERROR" },
	{ "echo $(a", "[echo][$] [a] ERROR" },
	{ "echo `a", "[echo][$] ERROR" },
	/* redirections */
	{ "a <b >c 2>>d 3<>e &>f &>>g >&h >|i",
	    "[a]<:[b]>:[c]2>>:[d]3<>:[e]"
	    "&>:[f]&>:[g]&>:[h]>:[i]" },
	{ "a 2>&1 >&- <&3 {fd}>x >&$y",
	    "[a]2dup:[1]dup:[-]0dup:[3]10>:[x]&>:[$$y]" },
	{ ">x", ">:[x]" },
	{ ">x a 2>y", "[a]>:[x]2>:[y]" },
	{ "a <<<\"$(b)\" c", "[a][c]<<<:[$$(b)] [b]" },
	{ "a >", "[a] ERROR" },
	{ "a > $(b)/x", "[a]>:[$$(b)/x] [b]" },
	{ "a12>b a 12>c", "[a12][a]>:[b]12>:[c]" },
	/* here-documents */
	{ "cat <<E\na $(b)\nE\nc", "[cat]<<:[$a $(b)\n] [b] [c]" },
	{ "cat <<'E'\na $(b)\nE\nc", "[cat]<<:[a $(b)\n] [c]" },
	{ "cat <<-E\n\ta\n\tE\nc", "[cat]<<:[\ta\n] [c]" },
	{ "cat <<A <<B\n1\nA\n2\nB\nc", "[cat]<<:[1\n]<<:[2\n] [c]" },
	{ "cat <<E\na\\\nE\nb\nE\nc", "[cat]<<:[a\\\nE\nb\n] [c]" },
	{ "cat <<'E'\nE\\\n\nE\nc", "[cat]<<:[E\\\n\n] [c]" },
	{ "x=$(cat <<E\nf(E)\nE\n); (cat <<E\nE)\nE\n)",
	    "{x=$(cat <<E\nf(E)\nE\n)} [cat]<<:[f(E)\n] [cat]<<:[E)\n]" },
	{ "cat <<\\E; d\n$(a)\nE", "[cat]<<:[$(a)\n] [d]" },
	{ "a <<E | b\nx\nE", "[a]<<:[x\n] |[b]" },
	{ "a <<E", "[a]<<:[]" },
	{ "n \"$(cat <<'E'\ns; rm\nE\n)\"",
	    "[n][$$(cat <<'E'\ns; rm\nE\n)] "
	    "[cat]<<:[s; rm\n]" },
	{ "a <<E $(b\nc)\nE", "[a][$]<<:[] [b] ERROR" },
};

static void
test_rows(void **state)
{
	struct sh_script *s;
	struct buf b;
	int failed = 0;

	(void)state;
	buf_init(&b, 1 << 16);
	for (size_t i = 0; i < nitems(rows); i++) {
		buf_reset(&b);
		s = sh_parse(rows[i].text, strlen(rows[i].text));
		dump(s, &b);
		if (strcmp(buf_str(&b), rows[i].want) != 0) {
			print_message("%s\n  got  %s\n  want %s\n  (%s)\n",
			    rows[i].text, buf_str(&b), rows[i].want, s->error);
			failed++;
		}
		sh_free(s);
	}
	buf_clear(&b);
	assert_int_equal(failed, 0);
}

/* What a shell finds in these and another reader does not: each must be an
 * error, or show the command, curl. */
static const char *const hidden[] = {
	/* arithmetic is read as if in double quotes */
	"echo $(( '$(curl x)' ))",
	"echo $(( $'\\x24(curl x)' ))",
	"(( '$(curl x)' ))",
	"echo $[ '$(curl x)' ]",
	"a['$(curl x)']=1",
	"a=(1); echo ${a['$(curl x)']}",
	"for (( ; '$(curl x)'1 ; )) do break; done",
	"x=abc; echo ${x:'$(curl x)'}",
	"cat <<E\n$(( '$(curl x)' ))\nE",
	"echo $(( '`curl x`' ))",
	"declare a['$(curl x)']=1",
	"a=(1); echo ${#a['$(curl x)']}",
	"x=1; echo ${x['$(curl x)']+1}",
	"cat <<E\n${a['$(curl x)']}\nE",
	"x=abc; echo ${x:$'\\x24(curl x)'}",
	"x=abc; echo ${x: -'$(curl x)'}",
	"a[$'\\x24(curl x)']=1",
	"echo $(( \"'$(curl x)'\" ))",
	"echo $(( '\\'$(curl x)' ))",
	"(( 1 # $(( '$(curl x)' )) ))\n))",
	"echo $(( ${x:-'$(curl x)'} ))",
	/* NAME[ goes on up to the bracket, over blanks */
	"a[ #]; curl x",
	"x=1 a[ #]; curl x",
	"a[ <<'E' ]\ncurl x\nE",
	">f a[ #]; curl x",
	"coproc a[ ( #] ; curl x\n)",
	"time a[ #]; curl x",
	"a[ \"]\" #]; curl x",
	"a[ $(echo ]) #]; curl x",
	"a[[ #]]; curl x",
	"a[ \\] #]; curl x",
	"a\\\n[ #]; curl x",
	"a[ $'\\']' #]; curl x",
	"a[ ; curl x; ]=1",
	"a[1|curl x]=1",
	"a[\ncurl x\n]=1",
	"export a[ ; curl x ; ]=1",
	"a=(['$(curl x)']=1)",
	"declare -A a; a=([ #]=1 ); curl x\n)",
	"exec {a['$(curl x)']}>f",
	/* no comment in a regular expression's parentheses */
	"[[ a =~ ( #) ]] || curl x\n]]",
	"[[ a =~ x( #) ]] || curl x\n]]",
	"[[ a && b =~ ( #) ]] || curl x\n]]",
	"[[ a =~ ()( #) ]] || curl x\n]]",
	"[[ a =~ ((a) #) ]] || curl x\n]]",
	"[[ a =~ ( <<E) ]] || curl x\nE\n]]",
	"[[ a =~ (a ]] ) ]] || curl x",
	"[[ a =~ (;) ]] || curl x",
	"[[ a == @( #) ]] || curl x\n]]",
	/* a here-document ended by a joined line */
	"cat <<E\nE\\\n\ncurl x\nE",
	"cat <<foo\nfo\\\no\ncurl x\nfoo",
	"cat <<-E\n	E\\\n\ncurl x\nE",
	"cat <<-foo\n	fo\\\no\ncurl x\nfoo",
	"cat <<E\n\\\nE\ncurl x\nE",
	"cat <<-E\n	\\\n	E\ncurl x\nE",
	"cat <<E\nE\\\n\\\n\ncurl x\nE",
	/* and by a line with the parenthesis that closes the substitution */
	"x=$(cat <<E\nhi\nE); curl x\nE\n)",
	"x=$(cat <<E\nhi\nE ); curl x\nE\n)",
	"cat <(cat <<E\nhi\nE); curl x\nE\n)",
	"x=$(cat <<E\nhi\nEfoo); curl x\nE\n)",
	"x=$(cat <<'E'\nhi\nE); curl x\nE\n)",
	"x=$(cat <<-E\nhi\n	E); curl x\nE\n)",
	"x=$(cat <<E\nhi\nE\\\n); curl x\nE\n)",
	/* escapes in $'...' */
	"$'\\x{63}url' x",
	"$'\\x{063}url' x",
	"$'\\x{63url' x",
	"echo $'\\c\\' '; curl x #'",
	"echo $'\\c'; curl x #'",
	"echo $'\\c\\\\' ; curl x #'",
	/* a pattern that looks like a subshell */
	"shopt -s extglob\n!( #); curl x\n)",
	/* joined lines within names and operators */
	"x=abc; echo ${x\\\n:'$(curl x)'}",
	"a=ec; aho=curl; $a\\\nho x",
	"(\\\n( '$(curl x)' ))",
	"x=`cat <<E\nE\\\\\\\n\n\ncurl x\nE\n`",
	"cat <<\\\n-E\n'\n	E\ncurl x #'",
	"a=ec; aho=curl; \"$a\\\nho\" x",
	"a=ec; aho=curl; ${a\\\nho} x",
	"echo $(( '$(curl x)' )\\\n)",
	"echo $(\\\n( '$(curl x)' ))",
	"echo ${a\\\n['$(curl x)']}",
	/* what a declaration evaluates */
	"declare 'a[$(curl x)]=1'",
	"declare \"a[\\$(curl x)]=1\"",
	"declare \\a['$(curl x)']=1",
	"declare a'[`curl x`]=1'",
	"declare -r 'a[$(curl x)]=1'",
	/* a line joined behind a subscript */
	"a[0]\\\n=1 a[ #]; curl x",
	"a[0]+\\\n=1 a[ #]; curl x",
	/* arithmetic only as long as its parentheses match */
	"echo $(( curl x$(cat <<E\nhi\n)\nE\n) ))",
	"echo $(( curl x; $(case a in a) ;; esac) ))",
	"echo $(( curl x; $(echo \\() ))",
	"coproc echo a[ #]; curl x",
};

static void
test_hidden(void **state unused_arg)
{
	int failed = 0;

	for (size_t i = 0; i < nitems(hidden); i++) {
		struct sh_script *s = sh_parse(hidden[i], strlen(hidden[i]));
		bool seen = s->error[0] != '\0';

		for (size_t k = 0; k < s->n; k++)
			seen |= s->cmds[k].n_words > 0 &&
			    strcmp(s->cmds[k].words[0].text, "curl") == 0;
		if (!seen)
			print_message("%s\n", hidden[i]);
		failed += !seen;
		sh_free(s);
	}
	assert_int_equal(failed, 0);
}

static char *
repeat(const char *head, size_t n, const char *tail)
{
	size_t a = strlen(head), z = strlen(tail);
	char *s = xmalloc(n * (a + z) + 2), *p = s;

	for (size_t i = 0; i < n; i++, p += a)
		memcpy(p, head, a);
	*p++ = 'x';
	for (size_t i = 0; i < n; i++, p += z)
		memcpy(p, tail, z);
	*p = '\0';
	return s;
}

/* Deep and long texts end, with all that they hold or an error. */
static void
test_limits(void **state)
{
	static const struct {
		const char *head, *tail;
		size_t n;
		bool good;
	} texts[] = {
		{ "$(", ")", 60, true },
		{ "$(", ")", 5000, false },
		{ "\"$(", ")\"", 60, true },
		{ "((", "))", 2000, true },
		{ "$((", "))", 60, true },
		{ "$((", "))", 10000, false },
		{ "$((", ")", 3000, false },
		{ "(", ")", 60, true },
		{ "(", ")", 50000, true }, /* arithmetic */
		{ "( ", ")", 5000, false },
		{ "{ ", ";}", 60, true },
		{ "${x:-", "}", 500, true },
		{ "${x:-", "}", 5000, false },
		{ "{a,", "}", 60, true },
		{ "{a,b}", "", 200, true },
		{ "{a,b}", "", 2000, false },
		{ "a[", "]", 5000, true },
		{ "\\", "", 3001, true },
		{ "true && ", "", 5000, true },
		{ "if ", "", 5000, false },
	};
	struct sh_script *s;
	char *text;

	(void)state;
	for (size_t i = 0; i < nitems(texts); i++) {
		text = repeat(texts[i].head, texts[i].n, texts[i].tail);
		s = sh_parse(text, strlen(text));
		if ((s->error[0] == '\0') != texts[i].good)
			fail_msg("%zu times %s: %s", texts[i].n, texts[i].head,
			    s->error);
		sh_free(s);
		free(text);
	}
	text = repeat("x", SH_MAX_BYTES + 1, "");
	s = sh_parse(text, strlen(text));
	assert_string_not_equal(s->error, "");
	sh_free(s);
	free(text);
	s = sh_parse("a\0b", 3);
	assert_string_not_equal(s->error, "");
	sh_free(s);
	s = sh_parse("f() { a; }; function g { b; }", 29);
	assert_int_equal(s->n_functions, 2);
	assert_string_equal(s->functions[1], "g");
	sh_free(s);
}

/* Ways back that nest, a text that is long: reading must not take long. The
 * work that it counts is what decides, and it is bounded by the length. */
static void
test_work(void **state unused_arg)
{
	static const struct {
		const char *piece;
		size_t times;
		size_t tail; /* bytes of "a" after it */
	} texts[] = {
		{ "$((", 24, 9000 },
		{ "$((", 24, 200000 },
		{ "$(((((((((((((((( ", 20, 100000 },
		{ "((", 20, 200000 },
		{ "a[$(((", 24, 9000 },
		{ "${a:-$((", 24, 9000 },
		{ "\"$((", 24, 9000 },
		{ "`$((", 8, 9000 },
		{ "{", 8000, 0 },
		{ "{a,", 3000, 0 },
		{ "{a,b}", 30, 0 },
		{ "cat <<A $(((", 12, 9000 },
	};

	for (size_t i = 0; i < nitems(texts); i++) {
		struct sh_script *s;
		struct buf b;
		size_t k;

		buf_init(&b, BUF_NOMAX);
		(void)buf_adds(&b, "echo ");
		for (k = 0; k < texts[i].times; k++)
			(void)buf_adds(&b, texts[i].piece);
		for (k = 0; k < texts[i].tail; k++)
			(void)buf_addc(&b, 'a');
		s = sh_parse(buf_str(&b), b.len);
		/* The last step may be one too many. */
		if (s->work > SH_MAX_WORK(b.len) + 2 * b.len ||
		    s->n > SH_MAX_COMMANDS)
			fail_msg("%s...: work %zu", texts[i].piece, s->work);
		if (texts[i].piece[0] != '{')
			assert_true(s->error[0] != '\0');
		sh_free(s);
		buf_clear(&b);
	}
}

/* For a comparison with another reader: texts that end in NUL on stdin, each
 * as a line of JSON. */
static json_t *
words_json(const struct sh_word *w, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(a,
		    (w[i].flags & SH_COMPUTED) != 0
			? json_null()
			: json_str_lossy(w[i].text, w[i].len));
	return a;
}

static void
dump_json(const char *text, size_t len)
{
	struct sh_script *s = sh_parse(text, len);
	json_t *cmds = json_array(), *j;
	char *line;

	for (size_t i = 0; i < s->n; i++)
		(void)json_array_append_new(
		    cmds, words_json(s->cmds[i].words, s->cmds[i].n_words));
	j = json_pack("{s:o, s:s}", "commands", cmds, "error", s->error);
	line = json_text(j);
	(void)puts(line);
	free(line);
	json_decref(j);
	sh_free(s);
}

static int
dump_all(void)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	if (fd_read_all(STDIN_FILENO, &b) < 0)
		return 1;
	for (size_t at = 0; at < b.len; at += strlen(b.data + at) + 1)
		dump_json(b.data + at, strlen(b.data + at));
	buf_clear(&b);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_work),
	};

	if (argc == 2 && strcmp(argv[1], "--dump") == 0)
		return dump_all();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
