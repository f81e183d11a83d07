#include <stdio.h>
#include <string.h>

#include "options.h"
#include "tap.h"

static const struct option table[] = {
    { 'v', "verbose", 0 },
    { 'q', "quiet", 0 },
    { 'o', "output", 1 },
    { 'j', "jobs", 1 },
    { 'V', "version", 0 },
    { 'x', NULL, 0 },
    { 0, NULL, 0 },
};

/* Parse words; "v o=file | operand operand" or "! reason". */
static const char *parsed(const char *words)
{
    static char line[256], out[512];
    static struct options o;
    char *argv[32];
    int argc = 1, letter, i;
    char *word;

    argv[0] = "prog";
    snprintf(line, sizeof(line), "%s", words);
    for (word = strtok(line, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    options_init(&o, table, argc, argv);
    out[0] = '\0';
    while ((letter = options_next(&o)) != OPTIONS_END) {
        if (letter == OPTIONS_BAD) {
            sprintf(out, "! %s", o.error);
            return out;
        }
        sprintf(out + strlen(out), "%c", letter);
        if (o.value)
            sprintf(out + strlen(out), "=%s", o.value);
        strcat(out, " ");
    }
    strcat(out, "|");
    for (i = 0; i < o.operand_count; i++)
        sprintf(out + strlen(out), " %s", o.operands[i]);
    return out;
}

static int gives(const char *words, const char *expected)
{
    const char *got = parsed(words);

    if (strcmp(got, expected) == 0)
        return 1;
    printf("# '%s': expected '%s', got '%s'\n", words, expected, got);
    return 0;
}

int main(void)
{
    OK(gives("", "|"), "no arguments");
    OK(gives("a b", "| a b"), "operands only");
    OK(gives("-v -q", "v q |"), "short options");
    OK(gives("-vqx", "v q x |"), "joined short options");
    OK(gives("-o file a", "o=file | a"), "value in the next argument");
    OK(gives("-ofile a", "o=file | a"), "value in the same argument");
    OK(gives("-vofile", "v o=file |"), "value after joined options");
    OK(gives("--verbose --output=f", "v o=f |"), "long options");
    OK(gives("--output f g", "o=f | g"), "long option, value apart");
    OK(gives("--output= g", "o= | g"), "empty value");
    OK(gives("--ou=f --jo 3", "o=f j=3 |"), "prefixes");
    OK(gives("--ver", "! ambiguous option: ver"), "ambiguous prefix");
    OK(gives("a -v b --quiet c", "v q | a b c"), "operands between");
    OK(gives("-v -- -q --jobs", "v | -q --jobs"), "after two dashes");
    OK(gives("-v - -q", "v q | -"), "a dash alone is an operand");
    OK(gives("-o - in", "o=- | in"), "a dash alone as a value");
    OK(gives("-- - -v", "| - -v"), "a dash alone after two");
    OK(gives("-z", "! unknown option: z"), "unknown short option");
    OK(gives("--zoo", "! unknown option: zoo"), "unknown long option");
    OK(gives("-v -o", "! value missing: o"), "value missing");
    OK(gives("--quiet=1", "! no value wanted: quiet"), "unwanted value");
    OK(gives("cat - more -", "| cat - more -"), "dash twice");
    return tap_done();
}
