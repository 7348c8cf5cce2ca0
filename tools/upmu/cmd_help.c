/* SPDX-License-Identifier: MIT */
/* upmu help: the list of commands, or the help of one. */
#include <stddef.h>

#include "ui/command.h"
#include "ui/options.h"
#include "ui/output.h"

struct help_request {
    const struct command *self;
    const char *topic;
};

static int help_option(void *arg, int id, const char *value)
{
    struct help_request *request = arg;
    (void)id; /* no options: only operands come here */
    if (request->topic)
        return options_usage(request->self, "help takes one command");
    request->topic = value;
    return 0;
}

static void help_overview(FILE *out)
{
    fputs("Usage: upmu COMMAND [OPTIONS]\n\n"
          "Counts performance events of threads, processes and commands, and records and reports their locks,\n"
          "waits, deadlocks and regions.\n\nCommands:\n",
          out);
    for (size_t i = 0; commands[i]; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nOptions:\n"
          "  -h, --help     show this help\n"
          "  -V, --version  show the version\n\n"
          "Exit status: 0 success, 1 failure, 2 the command line is invalid;\n"
          "'upmu stat' and 'upmu record' return the exit status of the command they ran.\n\n"
          "More: 'upmu help COMMAND', 'upmu COMMAND --help' or man upmu.\n",
          out);
}

static int help_run(const struct command *self, int argc, char **argv)
{
    struct help_request request = {.self = self};
    const struct command *topic = NULL;
    struct output out;
    int status = options_parse(self, argc, argv, help_option, &request, NULL);

    if (status != OPTIONS_CONTINUE)
        return status;
    if (request.topic) {
        topic = command_find(request.topic);
        if (!topic)
            return EXIT_USAGE;
    }
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (topic)
        options_help(out.file, topic);
    else
        help_overview(out.file);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

static const struct option_spec help_options[] = {{0, 0, NULL, NULL, NULL}};

const struct command command_help = {
    .name = "help",
    .summary = "show the commands, or the help of one",
    .usage = "[COMMAND]",
    .about = "Shows the commands, or the help of COMMAND.\n",
    .options = help_options,
    .exits = "  0  done\n"
             "  1  the help could not be written\n"
             "  2  there is no such command\n",
    .run = help_run,
};
