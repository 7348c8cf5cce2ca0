/* SPDX-License-Identifier: MIT */
/* The upmu command: looks up the command in its table and runs it. */
#include <stdio.h>
#include <string.h>

#include "base/text/suggest.h"
#include "ui/command.h"
#include "ui/output.h"
#include "upmu/upmu.h"

/* A line for each: lists grow in the middle. */
/* clang-format off */
const struct command *const commands[] = {
    &command_list,
    &command_explain,
    &command_plan,
    &command_doctor,
    &command_gather,
    &command_stat,
    &command_record,
    &command_ctl,
    &command_top,
    &command_report,
    &command_deadlock,
    &command_export,
    &command_dump,
    &command_repair,
    &command_metrics,
    &command_serve,
    &command_help,
    NULL,
};
/* clang-format on */

/* libupmu looks this name up: UPMU_EVENTS and its companions measure the programs that the command starts, not the command, whose
 * report would replace theirs. */
extern UPMU_API const char upmu_variables_are_for_others_;
const char upmu_variables_are_for_others_ = 1;

static const struct command *command_named(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

const struct command *command_find(const char *name)
{
    struct suggest c;
    const struct command *found = command_named(name);
    if (found)
        return found;
    suggest_begin(&c, name);
    for (size_t i = 0; commands[i]; i++)
        suggest_offer(&c, commands[i]->name);
    if (c.best)
        complain("unknown command '%s'; did you mean '%s'?", name, c.best);
    else
        complain("unknown command '%s'; 'upmu help' lists the commands", name);
    return NULL;
}

static int main_print_version(void)
{
    struct output out;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    fprintf(out.file, "upmu %s", UPMU_VERSION_STRING);
    if (strcmp(UPMU_VERSION_STRING, upmu_version()) != 0)
        fprintf(out.file, " (library %s)", upmu_version());
    fputc('\n', out.file);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        complain("no command given; 'upmu help' lists the commands");
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return main_print_version();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        word = command_help.name;
    else if (word[0] == '-') {
        complain("unknown option %s; 'upmu help' shows the usage", word);
        return EXIT_USAGE;
    }
    const struct command *cmd = command_find(word);
    return cmd ? cmd->run(cmd, argc - 2, argv + 2) : EXIT_USAGE;
}
