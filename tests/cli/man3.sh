# SPDX-License-Identifier: MIT
# The manual of the C API: a page for each exported function and struct, each constant described, and no fault of form.
# Environment: SOURCE, the tree.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
pages=$work/man3
python3 "$SOURCE/man/man3.py" "$pages" || fail "man3.py ended with $?"
names=$(sed -n 's/^ *\(upmu_[a-z_0-9]*[a-z0-9]\);/\1/p' "$SOURCE"/lib/libupmu{,_sync,_analysis}.map | grep -v -e '^upmu_fail$')
structs=$(sed -n 's/^struct \(\w*\) {$/\1/p' "$SOURCE"/include/upmu/*.h | grep -v -e '_scope$' -e '^Arrow')
[ "$(wc -w <<<"$names $structs")" -ge 250 ] || fail "too few names: $names $structs"
for name in $names $structs; do
    [ -f "$pages/$name.3" ] || { fail "no page for $name"; continue; }
    page=$pages/$(sed -n 's,^\.so man3/,,p' "$pages/$name.3")
    [ -f "$page" ] || page=$pages/$name.3
    grep -q "^\.Ss \(struct \)\{0,1\}$name$" "$page" || fail "$page does not describe $name"
done
# A constant, field or parameter without a description is followed by the next one.
undescribed=$(grep -h -A1 '^\.It' "$pages"/*.3 | grep -A1 '^\.It' | awk '/^\.It/ && before ~ /^\.It/ {print before} {before = $0}')
[ -z "$undescribed" ] || fail "without a description: $undescribed"
constants=$(sed -n 's/^ *\(UPMU_[A-Z_0-9]*\) = .*/\1/p' "$SOURCE"/include/upmu/*.h)
for name in $constants; do
    grep -qh "^\.It Dv $name" "$pages"/*.3 || fail "no page has $name"
done
SOURCE_DATE_EPOCH=86400 python3 "$SOURCE/man/man3.py" "$work/again"
grep -q '^\.Dd January 2, 1970$' "$work/again/upmu_set.3" || fail "the date is not that of SOURCE_DATE_EPOCH"
if command -v mandoc >/dev/null; then
    faults=$(grep -L '^\.so' "$pages"/*.3 | xargs mandoc -Tlint -W warning)
    [ -z "$faults" ] || fail "$faults"
else
    echo "without mandoc the form of the pages is not checked (Debian: mandoc)"
fi
finish
