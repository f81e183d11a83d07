#include "csv.h"
#include "buffer.h"

struct reader {
    struct table *table;
    struct buffer field;
    int quoted;         /* inside quotes */
    int was_quoted;     /* this field began with a quote */
    int pending;        /* something of a row has been seen */
};

static int end_field(struct reader *r)
{
    char *text = buffer_take(&r->field);

    r->was_quoted = 0;
    return text ? table_add(r->table, text) : -1;
}

static int end_row(struct reader *r)
{
    if (!r->pending)            /* blank line */
        return 0;
    r->pending = 0;
    if (end_field(r) < 0)
        return -1;
    return table_end_row(r->table);
}

static enum csv_status parse(struct reader *r, const char *p, char separator)
{
    for (; *p; p++) {
        if (*p == '\r' && p[1] == '\n')
            continue;
        if (*p == '\n' && !r->quoted) {
            if (end_row(r) < 0)
                return CSV_FULL;
            continue;
        }
        r->pending = 1;
        if (*p == separator && !r->quoted) {
            if (end_field(r) < 0)
                return CSV_FULL;
        } else if (*p == '"' && r->quoted) {
            if (p[1] == '"')
                buffer_add(&r->field, *p++);
            else
                r->quoted = 0;
        } else if (*p == '"' && r->field.len == 0 && !r->was_quoted) {
            r->quoted = r->was_quoted = 1;
        } else if (r->was_quoted && !r->quoted) {
            return CSV_STRAY;
        } else {
            buffer_add(&r->field, *p);
        }
    }
    if (r->quoted)
        return CSV_UNCLOSED;
    return end_row(r) < 0 ? CSV_FULL : CSV_OK;
}

enum csv_status csv_parse(struct table *t, const char *text, char separator)
{
    struct reader r;
    enum csv_status status;

    r.table = t;
    r.quoted = r.was_quoted = r.pending = 0;
    buffer_init(&r.field);
    status = parse(&r, text, separator);
    buffer_free(&r.field);
    return status;
}
