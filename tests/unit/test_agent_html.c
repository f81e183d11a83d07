/* worker/agent/html*.c, url.c, webtext.c: pages as text, hostile ones too. */
#include "common/compat.h"

#include <setjmp.h>
#include <time.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/html.h"
#include "worker/agent/url.h"
#include "worker/agent/webtext.h"

#define PAGE "https://h.example/d/p.html?q=1"
#define BIG ((size_t)1 << 20)

struct golden {
	const char *html, *text;
};

static void
check(const struct golden *g, size_t n)
{
	struct buf b;
	size_t i;

	for (i = 0; i < n; i++) {
		char *copy = strndup(g[i].html, strlen(g[i].html));

		buf_init(&b, BUF_NOMAX);
		assert_false(html_to_markdown(&b, copy, strlen(copy), PAGE));
		if (strcmp(buf_str(&b), g[i].text) != 0)
			fail_msg("%s\n--- gave\n%s\n--- not\n%s", g[i].html,
			    buf_str(&b), g[i].text);
		buf_clear(&b);
		free(copy);
	}
}

static void
test_blocks(void **state unused_arg)
{
	static const struct golden g[] = {
		{ "", "" },
		{ "just  text \n here", "just text here" },
		{ "<title>A &amp; B</title><h1>x</h1>", "Title: A & B\n\n# x" },
		{ "<h1>One</h1><h3> <b>Two</b></h3>three",
		    "# One\n\n### Two\n\nthree" },
		{ "<h2></h2><p>a</p><h2> </h2>b", "a\n\nb" },
		{ "<p>a<p>b</p>c<div>d</div>e", "a\n\nb\n\nc\n\nd\n\ne" },
		{ "a<br>b<br><br>c<hr>d", "a\nb\n\nc\n\n---\n\nd" },
		{ "<b>bold</b> <i> it </i>x<em></em>", "**bold** *it* x" },
		{ "<blockquote>a<p>b<blockquote>c</blockquote></blockquote>d",
		    "> a\n>\n> b\n>\n> > c\n\nd" },
		{ "<p>x</p><img src=a alt=' a  pic '><img src=b>y",
		    "x\n\n[image: a pic]y" },
		{ "<dl><dt>a<dd>b<dd>c<dt>d<dd><p>e</dl>f",
		    "a\n: b\n: c\n\nd\n: e\n\nf" },
		{ "<BODY CLASS=x><P ALIGN='center'>a</BODY></HTML>", "a" },
		{ "a &lt; b &amp;&amp; c &quot;d&quot; &#39;&#x41;&eacute;",
		    "a < b && c \"d\" 'A\xc3\xa9" },
		{ "&nosuch; &amp &ampx &#xD800;&#0;&#x110000;&#150;&",
		    "&nosuch; & &ampx " TEXT_REPLACEMENT TEXT_REPLACEMENT
			TEXT_REPLACEMENT "\xe2\x80\x93&" },
		{ "a < b <3 <", "a < b <3 <" },
	};

	check(g, nitems(g));
}

static void
test_lists(void **state unused_arg)
{
	static const struct golden g[] = {
		{ "x<ul><li>a<li>b</ul>y", "x\n\n- a\n- b\n\ny" },
		{ "<ol start=9><li>a<li>b</ol>", "9. a\n10. b" },
		{ "<ul><li>a<ol><li>b<li>c</ol><li>d</ul>",
		    "- a\n  1. b\n  2. c\n- d" },
		{ "<ul><li><p>a</p><p>b</p></li><li><p>c</p></li></ul>",
		    "- a\n\n  b\n- c" },
		{ "<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b" },
		{ "<ul><li></li><li>b</ul>", "- b" },
		{ "<ul><li><pre>x\ny</pre></ul>", "- ```\n  x\n  y\n  ```" },
		{ "<li>stray", "- stray" },
		{ "<ol start=99999999999999><li>a</ol>", "1. a" },
	};

	check(g, nitems(g));
}

static void
test_code(void **state unused_arg)
{
	static const struct golden g[] = {
		{ "use <code>f(x)</code>, <kbd>^C</kbd>", "use `f(x)`, `^C`" },
		{ "<code>a`b</code> <code>``</code>", "``a`b`` ``` `` ```" },
		{ "<pre>\n  a\n\tb  \n</pre>c", "```\n  a\n\tb\n```\n\nc" },
		{ "<pre><code class='x language-c'>int\nx;</code></pre>",
		    "```c\nint\nx;\n```" },
		{ "<div class=highlight-python3><div><pre>x</pre></div></div>",
		    "```python3\nx\n```" },
		{ "<pre class='lang-a`b'>x</pre>", "```\nx\n```" },
		{ "<pre>```\nout\n````</pre>", "`````\n```\nout\n````\n`````" },
		{ "<pre>a<div>b</div><div>c</div><br>d &lt;x></pre>",
		    "```\na\nb\nc\n\nd <x>\n```" },
		{ "<pre><a href=/x>link</a><img alt=i></pre>",
		    "```\nlink\n```" },
		{ "<code>a<pre>b</pre>c", "`a`\n\n```\nb\n```\n\nc" },
		{ "<xmp><b>&amp;</xmp>", "```\n<b>&amp;\n```" },
	};

	check(g, nitems(g));
}

static void
test_tables(void **state unused_arg)
{
	static const struct golden g[] = {
		{ "<table><tr><th>A<th>B<tr><td>1|2<td><p>x<p>y</table>z",
		    "| A | B |\n| --- | --- |\n| 1\\|2 | x y |\n\nz" },
		{ "<table><caption>C</caption><tbody><tr><td>a</td><td></td>"
		  "</tr></tbody></table>",
		    "C\n\n| a |  |\n| --- | --- |" },
		{ "<table><tr><td><p>all</p><p>of it</p></table>",
		    "all\n\nof it" },
		{ "<table><tr><td><pre>x</pre><td>y</table>",
		    "```\nx\n```\n\ny" },
		{ "<table><tr><td>a<table><tr><td>b<td>c</table><td>d</table>",
		    "| a \\| b \\| c \\| \\| --- \\| --- \\| | d |\n"
		    "| --- | --- |" },
		{ "<tr><td>stray<td>cells", "stray\n\ncells" },
		{ "<table><tr><td><b>a</table>b", "**a**\n\nb" },
	};

	check(g, nitems(g));
}

static void
test_links(void **state unused_arg)
{
	static const struct golden g[] = {
		{ "<a href='/x'> a  b </a>c", "[a b](https://h.example/x) c" },
		{ "<a href='e.html#f'><code>g</code></a>",
		    "[`g`](https://h.example/d/e.html#f)" },
		{ "<a href='?a=1&amp;b=2&copy=3'>x</a>",
		    "[x](https://h.example/d/p.html?a=1&b=2&copy=3)" },
		{ "<a href='#here'>x</a><a>y</a><a href=/z></a>", "xy" },
		{ "<a href=//o.example>x<a href=../>y",
		    "[x](https://o.example/)[y](https://h.example/)" },
		{ "<a href='/x'><h3>T</h3><p>u</p></a>",
		    "[T u](https://h.example/x)" },
		{ "<h1>T<a class=headerlink href=/x>P</a></h1>", "# T" },
		{ "<base href='https://b.example/c/'><a href=d>x</a>",
		    "[x](https://b.example/c/d)" },
		{ "<base href='data:,x'><a href=d>x</a>",
		    "[x](https://h.example/d/d)" },
		{ "<a href='/a b(c)\"<>'>x</a>",
		    "[x](https://h.example/a%20b%28c%29%22%3C%3E)" },
		{ "<a href='javascript:alert(1)'>x</a>", "x" },
		{ "<a href=' &#1;java\tscr\nipt&colon;alert(1)'>x</a>", "x" },
		{ "<a href='JaVaScRiPt&#58;x'>x</a>", "x" },
		{ "<a href='data:text/html,<b>'>x</a>", "x" },
		{ "<a href='vbscript:x'>x</a><a href='file:///etc'>y</a>",
		    "xy" },
		{ "<a href='mailto:a@b.example'>x</a>",
		    "[x](mailto:a@b.example)" },
	};

	check(g, nitems(g));
}

static void
test_hidden(void **state unused_arg)
{
	static const struct golden g[] = {
		{ "a<script>b</script><style>c</style><nav>d</nav>e", "ae" },
		{ "a<!-- b --><!--> -->c<!---->d<!-- --!>e", "a -->cde" },
		{ "a<!b>c<?d>e</ f>g</>h<![CDATA[i>j", "aceghj" },
		{ "<p hidden>a</p><p hidden=x>b<p>c", "c" },
		{ "<div aria-hidden=TRUE>a<p>b</div>c", "c" },
		{ "<div style='x:y; DISPLAY : none !important'>a</div>b", "b" },
		{ "<b style='dis/**/play:n\\6f ne'>a</b>b", "b" },
		{ "<b style='display&colon;none'>a</b>b", "b" },
		{ "<b style=visibility:hidden>a</b><b style='opacity:0.0'>b</b>"
		  "<b style=font-size:0px>c</b><b style=color:transparent>d</b>"
		  "<b style='position:absolute;left:-9999px'>e</b>"
		  "<b style='height:1px;overflow:hidden'>f</b>g",
		    "g" },
		{ "<b style='display:block;opacity:.5;height:10px'>a</b>",
		    "**a**" },
		{ "<div style='x'style='display:none' hidden>a</div>b", "b" },
		{ "z\xe2\x80\x8b&#8203;&zwj;\xe2\x80\xae&#x202e;\xc2\xad"
		  "\xf3\xa0\x81\x81\xef\xbb\xbfz",
		    "zz" },
		{ "<template>a</div></template><select><option>b</select>"
		  "<button>c</button><svg><text>d</svg><noscript>e</noscript>"
		  "<iframe>f</iframe><textarea>g</textarea><dialog>h</dialog>i",
		    "i" },
		{ "<div role=navigation>a</div>b", "b" },
		/* Ends that a browser does not take for ends. */
		{ "<div hidden>a</span></b></p></td></x>b</div>c", "c" },
		{ "<span><div hidden></span>a</div>b", "b" },
		{ "<b><div hidden></b>a</div>b", "b" },
		{ "<div><template></div>a</template>b", "b" },
		{ "<x hidden>a</y>b</X>c", "c" },
		{ "<div><b hidden></div>a</b>b", "b" },
		{ "<svg><![CDATA[</svg>]]>a</svg>b<svg/>c", "bc" },
		{ "<svg><title/>a</svg>b", "b" },
		{ "<script>'</scripty>'</script >a", "a" },
		{ "<script><!--<script></script>a--></script>b", "b" },
		{ "<script><!--></script>a", "a" },
		{ "<style></styl</style>a", "a" },
		{ "<title></title/>a<textarea></p>b</textarea\n>c", "ac" },
		/* Nothing is a tag until it is whole. */
		{ "a<p title='>b", "a" },
		{ "a<b c=\"d>e\">f", "a**f**" },
		{ "a<!-- b", "a" },
		{ "a<script>b", "a" },
	};

	check(g, nitems(g));
}

/* A NUL is a part of a name. */
static void
test_nul(void **state unused_arg)
{
	static const char page[] = "<p\0>a</p\0><x\0a hidden>b</x\0b>c</x\0a>d";
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	assert_false(html_to_markdown(&b, page, sizeof page - 1, NULL));
	assert_string_equal(buf_str(&b), "ad");
	buf_clear(&b);
}

/* 1 MiB of s behind a beginning: at once, and within the bounds. */
static void
flood(const char *head, const char *s, bool cut)
{
	struct timespec from, to;
	struct buf page, b;
	bool was_cut;

	buf_init(&page, BUF_NOMAX);
	buf_init(&b, BUF_NOMAX);
	(void)buf_adds(&page, head);
	while (page.len < BIG)
		(void)buf_adds(&page, s);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	was_cut = html_to_markdown(&b, page.data, page.len, PAGE);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	if (was_cut != cut)
		fail_msg("%s %s: cut is %d", head, s, was_cut);
	assert_true(b.len <= HTML_TEXT_MAX);
	assert_true(text_is_utf8(buf_str(&b), b.len));
	/* A tenth of it without sanitizers. */
	if (to.tv_sec - from.tv_sec > 10)
		fail_msg("%s %s: over 10 s", head, s);
	buf_clear(&page);
	buf_clear(&b);
}

static void
test_floods(void **state unused_arg)
{
	flood("", "<div>", true);
	flood("", "<b><div>", true);
	flood("", "<table><tr><td>", true);
	flood("", "<a href=x>y", true);
	flood("", "<p>", false);
	flood("", "<li></li>", false);
	flood("", "</p>", false);
	flood("", "<", false);
	flood("", "&", false);
	flood("", "<!--", false);
	flood("", "<p style='/*'>", false);
	flood("<p ", "a0 b1 c2 ", false);
	flood("<a href='", "x", false);
	flood("<p class='", "x ", false);
	flood("<table>", "<td>x", false);
	flood("<script>", "<!--<script></script>", false);
	flood("<pre>", "`", true);
	flood("<code>", "`", true);
	flood("", "\xff", true);
	flood("<table><tr><td><table><tr><td><table><tr><td>", "|", false);
}

static void
resolves(const char *base, const char *ref, const char *want)
{
	char *got = url_resolve(base, ref, strlen(ref));

	if (want == NULL ? got != NULL : got == NULL || strcmp(got, want) != 0)
		fail_msg("%s: %s, not %s", ref, got != NULL ? got : "none",
		    want != NULL ? want : "none");
	free(got);
}

/* RFC 3986, 5.4. */
static void
test_url(void **state unused_arg)
{
	static const char base[] = "http://a/b/c/d;p?q";
	static const struct {
		const char *ref, *want;
	} rows[] = {
		{ "g", "http://a/b/c/g" },
		{ "./g", "http://a/b/c/g" },
		{ "g/", "http://a/b/c/g/" },
		{ "/g", "http://a/g" },
		{ "//g", "http://g/" },
		{ "?y", "http://a/b/c/d;p?y" },
		{ "g?y#s", "http://a/b/c/g?y#s" },
		{ "#s", "http://a/b/c/d;p?q#s" },
		{ ";x", "http://a/b/c/;x" },
		{ "", "http://a/b/c/d;p?q" },
		{ ".", "http://a/b/c/" },
		{ "..", "http://a/b/" },
		{ "../g", "http://a/b/g" },
		{ "../../../../g", "http://a/g" },
		{ "/./g/../h", "http://a/h" },
		{ "g/./h/../i", "http://a/b/c/g/i" },
		{ "\\\\g\\h", "http://g/h" },
		{ "HTTPS://G/%41?a b", "https://G/%41?a%20b" },
		{ "http:g", NULL },
		{ "http://", NULL },
		{ "g:h", NULL },
		{ "java\nscript:x", NULL },
	};
	char longest[URL_MAX + 2];
	size_t i;

	for (i = 0; i < nitems(rows); i++)
		resolves(base, rows[i].ref, rows[i].want);
	resolves(NULL, "g", NULL);
	resolves("x", "g", NULL);
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	resolves(base, longest, NULL);
}

static void
decodes(const char *type, const char *s, size_t n, const char *want)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	webtext_decode(&b, type, true, s, n);
	assert_string_equal(buf_str(&b), want);
	buf_clear(&b);
}

static void
test_charset(void **state unused_arg)
{
	static const char meta[] = "<meta charset=windows-1252>\x80\xe9";
	static const char equiv[] =
	    "<meta content='text/html; charset=iso-8859-1'>\xe9";

	decodes("text/html; charset=\"ISO-8859-1\"", "\xe9\x93", 2,
	    "\xc3\xa9\xe2\x80\x9c");
	decodes("text/html", meta, sizeof meta - 1,
	    "<meta charset=windows-1252>\xe2\x82\xac\xc3\xa9");
	decodes(NULL, equiv, sizeof equiv - 1,
	    "<meta content='text/html; charset=iso-8859-1'>\xc3\xa9");
	decodes("text/plain; charset=utf-8", meta + 27, 2, "\x80\xe9");
	decodes("x; charset=utf-16le", "a\0\x3d\xd8\x00\xde", 6,
	    "a\xf0\x9f\x98\x80");
	decodes("x", "\xfe\xff\0a\xd8\x3d", 6, "a" TEXT_REPLACEMENT);
	decodes("x; charset=utf-16le", "a\0b", 3, "a" TEXT_REPLACEMENT);
	decodes("x; charset=latin1", "\xef\xbb\xbf\xc3\xa9", 5, "\xc3\xa9");
	decodes("x; charset=utf-7", "+ADw-", 5, "+ADw-");
	decodes("x; charset=", "\xff", 1, "\xff");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_floods),
		cmocka_unit_test(test_url),
		cmocka_unit_test(test_charset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
