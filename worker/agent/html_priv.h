/*
 * html_priv.h - between the parts of html.c: tokens, the table of elements, and
 * the writer of markdown.
 */
#ifndef WORKER_AGENT_HTML_PRIV_H
#define WORKER_AGENT_HTML_PRIV_H

#include "worker/agent/html.h"

/* --- html_tags.c: what is known of an element ------------------------------
 */

/* What it does to the text. */
enum act {
	ACT_NONE,
	ACT_BLOCK, /* a paragraph of its own */
	ACT_HEADING,
	ACT_LIST,
	ACT_NUMBERS,
	ACT_ITEM,
	ACT_DEFINITION,
	ACT_QUOTE,
	ACT_PRE,
	ACT_CODE,
	ACT_LINK,
	ACT_STRONG,
	ACT_EM,
	ACT_IMAGE,
	ACT_BREAK,
	ACT_RULE,
	ACT_TABLE,
	ACT_ROW,
	ACT_CELL,
	ACT_BASE,
};

/* How it is parsed; the words are those of the standard. */
#define TAG_VOID 0x01     /* has no content */
#define TAG_SPECIAL 0x02  /* stops the end tags of ordinary elements */
#define TAG_SCOPE 0x04    /* stops all end tags but a table's */
#define TAG_CLOSES_P 0x08 /* ends an open p */
#define TAG_FORMAT 0x10   /* a formatting element */
#define TAG_RAW 0x20      /* its content is text up to its end tag */
#define TAG_UNSEEN 0x40   /* its content is not shown, or is no text */
#define TAG_TABLE 0x80    /* a part of a table */
#define TAG_ONE 0x100     /* its start ends an open one */
#define TAG_IGNORED 0x200 /* as if it were not there */

struct tag {
	const char *name;
	enum act act;
	unsigned flags;
};

/* By name, letter case ignored; never NULL: of others, name is NULL. */
const struct tag *tag_find(const char *s, size_t len);

/* --- html_token.c ----------------------------------------------------------
 */

struct slice {
	const char *p; /* NULL: not there */
	size_t n;
};

enum attr {
	ATTR_ALT,
	ATTR_ARIA_HIDDEN,
	ATTR_CLASS,
	ATTR_HIDDEN,
	ATTR_HREF,
	ATTR_OPEN,
	ATTR_ROLE,
	ATTR_START,
	ATTR_STYLE,
	ATTR_N
};

enum token_kind {
	TOKEN_END,
	TOKEN_TEXT,
	TOKEN_OPEN,
	TOKEN_CLOSE
};

struct token {
	enum token_kind kind;
	struct slice text; /* TEXT: character references not resolved */
	struct slice name; /* OPEN, CLOSE */
	const struct tag *tag;
	bool self_closing;
	struct slice attr[ATTR_N]; /* raw; the first of a name counts */
};

struct tokens {
	const char *p, *end; /* what is left */
	bool foreign;        /* inside svg: CDATA sections are known there */
};

/* The next one; comments and the like are passed over. */
void token_next(struct tokens *t, struct token *ret);
/* Pass over the content of raw element tag, whose start was just read, and
 * over its end tag; the content. */
struct slice token_raw(struct tokens *t, const struct tag *tag);

/* --- html_entity.c ---------------------------------------------------------
 */

/* The character at s (len > 0), references resolved; the bytes it takes. attr:
 * in an attribute, where "&x" without ';' is none. */
size_t entity_next(const char *s, size_t len, bool attr, uint32_t *ret);
/* At most max bytes of the text that a raw value stands for, invisible
 * characters left out, white space folded. */
void entity_text(struct buf *dst, const struct slice *raw, size_t max);

/* --- html_hide.c -----------------------------------------------------------
 */

/* Do the attributes hide the element? */
bool token_is_hidden(const struct token *t);
/* The first of the classes (p not NULL) that begins with prefix, or is it with
 * whole: what follows the prefix, p NULL for none. */
struct slice token_class(
    const struct slice *classes, const char *prefix, bool whole);

/* --- html_out.c ------------------------------------------------------------
 */

#define PREFIX_MAX 64

struct out {
	struct out *up;
	struct buf text;
	struct buf open; /* marks that wait for text behind them */
	/* What a line begins with: the next one, with marks of items, and those
	 * that follow it. */
	char first[PREFIX_MAX + 1], cont[PREFIX_MAX + 1];
	size_t prefix;
	bool marked;     /* an item's mark is in first */
	unsigned breaks; /* line ends before the next text */
	size_t blank;    /* of the prefix, on empty lines among them */
	bool space;
	bool full;
};

void out_init(struct out *o, size_t max);
void out_clear(struct out *o);
/* At least n line ends before what follows, unless it is the first of an item;
 * exactly n with set. */
void out_break(struct out *o, unsigned n, bool set);
void out_space(struct out *o);
void out_text(struct out *o, const char *s, size_t n);
/* Lines, each behind the prefix, their own white space kept. */
void out_lines(struct out *o, const char *s, size_t n);
/* A mark before the text that follows; returns what out_close takes. When no
 * text came in between, out_close takes the mark back instead. */
size_t out_open(struct out *o, const char *mark);
void out_close(struct out *o, size_t at, const char *mark);
/* Lines from here on begin with more; the first with mark, which is as long as
 * cont. Returns what out_pop takes. */
size_t out_push(struct out *o, const char *mark, const char *cont);
void out_pop(struct out *o, size_t at);
/* Code: a fence, or marks, longer than any in it. */
void out_fence(struct out *o, const struct slice *lang, const struct buf *code);
void out_code(struct out *o, const struct buf *code);

/* --- html_table.c ----------------------------------------------------------
 */

struct table;

struct table *table_create(struct table *up);
struct table *table_up(const struct table *t);
void table_free(struct table *t);
/* A cell's text; taken over. */
void table_cell(struct table *t, struct out *o, struct buf *text);
/* The row is complete: write it. */
void table_row(struct table *t, struct out *o);

/* --- html_act.c: what elements do ------------------------------------------
 */

struct elem {
	const struct tag *tag;
	struct slice name;
	enum act act; /* what there is to finish */
	bool hidden;
	bool firm;    /* hidden, and only its own end tag ends that */
	size_t at;    /* out_open's or out_push's */
	unsigned n;   /* of a list: items so far; the next number */
	bool started; /* of a list: it has an item */
	char *href;   /* of a link */
	struct slice classes;
};

struct page {
	struct tokens in;
	struct elem stack[HTML_DEPTH];
	size_t n;
	unsigned hidden, foreign; /* open elements of that kind */
	struct out top, *out;
	struct table *table; /* the innermost */
	unsigned tables;
	/* The open element of that kind, counted from 1; 0: none. */
	size_t pre, code, link, heading;
	struct buf text; /* of pre and code */
	bool space;      /* in code: one is due */
	bool skip_newline;
	char *base; /* for links; NULL: none */
	bool based; /* by the page itself */
	bool cut;
};

/* The element on top of the stack begins; an element ends. */
void act_start(struct page *p, struct elem *e, const struct token *t);
void act_finish(struct page *p, struct elem *e);

/* --- html_text.c -----------------------------------------------------------
 */

void act_text(struct page *p, const struct slice *raw, bool references);
void act_title(struct page *p, const struct slice *raw);
/* An element without content. */
void act_void(struct page *p, const struct token *t);
/* A paragraph begins or ends. */
void act_block(struct page *p);
/* The end of pre, of inline code. */
void act_pre(struct page *p, struct elem *e);
void act_code(struct page *p);
/* "language-c", "lang-c", "highlight-c", "highlight-source-c"; p NULL: none. */
struct slice act_language(const struct slice *classes);
/* The URL of an attribute; yours, NULL: none that may be followed. Within the
 * page is no link: the page is here. */
char *act_url(const struct page *p, const struct slice *raw);

#endif
