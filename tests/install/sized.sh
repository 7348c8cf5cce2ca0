#!/usr/bin/env bash
# sized.sh TREE LIBDIR: public functions with sized structs of several releases, and with NULL for every pointer.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

tree=$1 lib=$1/$2
export LD_LIBRARY_PATH=$lib
sed -n 's/^#define \(UPMU_\w*\)_SIZE_V1 UPMU_SIZE_V1_(struct \(\w*\), .*/{"\2", \1_SIZE_V1},/p' "$tree"/include/upmu/*.h \
    >"$scratch/sized_v1.h"
[ "$(wc -l <"$scratch/sized_v1.h")" -ge 45 ] || fail "too few recorded sizes are found in the headers"
# On machines with 64-bit pointers the numbers are those of the structs, which have not grown since.
{
    printf '#include "upmu/%s"\n' analysis.h arrow.h control.h deadlock.h export.h findings.h func.h functions.h heap.h monitor.h mpi.h openmp.h overflow.h region.h sampler.h samples.h snapshot.h subscription.h sync.h timeline.h
    sed 's/{"\(\w*\)", \(\w*\)},/_Static_assert(\2 <= sizeof(struct \1), "\1");/' "$scratch/sized_v1.h"
} >"$scratch/assert.c"
"$CC" -std=c11 -fsyntax-only -I"$tree/include" "$scratch/assert.c" || fail "a struct is smaller than in the first release"
"$CC" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$tree/include" -I"$scratch" -I"$here/../support" "$here/sized.c" -L"$lib" -lupmu_sync -lupmu_analysis -lupmu -pthread \
    -o "$scratch/sized" || fail "sized.c does not compile"
echo 'int main(void) { return 0; }' | "$CC" -finstrument-functions -x c - -o "$scratch/instrumented" -L"$lib" -lupmu_func -lupmu
UPMU_FUNC_MODE=tree UPMU_TRACE=$scratch/functions "$scratch/instrumented"
env -u UPMU_TRACE -u UPMU_EVENTS "$scratch/sized" "$scratch/trace" "$scratch/functions" || fail "sized structs"

# NULL and 0 for every argument: UPMU_E_INVAL, or the result in the list; and none crashes.
"$CC" -E -P -I"$tree/include" -include upmu/analysis.h -include upmu/arrow.h -include upmu/control.h -include upmu/deadlock.h -include upmu/export.h \
    -include upmu/findings.h -include upmu/functions.h -include upmu/heap.h -include upmu/monitor.h -include upmu/mpi.h -include upmu/openmp.h -include upmu/overflow.h -include upmu/region.h -include upmu/sampler.h -include upmu/samples.h -include upmu/snapshot.h -include upmu/subscription.h -include upmu/timeline.h -x c /dev/null | tr '\n' ' ' |
    grep -oP 'warn_unused_result\)\) int \Kupmu_\w+ *\([^;]*\*' | sed 's/ *(.*//' | grep -v '_$' | sort -u >"$scratch/names"
[ "$(wc -l <"$scratch/names")" -ge 60 ] || fail "too few functions are found in the headers"
{
    echo '#include <dlfcn.h>'
    echo '#include <stdio.h>'
    echo '#include <string.h>'
    echo '#include <upmu/upmu.h>'
    echo 'int main(void) { int bad = 0; static const char *const names[] = {'
    sed 's/.*/"&",/' "$scratch/names"
    cat <<'END'
    };
    setvbuf(stdout, 0, _IONBF, 0);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        int (*call)(void *, void *, void *, void *, void *, void *);
        *(void **)&call = dlsym(RTLD_DEFAULT, names[i]);
        printf("%s ", names[i]);
        int rc = call ? call(0, 0, 0, 0, 0, 0) : 1;
        printf("%d", rc);
        /* The message names the function and the argument. */
        size_t len = strlen(names[i]);
        if (rc == UPMU_E_INVAL && (strncmp(upmu_error(), names[i], len) != 0 || strncmp(upmu_error() + len, ": `", 3) != 0))
            printf(" \"%s\"", upmu_error());
        printf("\n");
        bad += !call;
    }
    return bad;
}
END
} >"$scratch/nulls.c"
"$CC" -std=c11 -D_GNU_SOURCE -I"$tree/include" "$scratch/nulls.c" -Wl,--no-as-needed -L"$lib" -lupmu_analysis -lupmu_func -lupmu -ldl -o "$scratch/nulls"
"$scratch/nulls" >"$scratch/results" || fail "a function crashes or is missing after: $(tail -1 "$scratch/results")"
# upmu_metric_load(NULL) asks for the file of UPMU_METRICS.
wrong=$(grep -v ' -1$' "$scratch/results" | grep -vx 'upmu_metric_load 0' || true)
[ -z "$wrong" ] || fail "NULL is not UPMU_E_INVAL: $wrong"
echo "$(wc -l <"$scratch/results") functions refuse NULL"
