#!/usr/bin/env python3
"""MPICH's own test programs, alone and under upmu record --mpi.

    mpich_suite.py SOURCES UPMU openmpi|mpich [-r RANKS_MAX] [-o TABLE] [FOLDER|FOLDER/PROGRAM ...]

SOURCES is a source tree of MPICH, of which nothing is changed or copied; neither autoconf nor its configuration is needed. Of each folder of
test/mpi, each program of its list that is one file of C is compiled and run once with the ranks of the list: exit status and output must be
those without upmu, no event is lost, and no deadlock is reported, neither live nor afterwards. Programs that do not compile with
this MPI, or do not end without upmu, are counted. The table has, for each program, how many halves of messages and
collective calls had no partner.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

FOLDERS = "attr coll comm datatype errhan group info init io pt2pt rma session spawn threads/pt2pt threads/comm threads/coll threads/rma threads/init topo part".split()
SUPPORT = ("util/mtest util/mtest_common util/dtypes dtpools/src/dtpools dtpools/src/dtpools_attr dtpools/src/dtpools_custom"
           " dtpools/src/dtpools_desc dtpools/src/dtpools_init_verify dtpools/src/dtpools_misc").split()
# What configure would find on Debian.
CONFIGURATION = """STDARG_H SYS_TIME_H SYS_RESOURCE_H STRDUP USLEEP UNISTD_H STRING_H GETRUSAGE LONG_DOUBLE LONG_LONG LONG_LONG_INT
MPI_SPAWN MPI_WIN_CREATE MPI_INIT_THREAD MPI_IO PTHREAD_H PTHREAD_BARRIER_INIT""".split()
SECONDS = 40

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("sources")
parser.add_argument("upmu", type=os.path.abspath)
parser.add_argument("mpi", choices=("openmpi", "mpich"))
parser.add_argument("-r", "--ranks", type=int, default=4)
parser.add_argument("-o", "--table")
parser.add_argument("wanted", nargs="*", default=FOLDERS)
args = parser.parse_intermixed_args()
suite = pathlib.Path(args.sources).resolve() / "test/mpi"
if not (suite / "util/mtest.c").is_file():
    sys.exit(f"mpich_suite.py: {suite} has no test programs of MPICH")
if not shutil.which(f"mpicc.{args.mpi}"):
    print(f"skipped, because mpicc.{args.mpi} is not installed")
    sys.exit(77)
work = pathlib.Path(tempfile.mkdtemp(prefix="mpich_suite"))
os.environ.update(LC_ALL="C", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl_base_warn_component_unused="0")


def compile_c(*arguments):
    include = [f"-I{work}/conf/sub", f"-I{work}/conf", f"-I{suite}/include", f"-I{suite}/dtpools/include", f"-I{suite}/util"]
    return subprocess.run([f"mpicc.{args.mpi}", "-w", "-g", "-O1", *include, *arguments, "-lpthread", "-lm"], stderr=subprocess.DEVNULL).returncode == 0


def support(name, *flags, out=None):
    to = f"{work}/{out or os.path.basename(name)}.o"
    if not compile_c(*flags, "-c", f"{suite}/{name}.c", "-o", to):
        sys.exit(f"mpich_suite.py: {name}.c does not compile with {args.mpi}")
    return to


def prepare():
    (work / "conf/sub").mkdir(parents=True)  # dtpools includes its own configuration as ../dtpoolsconf.h
    text = "".join(f"#define HAVE_{name} 1\n" for name in CONFIGURATION)
    (work / "conf/mpitestconf.h").write_text(text + "#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX\n#define POINTERINT_t long\n")
    (work / "conf/dtpoolsconf.h").write_text("")
    (work / "conf/mtest_mpix.h").write_text("")
    objects = [support(name) for name in SUPPORT]
    return {"threads": [*objects, support("util/mtest_thread", "-DMTEST_USE_THREAD")],
            "": [*objects, support("util/mtest_single")], "main": support("util/run_mpitests")}


def programs():
    """(folder, program, ranks, arguments), each program once."""
    for wanted in args.wanted:
        folder = wanted if (suite / wanted).is_dir() else os.path.dirname(wanted)
        seen = set()
        for name in "testlist", "testlist.in":
            path = suite / folder / name
            for line in path.read_text().splitlines() if path.is_file() else ():
                words = line.split()
                if len(words) < 2 or words[0].startswith(("#", "@")) or not words[1].isdigit() or words[0] in seen:
                    continue
                if folder != wanted and os.path.basename(wanted) != words[0]:
                    continue
                options = dict(w.split("=", 1) for w in words[2:] if "=" in w and not w.startswith("arg="))
                if options.keys() & {"mem", "env", "mpiversion"} or int(words[1]) > args.ranks:
                    continue
                seen.add(words[0])
                if (suite / folder / f"{words[0]}.c").is_file():
                    yield folder, words[0], int(words[1]), [w[4:] for w in words[2:] if w.startswith("arg=")]


def launch(ranks, command, where, prefix=()):
    """@return status (None: it did not end) and the lines of its output, without what differs from run to run."""
    launcher = ["mpirun.mpich"] if args.mpi == "mpich" else ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
    where.mkdir()
    with open(where / "out", "w") as out, open(where / "err", "w") as err:
        job = subprocess.Popen([*prefix, *launcher, "-np", str(ranks), *command], cwd=where, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                               start_new_session=True)
        try:
            status = job.wait(SECONDS)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(job.pid, signal.SIGTERM)
            try:
                job.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
    text = (where / "out").read_text(errors="replace")
    return status, sorted(re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?", "#", line) for line in text.splitlines())


def run(folder, name, ranks, arguments, objects):
    row = {"program": f"{folder}/{name}", "ranks": ranks}
    base = work / "run"
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    source, binary = suite / folder / f"{name}.c", base / name
    has_main = re.search(r"^int main\(", source.read_text(errors="replace"), re.M)
    extra = [] if has_main else [objects["main"]]
    threads = "threads" if folder.startswith("threads") else ""
    if not compile_c(str(source), *extra, *objects[threads], "-o", str(binary), *(["-DMTEST_USE_THREAD"] if threads else [])):
        return {**row, "result": "does not compile"}
    bare = launch(ranks, [str(binary), *arguments], base / "bare")
    if bare[0] is None:
        return {**row, "result": "does not end without upmu"}
    recording = base / "recording"
    recorded = launch(ranks, [str(binary), *arguments], base / "recorded",
                      [args.upmu, "record", "--mpi", "--deadlocks", str(base / "live"), "-o", str(recording), "--"])
    err = (base / "recorded/err").read_text(errors="replace")
    wrong = []
    if recorded[0] != bare[0]:
        wrong.append(f"status {recorded[0]}, alone {bare[0]}")
    if recorded[1] != bare[1]:
        wrong.append("other output")
    if bare[0] == 0 and not re.search(r"\b0 lost", err):
        wrong.append("events were lost" if " lost" in err else "no summary")
    live = base / "live"
    if live.exists() and live.stat().st_size:
        wrong.append("deadlock while it ran")
    found = subprocess.run([args.upmu, "deadlock", "--json", str(recording)], capture_output=True, text=True)
    try:
        found = json.loads(found.stdout)
        if found["mpi_deadlocks"] or found["deadlocks"]:
            wrong.append("deadlock afterwards")
    except json.JSONDecodeError:
        wrong.append(f"upmu deadlock ended with {found.returncode}")
    report = subprocess.run([args.upmu, "report", "--mpi", "--json", str(recording)], capture_output=True, text=True)
    try:
        jobs = json.loads(report.stdout)["jobs"]
        row.update({k: sum(j[k] or 0 for j in jobs) for k in ("messages", "unmatched", "collectives", "partial", "reversed")})
        row["not_recorded"] = sum(not r["wrapped"] for j in jobs for r in j["ranks_recorded"])
    except json.JSONDecodeError:
        wrong.append(f"upmu report --mpi ended with {report.returncode}")
    if row.get("reversed"):
        wrong.append("messages received before they were sent")
    if wrong:
        keep = pathlib.Path(tempfile.gettempdir()) / f"{args.mpi}.{folder.replace('/', '.')}.{name}"
        shutil.rmtree(keep, ignore_errors=True)
        shutil.copytree(base, keep)
        row["kept"] = str(keep)
    return {**row, "status": bare[0], "result": "; ".join(wrong) or "same"}


def main():
    objects = prepare()
    results = collections.Counter()
    with open(args.table, "w") if args.table else open(os.devnull, "w") as table:
        for program in programs():
            row = run(*program, objects)
            results[row["result"]] += 1
            line = "%-36s %2d ranks, status %-4s %6s messages %4s unmatched %5s collectives %4s partial %s  %s" % (
                row["program"], row["ranks"], row.get("status", "-"), row.get("messages", "-"), row.get("unmatched", "-"),
                row.get("collectives", "-"), row.get("partial", "-"),
                f"{row['not_recorded']} not recorded " if row.get("not_recorded") else "", row["result"] + (f" ({row['kept']})" if "kept" in row else ""))
            print(line, flush=True)
            print(json.dumps(row), file=table, flush=True)
    shutil.rmtree(work)
    print(", ".join(f"{n} {what}" for what, n in results.most_common()))
    return any(what not in ("same", "does not compile", "does not end without upmu") for what in results)


sys.exit(main())
