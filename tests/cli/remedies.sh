# SPDX-License-Identifier: MIT
# Every remedy that is printed works: each is provoked, applied as it is written, and seen to help. Those that change a setting
# of the whole machine are tried in a guest (tests/guests/programs/remedies.c).
. "$(dirname "$0")/lib.sh"
tried=0

# remedy FILE PATTERN: what the text offers between quotes; the whole text must have it.
remedy() {
    grep -oE "$2" "$work/$1" | head -n 1 | sed "s/^[^']*'//; s/'[^']*$//"
}

# counts EVENT OPTION...: whether upmu stat has a number of the event from the kernel.
counts() {
    local event=$1
    shift
    "$@" --json -e "$event" "${target[@]}" >"$work/out" 2>"$work/err" </dev/null || return 1
    python3 - "$work/err" <<'PYTHON'
import json, sys
e = json.load(open(sys.argv[1]))["events"][0]
sys.exit(0 if e["status"] in ("exact", "scaled") and e.get("source", "perf_event") == "perf_event" else 1)
PYTHON
}
target=(true)

helped() {
    tried=$((tried + 1))
}

no_help() {
    fail "the remedy does not help: $*"
    show >&2
}

# ------------------------------------------------------------------------------------------------ descriptors
# The limit that is printed is enough and nearly the lowest one, whatever the limit, the events and the threads are.
events=(task-clock page-faults context-switches cpu-migrations minor-faults major-faults cpu-clock task-clock:uk)
raised() { # LIMIT EVENTS WORDS...: counts under the limit, or under the one that is printed instead
    local limit=$1 list=$2 more
    shift 2
    prlimit --nofile="$limit" "$@" -e "$list" -o "$work/report" "${target[@]}" </dev/null 2>"$work/err"
    grep -q EMFILE "$work/report" || return 0
    more=$(grep -oE "ulimit -n [0-9]+' as root" "$work/report" | head -n 1 | cut -d"'" -f1)
    [ -n "$more" ] || { cat "$work/report"; no_help "no limit is printed at $limit"; return; }
    bash -c "$more && exec \"\$@\"" sh "$@" -e "$list" -o "$work/report" "${target[@]}" </dev/null 2>"$work/err"
    ! grep -q EMFILE "$work/report" || { cat "$work/report"; no_help "'$more' instead of $limit"; }
    helped
    more=${more##* }
    [ $((more - limit)) -gt 3 ] || return 0
    prlimit --nofile=$((more - 3)) "$@" -e "$list" -o "$work/report" "${target[@]}" </dev/null 2>"$work/err"
    grep -q EMFILE "$work/report" || fail "$((more - 3)) descriptors are enough, and $more were wanted: $*"
}
if command -v prlimit >/dev/null && [ "$(id -u)" -eq 0 ]; then
    for limit in 8 16 40 64 72 100; do
        for n in 1 2 8; do
            raised "$limit" "$(IFS=,; echo "${events[*]:0:n}")" "$UPMU" stat
        done
    done
    mkfifo "$work/go"
    : >"$work/ready"
    "$LOAD" faults 40 1 <"$work/go" >"$work/ready" &
    load=$!
    exec 7>"$work/go"
    wait_until 60 grep -q ready "$work/ready" || fail "load did not start"
    for limit in 30 70 160; do
        raised "$limit" "$(IFS=,; echo "${events[*]}")" "$UPMU" stat -p $load --for 0.1
        raised "$limit" "$(IFS=,; echo "${events[*]}")" "$UPMU" stat --per-thread -p $load --for 0.1
        raised "$limit" "$(IFS=,; echo "${events[*]}")" "$UPMU" stat -a --for 0.01
    done
    exec 7>&-
    wait $load 2>/dev/null
else
    echo "remedies of limits are not tried, because only root may raise them, with prlimit"
fi

# ---------------------------------------------------------------------------------------------- settings of ours
run env UPMU_BACKEND=none "$UPMU" doctor
grep -qF "remedy: Unset UPMU_BACKEND to count through perf_event_open" "$work/out" || no_help "UPMU_BACKEND is not named"
run env -u UPMU_BACKEND "$UPMU" doctor
has_not out "Unset UPMU_BACKEND" && helped
run env UPMU_FSROOT="$MACHINES/sunway_sw3231" "$UPMU" stat -e page-faults true
has err "Unset UPMU_FSROOT to count"
counts page-faults env -u UPMU_FSROOT "$UPMU" stat && helped || no_help UPMU_FSROOT

# -------------------------------------------------------------------------------------------------------- filters
for errno in EACCES EPERM ENOSYS; do
    run "$WITHOUT_PERF" $errno -- "$UPMU" stat -e cpu-migrations true
    [ "$status" -ne 77 ] || break
    has err "Run it under a seccomp profile that allows perf_event_open"
    run "$WITHOUT_PERF" $errno -- "$UPMU" doctor
    has out "remedy: Run it under a seccomp profile that allows perf_event_open"
    has_not out "counted through"
    counts cpu-migrations "$WITHOUT_PERF" ALLOWED -- "$UPMU" stat && helped || no_help "a filter that allows the call"
done

# ------------------------------------------------------------------------------------------- users without rights
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
as_nobody() {
    mkdir "$work/bin"
    cp "$UPMU" "$LOAD" "$work/bin"
    chmod -R a+rX "$work"
    upmu=$work/bin/$(basename "$UPMU")
    "${as_nobody[@]}" "$upmu" --version >/dev/null 2>&1
}
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null || ! as_nobody; then
    echo "remedies of rights are not tried, because no other user can run the command here"
elif [ "$paranoid" != 2 ]; then
    echo "remedies of rights are not tried, because kernel.perf_event_paranoid is '$paranoid', not 2"
else
    # The modifier :u, for each event with which it is printed; it is not for those without modes.
    for event in page-faults minor-faults context-switches cpu-migrations task-clock cpu-clock; do
        run "${as_nobody[@]}" "$upmu" stat -e $event:uk "$LOAD" touch 100
        ! grep -q "modifier :u" "$work/err" || { counts $event:u "${as_nobody[@]}" "$upmu" stat && helped; } ||
            no_help "$event:u"
    done
    run "${as_nobody[@]}" "$upmu" stat -e page-faults:uk true
    has err "with the modifier :u"
    run "${as_nobody[@]}" "$upmu" stat -e context-switches:uk true
    has err paranoid
    has_not err "modifier :u"

    # The capability, with the words that are printed.
    run "${as_nobody[@]}" "$upmu" stat -e cpu-migrations true
    words=$(remedy err "with 'setcap [^']*PROGRAM'")
    cp "$upmu" "$work/bin/capable"
    if [ -n "$words" ] && ${words/PROGRAM/$work/bin/capable} 2>/dev/null &&
        "${as_nobody[@]}" "$work/bin/capable" --version >/dev/null 2>&1; then
        sleep 600 &
        other=$!
        counts cpu-migrations "${as_nobody[@]}" "$work/bin/capable" stat && helped || no_help "$words"
        run "${as_nobody[@]}" "$upmu" stat -e cpu-migrations -p $other --for 0.1
        has err "belongs to user 0"
        [ "$(remedy err "with 'setcap [^']*PROGRAM'")" = "$words" ] || no_help "another remedy for a foreign process"
        run "${as_nobody[@]}" "$work/bin/capable" stat -e cpu-migrations -p $other --for 0.1
        [ "$status" -eq 0 ] && helped || no_help "$words for a foreign process"
        expect 0 "$UPMU" stat -e cpu-migrations -p $other --for 0.1
        helped
        run "${as_nobody[@]}" "$work/bin/capable" stat -e cpu-migrations -C 0 --for 0.1
        [ "$status" -eq 0 ] && helped || no_help "$words for a CPU"
        kill $other
        wait $other 2>/dev/null
    else
        echo "the capability is not tried, because it cannot be given here"
    fi

    # A program that changes its rights counts as the user it becomes.
    cp "$(type -P true)" "$work/bin/gains"
    chmod 4755 "$work/bin/gains"
    target=("$work/bin/gains")
    run "${as_nobody[@]}" "$upmu" stat -e page-faults "${target[@]}"
    if grep -q "Count as the user it becomes" "$work/err"; then
        counts page-faults "$UPMU" stat && helped || no_help "as the user it becomes"
    fi
    target=(true)
fi

# -------------------------------------------------------------------------------------------------------- CPUs
run "$UPMU" stat -C 99999 -e task-clock --for 0.1
if grep -q "Choose one of those" "$work/err"; then
    cpu=$(grep -oE "online are [0-9]+" "$work/err" | cut -d' ' -f3)
    run "$UPMU" stat -C "$cpu" -e task-clock --for 0.1
    [ "$status" -eq 0 ] && helped || no_help "an online CPU"
fi

# ------------------------------------------------------------------------------------------------- file systems
# fixed COMMAND TOPIC: in its own mount namespace, hides a file system by COMMAND, follows the remedy, and checks again.
fixed() {
    unshare -m bash -s "$UPMU" "$1" "$2" <<'SCRIPT' >"$work/out" 2>"$work/err"
upmu=$1 hide=$2 topic=$3
eval "$hide" || exit 78
finding() { "$upmu" doctor --json | python3 -c '
import json, sys
for f in json.load(sys.stdin)["findings"]:
    if f["topic"] == sys.argv[1]:
        print(f["state"], f["remedy"] or "")
        break' "$topic"; }
before=$(finding)
fix=$(sed -n "s/^.*'\(mount [^']*\)'.*/\1/p" <<<"$before")
echo "before: $before"
[ -n "$fix" ] && $fix || exit 1
after=$(finding)
echo "after: $after"
case $after in missing*) exit 1 ;; esac
SCRIPT
    local rc=$?
    case $rc in
    0) helped ;;
    78) echo "a remedy of '$2' is not tried, because the file system cannot be hidden here" ;;
    *) no_help "$2" ;;
    esac
}
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    fixed 'mount -t tmpfs none /sys' pmu
    with_tracefs='mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing || exit; exec "$@"'
    if unshare -m sh -c "$with_tracefs" sh true 2>/dev/null; then
        fixed 'umount -l /sys/kernel/debug 2>/dev/null; umount -l /sys/kernel/tracing 2>/dev/null; true' tracepoints
        # What other users may not read, root may.
        if [ -n "${upmu:-}" ]; then
            unshare -m sh -c "$with_tracefs" sh \
                "${as_nobody[@]}" "$upmu" doctor >"$work/out" 2>"$work/err"
            if grep -q "remedy: Run as root" "$work/out"; then
                unshare -m sh -c "$with_tracefs" sh "$UPMU" doctor \
                    >"$work/out" 2>"$work/err"
                grep -q "tracepoints can be used by name" "$work/out" && helped || no_help "tracefs as root"
            fi
        fi
    fi

    # Libraries: with the file hidden the package that brings it is named.
    while read -r file; do
        [ -e "$file" ] && command -v dpkg >/dev/null || continue
        real=$(readlink -f "$file")
        unshare -m sh -c 'mount --bind /dev/null "$1" && shift && exec "$@"' sh "$real" "$UPMU" doctor \
            >"$work/out" 2>"$work/err"
        package=$(remedy out "Install [a-z0-9]+ \('apt install [a-z0-9.]+'" | sed 's/^apt install //')
        grep -q "^${package:-none}[:,]" < <(dpkg -S "$real" 2>/dev/null) && helped || no_help "$real is not of '$package'"
    done < <(ldconfig -p | awk '/libpfm\.so\.4 |libunwind\.so\.8 / { print $NF }' | sort -u)
else
    echo "remedies of file systems are not tried, because only root may mount"
fi

echo "$tried remedies were applied"
[ "$tried" -gt 0 ] || skip "nothing could be provoked here"
finish
