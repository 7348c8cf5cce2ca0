#!/usr/bin/env bash
# examples/functions: exact calls in its CSV files, and nothing without a variable.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
program=$1
cd "$scratch"
silent "$program"
UPMU_FUNC_CSV=product "$program" >printed
cut -d, -f1,3 product.functions.csv | sort >calls
diff - calls <<'END' || fail "calls"
element,884736
fill,1
main,1
multiply,1
name,calls
sum,9216
END
grep -qx 'sum,element,884736' < <(cut -d, -f1-3 product.edges.csv) || fail "edges: $(cat product.edges.csv)"
