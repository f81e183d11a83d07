#include <string.h>

#include "csv.h"
#include "tap.h"

static struct table t;

static enum csv_status load(const char *text)
{
    table_free(&t);
    return csv_parse(&t, text, ',');
}

static int cell(int row, int col, const char *expected)
{
    const char *got = table_get(&t, row, col);

    return got && strcmp(got, expected) == 0;
}

int main(void)
{
    OK(load("") == CSV_OK && t.rows == 0, "empty text");

    load("a,b\nc,d\n");
    OK(t.rows == 2 && t.widths[0] == 2, "two rows");
    OK(cell(0, 0, "a") && cell(0, 1, "b") && cell(1, 1, "d"), "cells");
    OK(table_get(&t, 2, 0) == NULL && table_get(&t, 0, 2) == NULL,
       "outside of the table");

    load("a,b\r\nc,d\r\n");
    OK(t.rows == 2 && cell(0, 1, "b") && cell(1, 1, "d"), "CRLF lines");

    load("a,b");
    OK(t.rows == 1 && cell(0, 1, "b"), "no newline at the end");

    load("a,,\n,x\n");
    OK(t.widths[0] == 3 && cell(0, 2, "") && cell(1, 0, ""), "empty cells");

    load("\"a,b\",c\n");
    OK(t.widths[0] == 2 && cell(0, 0, "a,b"), "separator in quotes");

    load("\"say \"\"hi\"\"\"\n");
    OK(cell(0, 0, "say \"hi\""), "doubled quotes");

    load("\"one\ntwo\",x\n");
    OK(t.rows == 1 && cell(0, 0, "one\ntwo"), "newline in quotes");

    load("\"one\r\ntwo\",x\r\n");
    OK(t.rows == 1 && cell(0, 0, "one\r\ntwo") && cell(0, 1, "x"),
       "CRLF in quotes is kept");

    load("a\rb,c\n");
    OK(cell(0, 0, "a\rb"), "lone CR is data");

    load("\"\",x\n");
    OK(t.widths[0] == 2 && cell(0, 0, ""), "empty quoted cell");

    load("5\" disk\n");
    OK(cell(0, 0, "5\" disk"), "quote inside a bare cell");

    load("a\n\n\nb\n");
    OK(t.rows == 2 && cell(1, 0, "b"), "blank lines are skipped");

    OK(load("\"open") == CSV_UNCLOSED, "unclosed quote");
    OK(load("\"a\"b,c") == CSV_STRAY, "text after closing quote");
    OK(load("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17") == CSV_FULL,
       "too many columns");

    load("id,name\n1,Ann\n");
    OK(table_column(&t, "name") == 1 && table_column(&t, "age") == -1,
       "column by title");
    table_free(&t);
    csv_parse(&t, "a;b,c\n", ';');
    OK(cell(0, 1, "b,c"), "other separator");
    table_free(&t);
    return tap_done();
}
