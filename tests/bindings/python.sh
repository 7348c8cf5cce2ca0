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
notebook)
    for python in python3 /usr/bin/python3 ""; do
        [ -z "$python" ] || ! "$python" -c 'import matplotlib, pandas' 2>/dev/null || break
    done
    [ -n "$python" ] || { echo "skipped, because matplotlib is not installed (Debian: python3-matplotlib python3-pandas)"; exit 77; }
    "$UPMU" record -e task-clock -o "$DIR/scene" -- "$SCENE" </dev/null >"$DIR/record" 2>&1 || { cat "$DIR/record"; exit 1; }
    UPMU_NOTEBOOK_TRACE=$DIR/scene MPLCONFIGDIR=$DIR "$python" "$HERE/python_notebook.py" "$PYTHON_DIR/locks.ipynb"
    ;;
otf2)
    for python in python3 /usr/bin/python3 ""; do # Debian's package is Debian's python3's
        [ -z "$python" ] || ! "$python" -c 'import otf2' 2>/dev/null || break
    done
    [ -n "$python" ] || { echo "skipped, because OTF2's Python package is not installed (Debian: python3-otf2)"; exit 77; }
    "$UPMU" record -e task-clock -o "$DIR/scene" -- "$SCENE" </dev/null >"$DIR/record" 2>&1 || { cat "$DIR/record"; exit 1; }
    "$python" -m upmu otf2 "$DIR/scene" "$DIR/otf2" | grep -E '^3 threads, [1-9][0-9]* regions and waits$'
    "$python" "$HERE/python_otf2.py" "$DIR/otf2/traces.otf2" "$DIR/scene"
    ! "$python" -m upmu otf2 "$DIR/scene" "$DIR/otf2" 2>"$DIR/err" || { echo "FAILED: a folder is overwritten"; exit 1; }
    grep -q 'exists already' "$DIR/err"
    ! "$python" -m upmu otf2 "$DIR/nothing" "$DIR/none" 2>"$DIR/err" || exit 1
    [ ! -e "$DIR/none" ] && grep -q '^upmu: ' "$DIR/err"
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
