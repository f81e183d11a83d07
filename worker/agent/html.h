/*
 * html.h - a page as text for a model: HTML to markdown.
 *
 * What a reader of the page sees comes out: headings, paragraphs, lists, tables
 * as rows, quotes, code in fences that it can't close, links as [text](URL)
 * with the URL resolved, images as their alt text. What a reader does not see
 * does not: scripts, styles, comments, form controls, navigation, elements that
 * are hidden by an attribute or by their style attribute, characters that have
 * no width or turn the writing direction around. Style sheets are not read, so
 * what only they hide is shown. Text is not escaped: a page can write what
 * looks like markdown.
 *
 * Bounds: time and memory are linear in the page, there is no recursion;
 * elements nested over HTML_DEPTH deep are left out.
 *
 * Of our own, since libgumbo 0.10 takes quadratic time (1 MiB of "<div>" or of
 * attributes: minutes) and overflows the stack on deep trees, and libxml2
 * brings libicu and libstdc++ into every worker and is no HTML 5 parser.
 * Element scopes, implied ends, raw text and comments follow the HTML standard
 * (https://html.spec.whatwg.org/multipage/parsing.html) as far as they decide
 * what is seen; trees are not built.
 */
#ifndef WORKER_AGENT_HTML_H
#define WORKER_AGENT_HTML_H

#include "common/buf.h"

#define HTML_DEPTH 512
#define HTML_TEXT_MAX ((size_t)2 << 20) /* of the markdown; more is cut */

/* Append the page as clean markdown. s: UTF-8, any bytes. url: where it came
 * from, for its relative links; NULL: those become plain text. Returns true
 * when something was left out by a bound. */
bool html_to_markdown(
    struct buf *dst, const char *s, size_t len, const char *url);

#endif
