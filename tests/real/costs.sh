#!/usr/bin/env bash
# costs.sh BUILD [ROUNDS] [NAME...]: time of programs by others, bare and recorded in the modes holders (default) and all.
#
# Each program runs alternately bare, holders, all, by default 3 rounds, and three times as many if it takes less than a second, since the
# least of few short runs varies by more than a recording costs; of each the least elapsed time counts, and the least user and system time
# of all its processes. What is measured is what a package installs: a copy of BUILD, installed and stripped. Output and status must be those of the bare run, no event may be lost, and no run may sleep a second longer. Ends with the
# table for docs/soak.md, with the medians; programs that are not installed are named below it. Exit status: 1 if one of these fails.
set -euo pipefail
build=$(realpath "$1") rounds=${2:-3}
shift $(($# < 2 ? $# : 2))
bin=$build/tests/sync lib=$build/lib
COSTS_HERE=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
export COSTS_HERE
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../sync/common.sh"
cmake --install "$build" --prefix "$scratch/installed" --strip >/dev/null
upmu=$scratch/installed/bin/upmu
cd "$scratch"

prepare()
{
    seq 2400000 | awk '{ print ($1 * 7919) % 2400011, "line", $1 }' >data
    cat >threads.pl <<'END'
use threads; use threads::shared; use Thread::Queue;
my $queue = Thread::Queue->new; my $sum :shared = 0;
my @workers = map { threads->create(sub { while (defined(my $n = $queue->dequeue)) { my $s = 0; $s += $_ * $n for 1 .. 300; lock $sum; $sum += $s } }) } 1 .. 4;
$queue->enqueue($_) for 1 .. 30000; $queue->end; $_->join for @workers; print "$sum\n";
END
    cat >workers.py <<'END'
import queue, threading
q, out, lock = queue.Queue(100), [0], threading.Lock()
def work():
    while (n := q.get()) is not None:
        s = sum(range(n % 300))
        with lock: out[0] += s
ts = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in ts]
for n in range(300000): q.put(n)
for _ in ts: q.put(None)
[t.join() for t in ts]; print(out[0])
END
    cat >arrays.py <<'END'
import numpy as np
a = np.arange(250000, dtype=float).reshape(500, 500) % 7
for _ in range(60): a = (a @ a.T) % 7
print(a.sum(), np.linalg.svd(a[:150, :150], compute_uv=False).round(3)[:3], np.sort(np.sin(np.arange(2000000.0))).sum().round(3))
END
    cat >tasks.cs <<'END'
using System; using System.Collections.Generic; using System.Threading; using System.Threading.Tasks;
class Tasks { static void Main() { long sum = 0; var words = new Dictionary<string, long>(); var gate = new object();
    Parallel.For(0, 600000, i => { long s = 0; for (int k = 0; k < 500; k++) s += k * i % 7; Interlocked.Add(ref sum, s); lock (gate) words["w" + i % 97] = i % 97; });
    Console.WriteLine(sum + " " + words.Count); } }
END
    cat >loop.cmake <<'END'
foreach(i RANGE 20000)
  math(EXPR s "${i} * 7")
  list(APPEND l ${s})
endforeach()
list(LENGTH l n)
message("${n}")
END
    cat >page.html <<'END'
<p id=p></p><script>let s = 0; for (let i = 0; i < 3e6; i++) s += i % 7; document.getElementById("p").textContent = s;
for (let i = 0; i < 500; i++) document.body.appendChild(document.createElement("div")).textContent = i;</script>
END
    cat >cache.vtc <<'END'
varnishtest "a cache"
server s1 -repeat 3 -keepalive { rxreq
    txresp -hdr "Cache-Control: max-age=100" -bodylen 1000 } -start
varnish v1 -vcl+backend { } -start
client c1 -repeat 40 { loop 20 { txreq -url "/a"
    rxresp
    expect resp.status == 200 } } -run
client c2 -repeat 40 { loop 20 { txreq -url "/a"
    rxresp } } -run
END
    cat >Makefile <<'END'
all: $(foreach n,1 2 3 4 5 6,o$n)
o%: ; @awk '{ s += $$1 * $* } END { print s }' data >$@
END
    cat >big.cpp <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
int main() { std::map<std::string, int> m; std::regex r("a+b"); m["x"] = std::regex_search("aab", r); std::cout << m.size(); }
END
    ! command -v mcs >/dev/null || mcs -out:tasks.exe tasks.cs
    [ ! -d /usr/include/linux ] || tar cf headers.tar -C /usr/include linux asm-generic c++
    gzip -kc headers.tar >headers.tar.gz
    python3 -c 'import json; print(json.dumps([{"n": i, "s": "x" * (i % 50)} for i in range(500000)]))' >data.json
}

# NAME, then the command; one with more than a program and its arguments is run by bash
list()
{
    cat <<'END'
perl-threads perl threads.pl
python-queue python3 workers.py
python-pool python3 -c 'import concurrent.futures as f; print(sum(f.ThreadPoolExecutor(4).map(lambda n: sum(range(n % 500)), range(150000))))'
python-process python3 -c 'import multiprocessing as m; p = m.Pool(3); print(sum(p.map(abs, range(-3000000, 0))))'
numpy python3 -c 'import numpy' && python3 arrays.py
json python3 -c 'import json; d = json.load(open("data.json")); print(len(json.dumps(d)))'
mono mono tasks.exe
chromium chromium --headless --no-sandbox --disable-gpu --user-data-dir=profile --dump-dom file://$PWD/page.html 2>/dev/null
varnish varnishtest -b 50M cache.vtc | grep -c passed
sort sort --parallel=4 -S 2M -n data
pbzip2 pbzip2 -c -p3 headers.tar
pigz pigz -nc -p3 headers.tar
xz xz -c -1 -T2 --block-size=2MiB headers.tar
zstd zstd -qc -9 -T2 headers.tar
7z 7z a -so -txz -mmt=2 -mx=1 x.xz headers.tar
bzip2 bzip2 -c headers.tar
tar tar xOzf headers.tar.gz
gcc gcc -O2 -S -o - -x c++ big.cpp
clang clang -O1 -S -o - -x c++ big.cpp
make rm -f o[1-6] && make -s -j3 && cat o1 o6
sqlite3 sqlite3 :memory: 'create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200000) insert into t select i, i * 7919 % 1200007 from n; create index x on t(b); select sum(a * b) from t where b > 1000'
git rm -rf repo && git init -q repo && cd repo && for i in 1 2 3 4 5 6; do head -$((i * 40000)) ../data >f$i; done && git add . && git -c user.name=n -c user.email=e commit -qm m --date=@0 && git gc -q --aggressive && git ls-files -s
node node -e 'const z = require("zlib"), c = require("crypto"); let n = 40; for (let i = 0; i < 40; i++) z.gzip(Buffer.alloc(1e6, "ab" + i), (e, r) => { c.pbkdf2("p", "s" + i, 20000, 32, "sha256", () => { if (!--n) console.log("done"); }); });'
java java "$COSTS_HERE/Work.java"
ruby ruby -e 'q = Queue.new; t = 4.times.map { Thread.new { s = 0; while (n = q.pop) != :end; s += (1..n % 300).sum; end; s } }; 200000.times { |n| q << n }; 4.times { q << :end }; puts t.map(&:value).sum'
php php -r '$a = []; for ($i = 0; $i < 4000000; $i++) $a[$i % 1000] = md5($i); echo count($a);'
lua lua5.4 -e 'local t = {} for i = 1, 2e7 do t[i % 1000] = i end print(#t)'
tclsh echo 'for {set i 0} {$i < 6000000} {incr i} {incr s $i}; puts $s' | tclsh
guile guile -c '(use-modules (ice-9 threads)) (display (apply + (par-map (lambda (n) (let loop ((i 0) (s 0)) (if (= i 3000) s (loop (+ i 1) (+ s (* n i)))))) (iota 2000))))'
ffmpeg ffmpeg -v error -f lavfi -i testsrc=d=30:s=320x240 -c:v mpeg4 -threads 4 -f md5 -
openssl for i in 1 2 3 4 5 6; do openssl dgst -sha512 headers.tar; done
gdb gdb -batch -ex 'info functions main' -ex 'print 6 * 7' "$(command -v gdb)"
cmake cmake -P loop.cmake 2>&1
xmllint python3 -c 'print("<r>" + "<a b=\"1\">x</a>" * 1000000 + "</r>")' | xmllint --xpath 'count(//a)' -
rocksdb ldb --db=db --create_if_missing load <data.kv >/dev/null; ldb --db=db scan | tail -1; rm -r db
valgrind valgrind -q --tool=none true
perf perf bench sched messaging -g 4 -l 200 >/dev/null; echo done
END
}

# times_of OUT COMMAND...: the milliseconds of a run, those of its CPU time and those that it slept; its status is in OUT.status
times_of()
{
    local out=$1 status=0
    shift
    TIMEFORMAT='%R %U %S'
    { time "$@" >"$out" 2>"$out.err" || status=$?; } 2>"$out.time" || true
    echo "$status" >"$out.status"
    awk '{ cpu = $2 + $3; printf "%.0f %.0f %.0f\n", $1 * 1000, cpu * 1000, ($1 > cpu ? $1 - cpu : 0) * 1000 }' "$out.time"
}

least()
{
    if [ -z "$1" ] || [ "$2" -lt "$1" ]; then echo "$2"; else echo "$1"; fi
}

one()
{
    local name=$1 command=$2 round all ms asleep mode note='' expected program=${2%% *} incomplete runs=$rounds
    local -a run=(bash -c "$command")
    local -A took=([bare]='' [holders]='' [all]='') cpu=([bare]='' [holders]='' [all]='') slept=([bare]='' [holders]='' [all]='')
    [ "$program" != for ] && [ "$program" != rm ] && [ "$program" != echo ] || program=$name
    [ "$program" != java ] || program=javac
    [[ $command = *[\;\&\|\<\>]* ]] || eval "run=($command)"
    command -v "$program" >/dev/null || { missing="$missing $name"; return 0; }
    [ "$name" != numpy ] || python3 -c 'import numpy' 2>/dev/null || { missing="$missing $name"; return 0; }
    for ((round = 0; round < runs; round++)); do
        read -r all ms asleep < <(times_of bare timeout 120 "${run[@]}")
        [ "$round" -gt 0 ] || [ "$all" -ge 1000 ] || runs=$((3 * rounds))
        expected=$(<bare.status)
        [ "$expected" = 0 ] || note="$note, bare: status $expected: $(tail -1 bare.err)"
        took[bare]=$(least "${took[bare]}" "$all") cpu[bare]=$(least "${cpu[bare]}" "$ms") slept[bare]=$(least "${slept[bare]}" "$asleep")
        for mode in holders all; do
            # Kept until the end: without a journal, ext4 looks at each file deleted in the last minutes when it makes one.
            read -r all ms asleep < <(times_of recorded timeout 300 "$upmu" record -m $mode -o "$PWD/recordings/$name.$mode.$round" -- "${run[@]}")
            incomplete=$(grep -oE '[0-9,]+ events (were )?lost|incomplete[^.]*' recorded.err | head -1 || true)
            [ -z "$incomplete" ] || note="$note, $mode: $incomplete"
            if [ "$(<recorded.status)" != "$expected" ]; then note="$note, $mode: status $(<recorded.status) for $expected"; fi
            cmp -s bare recorded || note="$note, $mode: another output"
            took[$mode]=$(least "${took[$mode]}" "$all") cpu[$mode]=$(least "${cpu[$mode]}" "$ms") slept[$mode]=$(least "${slept[$mode]}" "$asleep")
        done
    done
    for mode in holders all; do
        [ $((slept[$mode] - slept[bare])) -lt 1000 ] || note="$note, $mode: asleep $((slept[$mode] - slept[bare])) ms longer"
    done
    [ "${cpu[bare]}" -gt 0 ] || cpu[bare]=1
    [ "${took[bare]}" -gt 0 ] || took[bare]=1
    [ -z "$note" ] || failed=1
    awk -v name="$name" -v note="${note#, }" -v t="${took[bare]} ${took[holders]} ${took[all]} ${cpu[bare]} ${cpu[holders]} ${cpu[all]}" \
        'BEGIN { split(t, v, " ")
                 printf "| %s | %d | %.2f | %.2f | %d | %.2f | %.2f | %s |\n", name, v[1], v[2] / v[1], v[3] / v[1], v[4], v[5] / v[4], v[6] / v[4], note }' |
        tee -a table
}

missing='' failed=0
prepare
mkdir recordings
awk 'NR <= 100000 { print $1 " ==> " $3 }' data >data.kv
printf '| Program | Bare, ms | holders | all | Bare, ms of CPU | holders | all | |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n'
: >table
while read -r name command; do
    [ $# -eq 0 ] || [[ " $* " = *" $name "* ]] || continue
    one "$name" "$command" </dev/null
done < <(list)
awk -F'|' '
    function median(a, n, i, j, t) {
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && a[j - 1] > a[j]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
        return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
    }
    { for (i = 4; i <= 8; i++) v[i, NR] = $i + 0 }
    function column(i, a, k) { for (k = 1; k <= NR; k++) a[k] = v[i, k]; return median(a, NR) }
    END { if (NR) printf "| median of %d | | %.2f | %.2f | | %.2f | %.2f | |\n", NR, column(4), column(5), column(7), column(8) }' table
[ -z "$missing" ] || echo "not installed:$missing"
n=$(wc -l <table)
echo "$n programs, $([ $failed -eq 0 ] && echo 'the same output and status, no event lost' || echo 'differences, see above')"
[ $failed -eq 0 ]
