# SPDX-License-Identifier: MIT
# Completion in bash, zsh and fish: commands, their options, events, formats, files. Environment: SOURCE, the tree.
. "$(dirname "$0")/lib.sh"
scripts=$SOURCE/cmake/completion
mkdir "$work/bin" "$work/home"
ln -s "$UPMU" "$work/bin/upmu"
export PATH=$work/bin:$PATH HOME=$work/home XDG_CONFIG_HOME=$work/home XDG_DATA_HOME=$work/home
touch "$work/home/a file"
cd "$work/home" || exit 1

# Each prints what a shell offers for the words given, a line for each.
in_bash() {
    bash --norc -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _upmu "$1"; printf "%s\n" "${COMPREPLY[@]}"' bash \
        "$scripts/upmu.bash" "$@"
}
# zsh's own functions are replaced by ones that print what they are given.
in_zsh() {
    zsh -f -c '_describe() { print -l -- ${(P)2} }; _files() { print -l * }; compset() { : }
        script=$1; shift; words=("$@"); CURRENT=$#; source $script' zsh "$scripts/_upmu" "$@" | sed 's/:.*//'
}
in_fish() {
    fish --no-config -c 'source $argv[1]; complete -C (string join " " -- $argv[2..])' "$scripts/upmu.fish" "$@" | cut -f1
}

offers() { # SHELL WANTED WORDS...
    local shell=$1 wanted=$2
    shift 2
    "in_$shell" "$@" >"$work/offered" 2>"$work/err"
    grep -qx -e "$wanted" "$work/offered" || { fail "$shell: no $wanted for '$*': $(head -c 300 "$work/offered" "$work/err")"; }
}
offers_not() {
    local shell=$1 wanted=$2
    shift 2
    ! grep -qx -e "$wanted" < <("in_$shell" "$@" 2>&1) || fail "$shell: $wanted for '$*'"
}

left_out=
for shell in bash zsh fish; do
    command -v $shell >/dev/null || { left_out="$left_out $shell"; continue; }
    for command in $(upmu help | sed -n '/^Commands:/,/^Options:/s/^  \([a-z]*\) .*/\1/p'); do
        offers $shell "$command" upmu ''
    done
    for option in $(upmu record --help | sed -n '/^Options:/,/^Exit/p' | grep -oE -e '^ +(-., )?--[a-z][a-z-]*' | grep -oE -e '--.*'); do
        offers $shell "$option" upmu record --
    done
    offers_not $shell --formats upmu record --
    offers $shell page-faults upmu stat -e page
    offers $shell flamegraph upmu export -f ''
    offers $shell holders upmu record --mode ''
    offers $shell deadlock upmu help ''
    offers $shell 'a file\|a\\ file' upmu dump ''
done
offers bash cycles,page-faults upmu stat -e cycles,page-f
offers_not bash cycles upmu re
[ -z "$left_out" ] || echo "without$left_out, which is not installed (Debian: zsh fish)"
finish
