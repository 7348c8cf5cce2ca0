# SPDX-License-Identifier: MIT
# Completion of the upmu command for fish. Commands, options and names come from the command itself.

function __upmu_commands
    upmu help 2>/dev/null | string match -rg '^  ([a-z]+)  +(.*)' | paste - - 2>/dev/null
end

function __upmu_options
    set -l words (commandline -opc)
    upmu $words[2] --help 2>/dev/null | string match -r '^ +(?:-., )?--[a-z][a-z-]*' | string match -r -- '--[a-z-]+'
end

function __upmu_previous
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

complete -c upmu -n __fish_use_subcommand -f -a '(__upmu_commands)'
complete -c upmu -n '__fish_seen_subcommand_from help' -f -a '(__upmu_commands)'
complete -c upmu -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -f -a '(__upmu_options)'
complete -c upmu -n '__upmu_previous -e --events' -f -a "(upmu list 2>/dev/null | string match -rg '^ *([a-z][a-z0-9-]*) ')"
complete -c upmu -n '__fish_seen_subcommand_from export; and __upmu_previous -f --format' -f -a "(upmu export --formats 2>/dev/null | string match -rg '^ *([a-z]+) ')"
complete -c upmu -n '__upmu_previous --mode' -f -a 'contended holders all counts'
