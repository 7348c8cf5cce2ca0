# SPDX-License-Identifier: MIT
"""The Python package, as a user has it: no compiler, no other package. Environment: UPMU, SCENE, CORPUS, DIR, UPMU_LIBRARY."""
import ctypes
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import unittest

import upmu
from upmu import _declarations as c

DIR, UPMU, SCENE, CORPUS = (os.environ[name] for name in ("DIR", "UPMU", "SCENE", "CORPUS"))


def record(name, *command, options=()):
    """A recording of a command, made once."""
    folder = os.path.join(DIR, name)
    if not os.path.isdir(folder):
        # ctest ignores SIGALRM in some versions, which the scene ends by
        done = subprocess.run([UPMU, "record", *options, "-o", folder, "--", *command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              preexec_fn=lambda: signal.signal(signal.SIGALRM, signal.SIG_DFL))
        assert os.path.isdir(folder), done.stdout
    return upmu.Recording(folder)


def python(program, *arguments, **variables):
    """Output of a program in another interpreter."""
    done = subprocess.run([sys.executable, *arguments, "-c", program] if "-m" not in arguments else
                          [sys.executable, *arguments, program], env={**os.environ, **variables},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Regions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with upmu.region("while off"):
            pass
        upmu.mark("while off")
        with cls().assertRaises(upmu.Error) as failure:
            upmu.region_stats("while off")
        assert failure.exception.name == "UPMU_E_STATE", failure.exception
        assert upmu.setup(events="task-clock")

    def test_a_block_is_an_instance_however_it_is_left(self):
        parse = upmu.region("parse")
        self.assertIs(upmu.region("parse"), parse)
        for i in range(5):
            with parse:
                if i == 1:
                    continue
                if i == 3:
                    break
        with self.assertRaises(KeyError), parse:
            raise KeyError
        stats = parse.stats
        self.assertEqual((stats.name, stats.count, stats.open, stats.wall.count), ("parse", 5, 0, 5))
        self.assertLessEqual(stats.wall.min, stats.wall.max)
        self.assertLessEqual(stats.self_ns, stats.wall.sum)
        self.assertEqual(list(stats.events), ["task-clock"])
        self.assertEqual(stats.events["task-clock"].status, "exact")

    def test_a_decorated_function_keeps_its_name_and_result(self):
        @upmu.region("add")
        def add(a, b=1):
            """Adds."""
            return a + b
        self.assertEqual((add(1), add(1, b=3), add.__name__, add.__doc__), (2, 4, "add", "Adds."))
        self.assertEqual(upmu.region_stats("add").count, 2)
        self.assertIn("add", upmu.region_names())

    def test_names_are_any_text_but_nul(self):
        with upmu.region("größe 1"):
            pass
        self.assertIn("größe 1", upmu.region_names())
        self.assertRaises(ValueError, upmu.region, "a\0b")

    def test_threads_have_statistics_of_their_own(self):
        tids = []

        def work():
            with upmu.region("work"):
                tids.append(threading.get_native_id())
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual((upmu.region_stats("work").count, upmu.region_stats("work").threads), (3, 3))
        self.assertEqual(upmu.region_stats("work", tids[1]).count, 1)

    def test_a_paused_region_does_not_count(self):
        upmu.pause()
        with upmu.region("paused"):
            pass
        self.assertFalse(upmu.resume())
        self.assertNotIn("paused", upmu.region_names())

    def test_setting_up_twice_is_an_error(self):
        with self.assertRaises(upmu.Error) as failure:
            upmu.setup()
        self.assertEqual((failure.exception.name, failure.exception.code), ("UPMU_E_STATE", -14))

    def test_the_environment_switches_regions_on(self):
        done = subprocess.run([sys.executable, "-c", "import upmu\nassert not upmu.setup()\nwith upmu.region('load'): pass"],
                              env={**os.environ, "UPMU_REPORT": "json"}, stderr=subprocess.PIPE, text=True, check=True)
        self.assertIn('"load"', done.stderr)

    def test_a_region_cannot_decorate_what_runs_after_its_call(self):
        async def coroutine():
            pass

        async def asynchronous_generator():
            yield

        def generator():
            yield

        for function in (coroutine, asynchronous_generator, generator):
            with self.assertRaisesRegex(TypeError, function.__name__):
                upmu.region("later")(function)
        with self.assertRaisesRegex(TypeError, "is a str, not function"):
            upmu.region(generator)  # as a decorator without a name


class Sets(unittest.TestCase):
    def test_a_value_has_a_number_or_a_reason(self):
        with upmu.Set(["task-clock", "cycles", "page-faults"]) as counters:
            sum(range(200000))
        values = counters.read()
        self.assertEqual([v.name.split(":")[0] for v in values], ["task-clock", "cycles", "page-faults"])
        self.assertEqual(values[0].status, "exact")
        self.assertGreater(values[0].value, 0)
        for v in values:
            self.assertEqual(v.value is None, v.status not in ("exact", "scaled"))
            self.assertEqual(v.value is None, bool(v.reason))
        self.assertEqual(values, counters.read(), "stopped")
        self.assertGreater(counters.seconds, 0)

    def test_a_metric_is_computed_from_the_set(self):
        with upmu.Set("task-clock,context-switches") as counters:
            sum(range(100000))
        self.assertRaises(upmu.Error, counters.metric, "no-such-metric")
        self.assertRaises(upmu.Error, counters.metric, "ipc")
        metric = counters.metric("cpus-used")
        self.assertEqual((metric.status, metric.name), ("exact", "cpus-used"))
        self.assertTrue(0 < metric.value < 2, metric)

    def test_a_command_is_started_counted_and_waited_for(self):
        counters = upmu.Set("task-clock", command=["sh", "-c", "exit 3"])
        counters.start()
        self.assertEqual(counters.wait(), 3)
        self.assertFalse(counters.alive)
        self.assertEqual(counters.read()[0].status, "exact")
        killed = upmu.Set("task-clock", command=["sh", "-c", "kill -9 $$"]).start()
        self.assertEqual(killed.wait(), -9)

    def test_wrong_arguments_are_errors_with_a_remedy(self):
        with self.assertRaisesRegex(upmu.Error, "no-such-event") as failure:
            upmu.Set("no-such-event")
        self.assertEqual(failure.exception.name, "UPMU_E_NAME")
        self.assertRaises(ValueError, upmu.Set, "task-clock", pid=1, cpu=0)
        self.assertRaises(upmu.Error, upmu.Set, "task-clock", pid=2**30)
        closed = upmu.Set("task-clock")
        self.assertRaises(upmu.Error, closed.read)  # never started
        closed.close()
        for use in (closed.start, closed.stop, closed.reset, closed.read, closed.wait):
            with self.assertRaisesRegex(upmu.Error, "^the set is closed$") as failure:
                use()
            self.assertEqual(failure.exception.name, "UPMU_E_STATE")

    def test_events_are_described_for_this_and_other_machines(self):
        self.assertEqual(upmu.event("page-faults").match, "exact")
        self.assertIn("cycles", upmu.events())
        self.assertIn(upmu.event("cycles", cpu="3A6000").match, ("exact", "approximate"))
        self.assertRaises(upmu.Error, upmu.event, "cycles", cpu="no-such-cpu")
        self.assertTrue({"cpu", "permission"} <= {f.topic for f in upmu.diagnose()})


class Recordings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scene = record("scene", SCENE, options=["-e", "task-clock"])

    def test_threads_locks_waits_and_regions_are_rows(self):
        r = self.scene
        self.assertEqual([p.complete for p in r.processes], [True])
        self.assertEqual({t.name for t in r.threads}, {"main", "keeper", "customer"})
        till = next(lock for lock in r.locks if lock.name == "the till")
        customer = next(t for t in r.threads if t.name == "customer")
        keeper = next(t for t in r.threads if t.name == "keeper")
        self.assertEqual((till.type, till.waits.count), ("mutex", 1))
        self.assertGreaterEqual(till.waits.total_ns, 50e6)
        self.assertEqual((till.longest_waiter, till.longest_holder), (customer.tid, keeper.tid))
        self.assertRegex(till.longest_site, r"^\w+ scene\.c:\d+$")
        wait = next(w for w in r.waits if w.object == "the till")
        self.assertEqual((wait.thread, wait.holder, wait.kind, wait.finished), ("customer", "keeper", "wait", True))
        self.assertEqual(wait.duration_ns, till.waits.total_ns)
        self.assertTrue(r.regions)
        self.assertTrue(all("task-clock" in region.counts for region in r.regions))
        self.assertEqual(r.totals["n_threads"], len(r.threads))
        self.assertEqual(r.damages, [])

    def test_rows_are_filtered_and_paged(self):
        rows = self.scene.rows()
        self.assertEqual([row.number for row in rows], list(range(1, len(rows) + 1)))
        self.assertEqual(self.scene.rows(skip=2, limit=3), rows[2:5])
        self.assertEqual(self.scene.rows(thread="customer"), [row for row in rows if row.thread == "customer"])
        self.assertEqual(self.scene.rows(["wait", "wake"]), [row for row in rows if row.kind in ("wait", "wake")])
        self.assertRaises(upmu.Error, self.scene.rows, "no such kind")
        self.assertRaises(upmu.Error, self.scene.rows, thread="no such thread")

    def test_events_are_those_of_upmu_dump(self):
        dump = subprocess.run([UPMU, "dump", "--json", self.scene.directory], stdout=subprocess.PIPE, check=True)
        events = list(self.scene.events())
        self.assertEqual(len(events), self.scene.totals["events"])
        self.assertEqual([e.kind for e in events], [e["kind"] for e in json.loads(dump.stdout)["events"]])
        block = next(e for e in events if e.kind == "lock-block")
        wait = next(w for w in self.scene.waits if w.object == "the till")
        self.assertEqual((block.time_ns, block.tid, block.object_type), (wait.begin_ns, wait.tid, "mutex"))
        self.assertEqual(block.peer, next(t.tid for t in self.scene.threads if t.name == "keeper"))
        self.assertIsNone(block.acquisitions)
        self.assertTrue(all(e.task_clock_status == "exact" for e in events if e.kind in ("begin", "end")))
        self.assertTrue(all(e.task_clock is None for e in events if e.kind.startswith("lock")))
        self.assertEqual(sorted(events, key=lambda e: e.time_ns), events)

    def test_events_are_filtered(self):
        events = list(self.scene.events())
        tid = next(t.tid for t in self.scene.threads if t.name == "customer")
        self.assertEqual(list(self.scene.events("lock-block")), [e for e in events if e.kind == "lock-block"])
        self.assertEqual(list(self.scene.events(["begin", "end"], tid=tid)),
                         [e for e in events if e.kind in ("begin", "end") and e.tid == tid])
        middle = events[len(events) // 2].time_ns
        self.assertEqual(list(self.scene.events(start_ns=middle)), [e for e in events if e.time_ns >= middle])
        self.assertEqual(list(self.scene.events(stop_ns=middle)), [e for e in events if e.time_ns <= middle])
        self.assertEqual([tuple(e) for e in self.scene.events(columns=["tid", "kind"])], [(e.tid, e.kind) for e in events])
        self.assertEqual(list(self.scene.events([])), [])
        self.assertEqual(list(self.scene.events(pid=1)), [])
        self.assertRaises(upmu.Error, list, self.scene.events(columns=["no such column"]))
        self.assertRaises(upmu.Error, self.scene.events, "no such kind")

    def test_batches_of_any_size_have_the_same_events(self):
        whole = list(record("many", SCENE, "many", "3", "400", options=["--mode", "all"]).events())
        self.assertGreater(len(whole), 2400)
        for rows in (1, 7, 8, 1000):
            some = upmu.Recording(os.path.join(DIR, "many")).events(rows=rows)
            self.assertTrue(all(a == b for a, b in zip(whole, some)) and sum(1 for _ in some) == len(whole), rows)

    def test_a_capsule_is_taken_over_or_released(self):
        """As a reader of the Arrow C stream interface does, which is not installed here."""
        get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", ctypes.pythonapi))
        totals = self.scene.totals
        for taken in (True, False):
            capsule = self.scene.__arrow_c_stream__()
            stream = c.ArrowArrayStream.from_address(get(capsule, b"arrow_array_stream"))
            own = c.ArrowArrayStream.from_buffer_copy(stream)
            n_open = len(os.listdir("/proc/self/fd"))
            if taken:
                stream.release = None
            del capsule
            gc.collect()
            if taken:
                array = c.ArrowArray()
                self.assertEqual(upmu.columns._GET_NEXT(own.get_next)(ctypes.byref(own), ctypes.byref(array)), 0)
                self.assertEqual(array.length, totals["events"])
                upmu.columns._release(own)  # an array outlives its stream
                column = ctypes.cast(array.children, ctypes.POINTER(ctypes.POINTER(c.ArrowArray)))[0].contents
                moved = c.ArrowArray.from_buffer_copy(column)  # and a column its array
                column.release = None
                upmu.columns._release(array)
                self.assertGreater(upmu.columns._python_values(moved, b"l")[0], totals["begin_ns"])
                upmu.columns._release(moved)
            self.assertLessEqual(len(os.listdir("/proc/self/fd")), n_open)

    def test_damage_is_reported_and_the_rest_is_read(self):
        many = record("many", SCENE, "many", "3", "400", options=["--mode", "all"])
        folder = os.path.join(DIR, "damaged")
        shutil.copytree(many.directory, folder, dirs_exist_ok=True)
        process = os.path.join(folder, next(name for name in os.listdir(folder) if not name.startswith(".")))
        stream = max((os.path.join(process, f) for f in os.listdir(process) if f.startswith("stream")), key=os.path.getsize)
        with open(stream, "r+b") as f:
            f.seek(0)
            f.write(b"\xff" * 64)
        events = upmu.Recording(folder).events()
        n = sum(1 for _ in events)
        self.assertTrue(0 < n < sum(1 for _ in many.events()))
        self.assertEqual(len(events.damages), 1)

    def test_deadlocks_and_lock_cycles_are_rows(self):
        stuck = record("stuck", SCENE, "stuck")
        [deadlock] = stuck.deadlocks()
        self.assertEqual((deadlock.kind, deadlock.certainty, len(deadlock.threads), deadlock.behind[1:]),
                         ("cycle", "certain", 2, []))
        a, b = deadlock.threads
        self.assertEqual(([a.wants], [b.wants]), (b.held, a.held))
        inversion = record("inversion", CORPUS, "inversion", os.path.join(DIR, "pid"))
        cycles = inversion.lock_cycles()
        self.assertEqual([cycle.kind for cycle in cycles], ["inversion"])
        first, second = cycles[0].acquisitions
        self.assertEqual((first.lock, first.held), (second.held, second.lock))
        self.assertTrue(first.site and first.thread)
        self.assertEqual(inversion.deadlocks(), [])

    def test_exports_are_those_of_the_command(self):
        path = os.path.join(DIR, "scene.json")
        self.assertEqual(self.scene.export("chrome", path), os.path.getsize(path))
        with open(path, "rb") as f:
            self.assertTrue(f.read(1) == b"{")
        self.assertRaises(upmu.Error, self.scene.export, "no such format", path)

    def test_a_stretch_has_its_part_of_the_waits(self):
        whole = self.scene.totals
        length = whole["end_ns"] - whole["begin_ns"]
        parts = [upmu.Recording(self.scene.directory, from_ns=a, to_ns=b) for a, b in ((0, length // 2), (length // 2, length))]
        (till,) = (lock for lock in self.scene.locks if lock.name == "the till")
        halves = [lock.waits.total_ns for part in parts for lock in part.locks if lock.name == "the till"]
        self.assertEqual(sum(halves), till.waits.total_ns)
        with self.assertRaises(upmu.Error):
            upmu.Recording(self.scene.directory, from_ns=2 * length).totals

    def test_what_is_no_recording_is_an_error(self):
        with self.assertRaises(upmu.Error) as failure:
            upmu.Recording(os.path.join(DIR, "nothing"))
        self.assertEqual(failure.exception.name, "UPMU_E_IO")
        os.makedirs(os.path.join(DIR, "empty"), exist_ok=True)
        with self.assertRaises(upmu.Error):
            upmu.Recording(os.path.join(DIR, "empty")).threads


SESSION = """
import concurrent.futures, os, sys, threading, upmu
with upmu.sync_session(sys.argv[1], mode="holders"):
    lock = threading.Lock()
    def work(held):
        with lock:
            held.set()
            while not any("futex" in open(f"/proc/self/task/{t}/syscall").read() or
                          open(f"/proc/self/task/{t}/wchan").read().startswith("futex")
                          for t in waiters): pass
    waiters = []
    def wait(held):
        held.wait()
        waiters.append(threading.get_native_id())
        with lock: pass
    with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="a long name of a pool") as pool:
        pool.submit(print, open("/proc/thread-self/comm").read().strip()).result()
        pool.submit(lambda: print(open("/proc/thread-self/comm").read().strip())).result()
    held = threading.Event()
    threads = [threading.Thread(target=f, args=(held,), name=n) for f, n in ((work, "holder"), (wait, "waiter"))]
    for t in threads: t.start()
    for t in threads: t.join(30)
"""


class Sessions(unittest.TestCase):
    def test_without_the_tracer_the_remedy_is_named(self):
        with self.assertRaisesRegex(upmu.Error, "upmu run"):
            upmu.sync_session()
        self.assertRaises(ValueError, upmu.sync_session, mode="no such mode")

    def test_a_session_records_threads_with_their_names(self):
        program, folder = os.path.join(DIR, "session.py"), os.path.join(DIR, "session")
        with open(program, "w", encoding="utf-8") as f:
            f.write(SESSION)
        done = subprocess.run([sys.executable, "-m", "upmu", "run", program, folder], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split("\n")[1], "a long~a pool_0", done.stdout)
        names = {t.name for t in upmu.Recording(folder).threads}
        self.assertTrue({"holder", "waiter"} <= names, names)


class Command(unittest.TestCase):
    def test_the_module_prints_the_machine_and_recordings(self):
        self.assertIn(f"libupmu {upmu.version()}", python("upmu", "-m"))
        shown = subprocess.run([sys.executable, "-m", "upmu", record("scene", SCENE, options=["-e", "task-clock"]).directory],
                               stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertRegex(shown, r"the till +mutex +1 ")
        wrong = subprocess.run([sys.executable, "-m", "upmu", "a", "b"], stdout=subprocess.PIPE, check=False)
        self.assertEqual(wrong.returncode, 2)
        missing = subprocess.run([sys.executable, "-m", "upmu", os.path.join(DIR, "nothing")], stderr=subprocess.PIPE, check=False)
        self.assertEqual((missing.returncode, b"nothing" in missing.stderr), (1, True))

    def test_a_missing_library_is_an_error_with_a_remedy(self):
        done = subprocess.run([sys.executable, "-c", "import upmu"], env={**os.environ, "UPMU_LIBRARY": "/nowhere"},
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertIn("UPMU_LIBRARY", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
