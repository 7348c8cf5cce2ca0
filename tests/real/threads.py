# SPDX-License-Identifier: MIT
"""Python threads with locks, conditions, queues, semaphores, barriers and a pool; the output is the same in each run."""
import hashlib
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

WORKERS = 4
total = 0
lock = threading.Lock()
barrier = threading.Barrier(WORKERS)
slots = threading.Semaphore(2)
jobs, results = queue.Queue(8), queue.Queue()


def work(number):
    global total
    barrier.wait()
    while True:
        job = jobs.get()
        if job is None:
            return
        with slots:
            digest = hashlib.sha256(str(job).encode()).digest()
        with lock:
            total += job
        results.put((job, digest[0]))


threads = [threading.Thread(target=work, args=(i,)) for i in range(WORKERS)]
for thread in threads:
    thread.start()
for i in range(2000):
    jobs.put(i)
for _ in threads:
    jobs.put(None)
for thread in threads:
    thread.join()
print(total, sum(d for _, d in sorted(results.queue)))

gate = threading.Condition()
turn = 0


def in_turn(number):
    global turn
    for lap in range(50):
        with gate:
            gate.wait_for(lambda: turn == lap * WORKERS + number)
            turn += 1
            gate.notify_all()
    return number * number


with ThreadPoolExecutor(WORKERS) as pool:
    print(list(pool.map(in_turn, range(WORKERS))), turn)
