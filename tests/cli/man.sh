# SPDX-License-Identifier: MIT
# The manual: a page for each command, with every option of its help and no other, and no fault of form.
. "$(dirname "$0")/lib.sh"

# options_of FILE: the long options named in a page, in plain text.
plain() {
    sed -e 's/\\-/-/g' -e 's/\\f[A-Z]//g' "$1"
}
page_options() {
    plain "$1" | sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' | grep -A1 '^\.TP' | grep -oE -e '--[a-z][a-z-]*' | sort -u
}
help_options() {
    "$UPMU" "$1" --help | sed -n '/^Options:/,/^Exit status:/p' | grep -oE -e '^ +(-., )?--[a-z][a-z-]*' |
        grep -oE -e '--[a-z][a-z-]*' | sort -u
}

commands=$("$UPMU" help | sed -n '/^Commands:/,/^Options:/s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 6 ] || fail "commands of the overview: $commands"
for c in $commands; do
    page=$MAN/upmu-$c.1
    [ -f "$page" ] || { fail "no page for $c"; continue; }
    [ "$(help_options "$c")" = "$(page_options "$page")" ] ||
        fail "$c: the help has $(help_options "$c" | xargs), the page $(page_options "$page" | xargs)"
    # Short forms stand beside their long forms.
    while read -r letter long; do
        grep -qF -e "$long" < <(plain "$page" | grep -A1 '^\.TP' | grep -E -e "${letter}[ \",]") || fail "$c: $letter beside $long"
    done < <("$UPMU" "$c" --help | sed -n 's/^ *\(-[a-zA-Z]\), \(--[a-z-]*\).*/\1 \2/p')
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
        grep -q "^\.SH $section\$" "$page" || fail "$c: no section $section"
    done
    grep -q "upmu.-$c" "$MAN/upmu.1" || fail "upmu(1) does not name $c"
    summary=$("$UPMU" help | sed -n "s/^  $c  *//p")
    grep -qF -e "$summary" < <(plain "$page") || fail "$c: the page's summary is not '$summary'"
done
# Every field and word of an event that upmu dump can print.
names=$(sed -nE 's/.*(FIELD_OF\(\w+|FIELD\(\w+, \w+), "(\w+)".*/\2/p; s/^ *\{UPMU_TRACE_FLAG_\w+, "([a-z_-]+)"\},/\1/p' "$MAN/../tools/upmu/trace/cmd_dump.c" | sort -u)
[ "$(wc -w <<<"$names")" -ge 30 ] || fail "fields of upmu dump: $names"
for name in $names; do
    grep -qwF -e "$name" < <(plain "$MAN/upmu-dump.1" | sed -n '/^\.SH FIELDS/,/^\.SH OPTIONS/p') || fail "upmu-dump(1) has no field $name"
done
for page in "$MAN"/upmu*.1; do
    if command -v groff >/dev/null; then
        faults=$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)
        [ -z "$faults" ] || fail "$page: $faults"
    fi
done
finish
