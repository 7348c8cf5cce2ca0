#!/usr/bin/env bash
# rocksdb_names.sh BIN LIB UPMU: what the locks of a large C++ program without debug information are called.
#
# Each lock that was waited for, and each of the twenty that come first, has a name, or a function that is no wrapper.
set -euo pipefail
bin=$1 lib=$2 upmu=$3
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

needs db_bench python3
record "$scratch/recording" holders db_bench --db="$scratch/database" --benchmarks=fillrandom,readwhilewriting --num=4000 \
    --seed=7 --threads=4 >"$scratch/out" 2>&1 || fail "db_bench ended with status $?: $(cat "$scratch/out")"
"$upmu" report --json --top 100000 "$scratch/recording" >"$scratch/json" || fail "upmu report failed"
python3 - "$scratch/json" <<'PYTHON' || fail "names of locks"
import json, re, sys
objects = [o for o in json.load(open(sys.argv[1]))["objects"] if o["type"] != "thread"]
assert len(objects) > 200, len(objects)
waited = [o for o in objects if o["waits"]["count"] + o["waits"]["unfinished"]]
assert waited
wrapper = re.compile(r"(first use )?(std::|pthread_|__gthread|rocksdb::port::|rocksdb::(Mutex|InstrumentedMutex|\w*Lock)::)")
for o in waited + objects[:20]:
    assert o["name"] and o["named_by"] != "address" and not re.match(r"(first use )?0x", o["name"]), o["name"]
for o in waited:
    assert not wrapper.match(o["name"]), o["name"]
print(len(waited), "of", len(objects), "waited for:", ", ".join(sorted({o["group"] for o in waited})))
PYTHON
