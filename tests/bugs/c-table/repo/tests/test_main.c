#include <stdio.h>
#include <string.h>

#include "table.h"
#include "tap.h"

static struct table table;

static void row(const char *a, const char *b, const char *c)
{
    const char *cells[3];

    cells[0] = a;
    cells[1] = b;
    cells[2] = c;
    table_add(&table, cells, c ? 3 : b ? 2 : 1);
}

static int looks(const char *expected)
{
    char got[1024];

    if (table_write(&table, got, sizeof(got)) < 0)
        strcpy(got, "does not fit");
    if (strcmp(got, expected) == 0)
        return 1;
    printf("# expected:\n%s# got:\n%s", expected, got);
    return 0;
}

int main(void)
{
    char small[20];
    size_t i;

    OK(text_width("") == 0 && text_width("abc") == 3, "width of ASCII");
    OK(text_width("M\xc3\xbcller") == 6, "width of an umlaut");
    OK(text_width("e\xcc\x81t") == 2, "width of a combining mark");
    OK(text_width("\xe6\x97\xa5\xe6\x9c\xac") == 4, "width of wide characters");
    OK(text_width("a\xff\xc3") == 3, "width of malformed text");

    table_init(&table, "ll");
    OK(looks(""), "no rows");
    row("a", "b", NULL);
    OK(looks("a  b\n"), "one row");
    row("long", "x", NULL);
    OK(looks("a     b\nlong  x\n"), "columns");
    row("no", NULL, NULL);
    OK(looks("a     b\nlong  x\nno\n"), "no blanks at the end");

    table_init(&table, "rcl");
    row("1", "a", "x");
    row("100", "abcd", "y");
    OK(looks("  1   a    x\n100  abcd  y\n"), "right and centre");

    table_init(&table, "lr");
    row("apples", "7", NULL);
    row("p\xc3\xa2t\xc3\xa9", "12", NULL);
    OK(looks("apples   7\np\xc3\xa2t\xc3\xa9    12\n"),
       "accents in the shorter cell");

    table_init(&table, "lr");
    row("apple", "7", NULL);
    row("cr\xc3\xa8me br\xc3\xbbl\xc3\xa9" "e", "12", NULL);
    OK(looks("apple          7\ncr\xc3\xa8me br\xc3\xbbl\xc3\xa9" "e  12\n"),
       "accents in the longest cell");

    table_init(&table, "rl");
    row("\xe6\x97\xa5\xe6\x9c\xac", "JP", NULL);
    row("Per\xc3\xba", "PE", NULL);
    row("Chad", "TD", NULL);
    OK(looks("\xe6\x97\xa5\xe6\x9c\xac  JP\nPer\xc3\xba  PE\nChad  TD\n"),
       "wide cells");

    table_init(&table, "l");
    table.title = "Caf\xc3\xa9";
    row("x", NULL, NULL);
    OK(looks("Caf\xc3\xa9\n----\nx\n"), "title");

    table_init(&table, "ll");
    row("a", "b", "c");
    OK(table.rows == 0, "too many cells");
    for (i = 0; i < TABLE_ROWS; i++)
        row("a", "b", NULL);
    row("a", "b", NULL);
    OK(table.rows == TABLE_ROWS, "too many rows");
    OK(table_write(&table, small, sizeof(small)) < 0 && small[19] != 'b',
       "no room");
    return tap_done();
}
