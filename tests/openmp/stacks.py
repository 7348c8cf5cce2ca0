#!/usr/bin/env python3
"""Call stacks of stacks.c in a folded profile of waits: stacks.py HOW RUNTIME SOURCE FOLDED.

Ends with "again: ..." if a thread is missing: on a busy machine it may not have had to wait.
"""
import re
import sys

START = re.compile(r"^(_start|__libc_start_\w+|start_thread|clone3?)\b")
RUNTIME = re.compile(r"GOMP_|libgomp|__kmp|libomp|team_run|task_run")
OUTLINED = re.compile(r"_omp_fn|omp_outlined|omp_task_entry")
GAP = "[the call stack that created the task was not recorded]"


def fail(text):
    sys.exit("FAIL: " + text)


def lines_of(source):
    with open(source, encoding="utf-8") as f:
        found = (re.search(r"line of (\w+) ", text) for text in f)
        return {m.group(1): i + 1 for i, m in enumerate(found) if m}


def construct(host, line, what="parallel region"):
    # gcc has no line for a construct, but one for its first statement.
    return rf"{host}, OMP {what} from line ({line}|{line + 1}|{line + 2})"


def wanted(at):
    def region(name):
        return f"{name};{construct(name, at[name])}"

    main, end = "main;", ";deeper;nap"
    return {
        "simple": main + region("simple") + end,
        "nested": main + region("nested") + ";" + region("inner") + end,
        "around": main + region("around") + ";" + region("alone") + end,
        "orphaned": main + region("orphaned") + ";loop" + end,
        "tasks": main + region("tasks") + ";" + re.escape(GAP) + ";(create;)?" + construct("create", at["create"], "task") + end,
        "second": f"({construct('main', 0)};)?" + region("second") + end,
        "serial": main + "deeper;nap",
    }


def main():
    how, runtime, at = sys.argv[1], sys.argv[2], lines_of(sys.argv[3])
    paths = {}
    with open(sys.argv[4], encoding="utf-8") as f:
        for line in f:
            thread, *frames = line.rsplit(" ", 1)[0].split(";")
            if frames[-1] != "wait for sleep":
                continue
            text = ";".join(x for x in frames[:-1] if not START.match(x))
            paths.setdefault(text, set()).add(thread)
    if how == "machine":
        if not any("OMP" not in p and RUNTIME.search(p) and OUTLINED.search(p) for p in paths) or any("OMP " in p for p in paths):
            fail(f"stacks as executed: {list(paths)}")
        return
    if how == "expert":
        if not any(RUNTIME.search(p) and "OMP parallel region" in p for p in paths) or any(OUTLINED.search(p) for p in paths):
            fail(f"stacks with the runtime: {list(paths)}")
        # Without its functions they are those of the user.
        short = {}
        for path, threads in paths.items():
            short.setdefault(";".join(x for x in path.split(";") if not RUNTIME.match(x)), set()).update(threads)
        paths = short
    left, again = dict(paths), ""
    for name, pattern in wanted(at).items():
        threads = set()
        for p in [p for p in paths if re.fullmatch(pattern, p)]:
            threads |= left.pop(p)
        if len(threads) < (1 if name in ("serial", "tasks") else 2):
            again = f"again: {pattern} of threads {threads}"
    if left:
        fail(f"other stacks of {runtime}: {left}")
    if again:
        sys.exit(again)


main()
