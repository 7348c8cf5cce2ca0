# SPDX-License-Identifier: MIT
# The Python package in one of its tests: python.sh PART. Environment: PYTHON_DIR (bindings/python), DIR, HERE, UPMU, SCENE.
set -euo pipefail
part=$1
command -v python3 >/dev/null || { echo "skipped, because python3 is not installed"; exit 77; }
export PYTHONPATH=$PYTHON_DIR PYTHONDONTWRITEBYTECODE=1
# Debian's numpy is Debian's python3's; another one may precede it in PATH.
python=python3
"$python" -c 'import numpy, pandas' 2>/dev/null || [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
export DIR=$DIR/$part
rm -rf "$DIR"
mkdir -p "$DIR"
case $part in
test) python3 "$HERE/python_test.py" ;;
layout)
    shift
    python3 "$HERE/python_layout.py" "$PYTHON_DIR/generate.py" "$DIR" "$@"
    ;;
numpy)
    "$UPMU" record -e task-clock -o "$DIR/scene" -- "$SCENE" </dev/null >"$DIR/record" 2>&1 || { cat "$DIR/record"; exit 1; }
    "$python" "$HERE/python_numpy.py" "$DIR/scene"
    ;;
example)
    python3 -m upmu run "$PYTHON_DIR/example.py" "$DIR/trace" >"$DIR/out"
    grep -E '^  task-clock +[0-9]+ \(exact\)$' "$DIR/out"
    grep -E '^sum up: [0-9.]+ ms$' "$DIR/out"
    python3 -m upmu "$DIR/trace" | grep -E '^  parser 2 ' # names of Python's threads
    { sleep 0.2; python3 -m upmu "$DIR/trace" 2>"$DIR/err"; } | true # a reader that went away is no error
    [ ! -s "$DIR/err" ] || { cat "$DIR/err"; exit 1; }
    ;;
esac
