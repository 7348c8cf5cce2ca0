# SPDX-License-Identifier: MIT
# A server and the Python client: serve.sh PART, one of the Python files beside it.
# shellcheck source=../cli/lib.sh
. "$CLI/lib.sh"
[ -z "${SANITIZED-}" ] || skip "a sanitizer's runtime must be loaded before anything that is preloaded"
export work
python3 "$HERE/$1.py" || fail "$1"
finish
