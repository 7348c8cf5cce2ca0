#!/usr/bin/env bash
# bench_python.py with the Python that has numpy, the package of this tree, and the libraries of a build.
#
#     bench/sdk/bench_python.sh BUILD [--short] [--no-bars] [--json] [--no-heading]
set -euo pipefail

build=${1:?usage: bench_python.sh BUILD [--short] [--no-bars] [--json] [--no-heading]}
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v python3 >/dev/null || { echo "bench_python skipped, because python3 is not installed"; exit 77; }
# Debian's numpy is Debian's python3's; another one may precede it in PATH.
python=python3
"$python" -c 'import numpy' 2>/dev/null || [ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
export PYTHONPATH=$here/../../bindings/python PYTHONDONTWRITEBYTECODE=1 UPMU_LIBRARY=$build/lib
exec "$python" "$here/bench_python.py" "$build/tools/upmu/upmu" "$build/bench/peers_subject" "$@"
