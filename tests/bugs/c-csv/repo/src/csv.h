#ifndef CSV_H
#define CSV_H

#include "table.h"

enum csv_status { CSV_OK, CSV_UNCLOSED, CSV_STRAY, CSV_FULL };

/* Parse RFC 4180 text, lines ending in LF or CRLF, into an empty table. */
enum csv_status csv_parse(struct table *t, const char *text, char separator);

#endif
