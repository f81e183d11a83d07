/* html_tags.c - the elements that matter, of html_priv.h. */
#include "common/compat.h"

#include "worker/agent/html_priv.h"

#define S TAG_SPECIAL
#define P (TAG_SPECIAL | TAG_CLOSES_P)
#define GONE (TAG_SPECIAL | TAG_UNSEEN)
#define RAW (TAG_SPECIAL | TAG_RAW | TAG_UNSEEN)
#define PART (TAG_SPECIAL | TAG_TABLE)

/* Sorted by name. */
static const struct tag tags[] = {
	{ "a", ACT_LINK, TAG_FORMAT | TAG_ONE },
	{ "address", ACT_BLOCK, P },
	{ "annotation", ACT_NONE, TAG_UNSEEN },
	{ "annotation-xml", ACT_NONE, TAG_UNSEEN },
	{ "applet", ACT_NONE, GONE | TAG_SCOPE },
	{ "area", ACT_NONE, S | TAG_VOID },
	{ "article", ACT_BLOCK, P },
	{ "aside", ACT_BLOCK, P },
	{ "audio", ACT_NONE, TAG_UNSEEN },
	{ "b", ACT_STRONG, TAG_FORMAT },
	{ "base", ACT_BASE, S | TAG_VOID },
	{ "basefont", ACT_NONE, S | TAG_VOID },
	{ "bgsound", ACT_NONE, S | TAG_VOID },
	{ "big", ACT_NONE, TAG_FORMAT },
	{ "blockquote", ACT_QUOTE, P },
	{ "body", ACT_NONE, TAG_IGNORED },
	{ "br", ACT_BREAK, S | TAG_VOID },
	{ "button", ACT_NONE, GONE | TAG_ONE },
	{ "canvas", ACT_NONE, TAG_UNSEEN },
	{ "caption", ACT_BLOCK, PART | TAG_SCOPE },
	{ "center", ACT_BLOCK, P },
	{ "code", ACT_CODE, TAG_FORMAT },
	{ "col", ACT_NONE, S | TAG_VOID },
	{ "colgroup", ACT_NONE, PART },
	{ "datalist", ACT_NONE, TAG_UNSEEN },
	{ "dd", ACT_DEFINITION, P },
	{ "details", ACT_BLOCK, P },
	{ "dialog", ACT_BLOCK, P },
	{ "dir", ACT_LIST, P },
	{ "div", ACT_BLOCK, P },
	{ "dl", ACT_BLOCK, P },
	{ "dt", ACT_BLOCK, P },
	{ "em", ACT_EM, TAG_FORMAT },
	{ "embed", ACT_NONE, S | TAG_VOID },
	{ "fieldset", ACT_BLOCK, P },
	{ "figcaption", ACT_BLOCK, P },
	{ "figure", ACT_BLOCK, P },
	{ "font", ACT_NONE, TAG_FORMAT },
	{ "footer", ACT_BLOCK, P },
	{ "form", ACT_BLOCK, P },
	{ "frame", ACT_NONE, S | TAG_VOID },
	{ "frameset", ACT_NONE, TAG_IGNORED },
	{ "h1", ACT_HEADING, P },
	{ "h2", ACT_HEADING, P },
	{ "h3", ACT_HEADING, P },
	{ "h4", ACT_HEADING, P },
	{ "h5", ACT_HEADING, P },
	{ "h6", ACT_HEADING, P },
	{ "head", ACT_NONE, TAG_IGNORED },
	{ "header", ACT_BLOCK, P },
	{ "hgroup", ACT_BLOCK, P },
	{ "hr", ACT_RULE, P | TAG_VOID },
	{ "html", ACT_NONE, TAG_IGNORED },
	{ "i", ACT_EM, TAG_FORMAT },
	{ "iframe", ACT_NONE, RAW },
	{ "image", ACT_IMAGE, S | TAG_VOID },
	{ "img", ACT_IMAGE, S | TAG_VOID },
	{ "input", ACT_NONE, S | TAG_VOID },
	{ "kbd", ACT_CODE, 0 },
	{ "keygen", ACT_NONE, S | TAG_VOID },
	{ "li", ACT_ITEM, P },
	{ "link", ACT_NONE, S | TAG_VOID },
	{ "listing", ACT_PRE, P },
	{ "main", ACT_BLOCK, P },
	{ "marquee", ACT_BLOCK, S | TAG_SCOPE },
	{ "menu", ACT_LIST, P },
	{ "meta", ACT_NONE, S | TAG_VOID },
	{ "nav", ACT_NONE, P | TAG_UNSEEN },
	{ "nobr", ACT_NONE, TAG_FORMAT | TAG_ONE },
	{ "noembed", ACT_NONE, RAW },
	{ "noframes", ACT_NONE, RAW },
	{ "noscript", ACT_NONE, RAW },
	{ "object", ACT_NONE, GONE | TAG_SCOPE },
	{ "ol", ACT_NUMBERS, P },
	{ "p", ACT_BLOCK, P },
	{ "param", ACT_NONE, S | TAG_VOID },
	{ "plaintext", ACT_PRE, P | TAG_RAW },
	{ "pre", ACT_PRE, P },
	{ "s", ACT_NONE, TAG_FORMAT },
	{ "samp", ACT_CODE, 0 },
	{ "script", ACT_NONE, RAW },
	{ "search", ACT_BLOCK, P },
	{ "section", ACT_BLOCK, P },
	{ "select", ACT_NONE, GONE | TAG_SCOPE | TAG_ONE },
	{ "small", ACT_NONE, TAG_FORMAT },
	{ "source", ACT_NONE, S | TAG_VOID },
	{ "strike", ACT_NONE, TAG_FORMAT },
	{ "strong", ACT_STRONG, TAG_FORMAT },
	{ "style", ACT_NONE, RAW },
	{ "summary", ACT_BLOCK, P },
	{ "svg", ACT_NONE, TAG_UNSEEN },
	{ "table", ACT_TABLE, P | TAG_SCOPE },
	{ "tbody", ACT_NONE, PART },
	{ "td", ACT_CELL, PART | TAG_SCOPE },
	{ "template", ACT_NONE, GONE | TAG_SCOPE },
	{ "textarea", ACT_NONE, RAW },
	{ "tfoot", ACT_NONE, PART },
	{ "th", ACT_CELL, PART | TAG_SCOPE },
	{ "thead", ACT_NONE, PART },
	{ "title", ACT_NONE, RAW },
	{ "tr", ACT_ROW, PART },
	{ "track", ACT_NONE, S | TAG_VOID },
	{ "tt", ACT_CODE, TAG_FORMAT },
	{ "u", ACT_NONE, TAG_FORMAT },
	{ "ul", ACT_LIST, P },
	{ "video", ACT_NONE, TAG_UNSEEN },
	{ "wbr", ACT_NONE, S | TAG_VOID },
	{ "xmp", ACT_PRE, P | TAG_RAW },
};

static const struct tag other = { NULL, ACT_NONE, 0 };

static int
compare(const char *s, size_t len, const char *name)
{
	int c = strncasecmp(s, name, len);

	return c != 0 ? c : name[len] == '\0' ? 0 : -1;
}

const struct tag *
tag_find(const char *s, size_t len)
{
	size_t low = 0, high = nitems(tags), mid;
	int c;

	if (memchr(s, '\0', len) != NULL)
		return &other; /* strncasecmp(3) would stop there */
	while (low < high) {
		mid = (low + high) / 2;
		if ((c = compare(s, len, tags[mid].name)) == 0)
			return &tags[mid];
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return &other;
}
