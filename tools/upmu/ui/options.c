/* SPDX-License-Identifier: MIT */
/*
 * Command line parser driven by each command's table of options.
 *
 * Help, parser and suggestions use the same table. Long options are never abbreviated, so that new options break no
 * script.
 */
#include "options.h"

#include <stdarg.h>
#include <string.h>

#include "base/text/suggest.h"
#include "numbers.h"
#include "output.h"
#include "upmu/analysis.h"

enum { OPTION_HELP = -1 };

static const struct option_spec help_option = {OPTION_HELP, 'h', "help", NULL, "show this help"};

/* One pass over a command line. */
struct parse {
    const struct command *cmd;
    int argc;
    char **argv;
    int at; /* index of the next word */
    option_fn take;
    void *arg;
    bool help;
};

int options_usage(const struct command *cmd, const char *fmt, ...)
{
    va_list ap;
    char head[64];
    snprintf(head, sizeof head, "upmu %s: ", cmd->name);
    va_start(ap, fmt);
    output_message(head, fmt, ap, "\n");
    va_end(ap);
    fprintf(stderr, "Try 'upmu %s --help'.\n", cmd->name);
    return EXIT_USAGE;
}

static const struct option_spec *options_find_long(const struct command *cmd, const char *name, size_t len)
{
    for (const struct option_spec *o = cmd->options; o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    if (strlen(help_option.name) == len && memcmp(help_option.name, name, len) == 0)
        return &help_option;
    return NULL;
}

static const struct option_spec *options_find_letter(const struct command *cmd, char letter)
{
    for (const struct option_spec *o = cmd->options; o->name; o++)
        if (o->letter == letter)
            return o;
    return letter == help_option.letter ? &help_option : NULL;
}

static int options_unknown_long(const struct command *cmd, const char *name, size_t len)
{
    struct suggest c;
    char wanted[SUGGEST_NAME_MAX + 1];

    snprintf(wanted, sizeof wanted, "%.*s", (int)len, name);
    suggest_begin(&c, wanted);
    for (const struct option_spec *o = cmd->options; o->name; o++)
        suggest_offer(&c, o->name);
    suggest_offer(&c, help_option.name);
    if (c.best)
        return options_usage(cmd, "unknown option --%s; did you mean --%s?", wanted, c.best);
    return options_usage(cmd, "unknown option --%s", wanted);
}

static int options_pass(struct parse *p, const struct option_spec *o, const char *value)
{
    if (o == &help_option) {
        p->help = true;
        return 0;
    }
    return p->take(p->arg, o->id, value);
}

/* The argument in the next word. */
static int options_pass_next(struct parse *p, const struct option_spec *o)
{
    if (p->at >= p->argc)
        return options_usage(p->cmd, "--%s needs %s", o->name, o->arg);
    return options_pass(p, o, p->argv[p->at++]);
}

static int parse_long(struct parse *p, const char *text)
{
    size_t len = strcspn(text, "=");
    const struct option_spec *o = options_find_long(p->cmd, text, len);
    if (!o)
        return options_unknown_long(p->cmd, text, len);
    if (text[len] == '=' && !o->arg)
        return options_usage(p->cmd, "--%s takes no argument", o->name);
    if (text[len] == '=')
        return options_pass(p, o, text + len + 1);
    bool needs = o->arg && o->arg[0] != '['; /* "[ADDR]" may be left out, and is given behind "=" only */
    return needs ? options_pass_next(p, o) : options_pass(p, o, NULL);
}

static int parse_letters(struct parse *p, const char *letters)
{
    for (; *letters; letters++) {
        const struct option_spec *o = options_find_letter(p->cmd, *letters);
        if (!o)
            return options_usage(p->cmd, "unknown option -%c", *letters);
        if (o->arg)
            return letters[1] ? options_pass(p, o, letters + 1) : options_pass_next(p, o);
        int status = options_pass(p, o, NULL);
        if (status != 0 || p->help)
            return status;
    }
    return 0;
}

static int parse_word(struct parse *p, bool *only_operands)
{
    const char *word = p->argv[p->at++];
    if (*only_operands || word[0] != '-' || word[1] == '\0')
        return p->take(p->arg, OPTION_OPERAND, word);
    if (word[1] != '-')
        return parse_letters(p, word + 1);
    if (word[2] != '\0')
        return parse_long(p, word + 2);
    *only_operands = true;
    return 0;
}

static int options_print_help(const struct command *cmd)
{
    struct output out;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    options_help(out.file, cmd);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

int options_parse(const struct command *cmd, int argc, char **argv, option_fn take, void *arg, int *rest)
{
    struct parse p = {.cmd = cmd, .argc = argc, .argv = argv, .take = take, .arg = arg};
    bool only_operands = false;

    while (p.at < argc) {
        if (cmd->has_program && (only_operands || argv[p.at][0] != '-' || argv[p.at][1] == '\0'))
            break;
        int status = parse_word(&p, &only_operands);
        if (status != 0)
            return status;
        if (p.help)
            return options_print_help(cmd);
    }
    if (rest)
        *rest = p.at;
    return OPTIONS_CONTINUE;
}

static void options_help_line(FILE *out, const struct option_spec *o)
{
    char left[64];
    char letter[8] = "    ";

    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    fprintf(out, "  %-28s %s\n", left, o->help);
}

int options_time(const struct command *cmd, const char *option, const char *value, uint64_t *ns)
{
    if (!number_time(value, ns))
        return options_usage(cmd, "%s needs seconds since the start, such as 1.25, not '%s'", option, value);
    if (*ns == 0 && strcmp(option, "--to") == 0)
        return options_usage(cmd, "--to needs seconds above 0");
    return 0;
}

int options_events(const struct command *cmd, const char *value, const char **events)
{
    *events = value;
    return value[strspn(value, ", \t\n")]
               ? 0
               : options_usage(cmd, "-e needs the name of an event; 'upmu list' prints them");
}

int options_stacks(const struct command *cmd, const char *value, int32_t *stacks)
{
    static const char *const names[] = {
        [UPMU_STACKS_USER] = "user", [UPMU_STACKS_EXPERT] = "expert", [UPMU_STACKS_MACHINE] = "machine"};
    for (int32_t i = UPMU_STACKS_USER; i <= UPMU_STACKS_MACHINE; i++) {
        if (strcmp(value, names[i]) != 0)
            continue;
        *stacks = i;
        return 0;
    }
    return options_usage(cmd, "--stacks is one of user, expert and machine, not '%s'", value);
}

void options_help(FILE *out, const struct command *cmd)
{
    fprintf(out, "Usage: upmu %s%s%s\n\n%s\nOptions:\n", cmd->name, cmd->usage[0] ? " " : "", cmd->usage, cmd->about);
    for (const struct option_spec *o = cmd->options; o->name; o++)
        options_help_line(out, o);
    options_help_line(out, &help_option);
    fprintf(out, "\nExit status:\n%s\nThe manual has more: man upmu-%s\n", cmd->exits, cmd->name);
}
