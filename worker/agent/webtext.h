/*
 * webtext.h - the bytes of a page as text: its character encoding, and the
 * characters that a reader can't see.
 *
 * Encodings: UTF-8 (bytes that are not stay as they are, for text_clean), and
 * by our own tables windows-1252 with latin1 and ASCII (which HTML takes for
 * the same) and UTF-16. Not by iconv(3): the name is a server's choice, and it
 * would load the module of any of some 200 encodings into the worker.
 */
#ifndef WORKER_AGENT_WEBTEXT_H
#define WORKER_AGENT_WEBTEXT_H

#include "common/buf.h"

/* Append s as UTF-8. The encoding: a byte order mark, else type's charset=
 * (type: Content-Type, may be NULL), else, with markup set, what the first 1024
 * bytes declare (<meta>, <?xml?>), else UTF-8. */
void webtext_decode(
    struct buf *dst, const char *type, bool markup, const char *s, size_t len);

/* The character that windows-1252 has at c. */
uint32_t webtext_1252(unsigned char c);

/* Append one character as UTF-8; one that does not exist as U+FFFD. */
void webtext_put(struct buf *dst, uint32_t cp);

/* No width, only an effect, or a place for hidden words: zero-width and bidi
 * controls, soft hyphens, fillers, variation selectors, tags, control
 * characters but tab and newline. */
bool webtext_invisible(uint32_t cp);
/* Append s without those. */
void webtext_visible(struct buf *dst, const char *s, size_t len);

#endif
