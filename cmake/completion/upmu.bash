# SPDX-License-Identifier: MIT
# Completion of the upmu command for bash. Commands, options and names come from the command itself.

_upmu_words() { # WHAT [COMMAND]
    case $1 in
        commands) "$program" help 2>/dev/null | sed -n '/^Commands:/,/^Options:/s/^  \([a-z]*\) .*/\1/p' ;;
        options) "$program" "$2" --help 2>/dev/null | sed -n '/^Options:/,/^Exit status:/p' | grep -oE -e '--[a-z][a-z-]*' | sort -u ;;
        events) "$program" list 2>/dev/null | sed -n 's/^ *\([a-z][a-z0-9-]*\) .*/\1/p' ;;
        formats) "$program" export --formats 2>/dev/null | sed -n 's/^ *\([a-z]*\) .*/\1/p' ;;
    esac
}

_upmu() {
    local program=$1 current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words=$(_upmu_words commands)
    elif [ "$command" = help ]; then
        words=$(_upmu_words commands)
    else
        case $previous in
            -e | --events) words=$(_upmu_words events) ;;
            -f | --format) [ "$command" = export ] && words=$(_upmu_words formats) ;;
            --mode) words='contended holders all counts' ;;
        esac
    fi
    # In a list of events, the last one is completed.
    local list=
    if [[ $previous = -e || $previous = --events ]] && [[ $current = *,* ]]; then
        list=${current%,*},
    fi
    case $current in
        -*) [ "$COMP_CWORD" -eq 1 ] || words=$(_upmu_words options "$command") ;;
    esac
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -P "$list" -W "$words" -- "${current#"$list"}")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}
complete -o filenames -F _upmu upmu
