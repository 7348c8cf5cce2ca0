// SPDX-License-Identifier: MIT
// Deadlocks in the language of the page: the sentences of tools/upmu/deadlock/deadlock_names.c by their parts.

const HEADLINES = [
    "%1 threads wait for each other",
    "a thread waits for a lock that it holds itself",
    "%1 thread waits for a lock whose holder has ended",
    "%1 threads wait for a lock whose holder has ended",
    "%1 threads wait for each other's end",
    "a thread waits for its own end",
    "%1 thread waits for a semaphore that no thread is left to post",
    "%1 threads wait for a semaphore that no thread is left to post",
    "%1 thread waits for a condition variable that no thread is left to signal",
    "%1 threads wait for a condition variable that no thread is left to signal",
    "%1 thread waits at a barrier at which no thread is left to arrive",
    "%1 threads wait at a barrier at which no thread is left to arrive",
    "%1 thread and threads of other processes wait for each other",
    "%1 threads and threads of other processes wait for each other",
    "its only thread is asleep, and nothing is known that could wake it",
    "all threads are asleep, and nothing is known that could wake one",
    "%1 thread waits on a futex that no thread is left to wake",
    "%1 threads wait on a futex that no thread is left to wake",
];

function deadlockHeadline(text) {
    const number = text.match(/^\d+/), form = text.replace(/^\d+/, "%1");
    return HEADLINES.includes(form) ? tr(form, number?.[0]) : text;
}

/* "thread 12 (name)". */
function threadText(text) {
    return text === "a thread" ? tr("a thread") : tr("thread %1", text.replace(/^thread /, ""));
}

const THREAD_WAITS = /^(thread \d+(?: \(.*?\))?) waits (?:for the end of (?<end>a thread|thread \d+(?: \(.*\))?)|(?<how>for|at) (?<reading>reading )?(?<object>.*?)(?: and its (?<mutex>mutex .*?))?(?:, held by (?<holder>thread \d+(?: \(.*?\))?))?(?<timeout>, with a timeout)?), at (?<site>.*)$/;

function deadlockThread(text) {
    const found = text.match(THREAD_WAITS);
    if (!found)
        return text;
    const part = found.groups, thread = threadText(found[1]), held = part.mutex ? tr("%1 and its %2", part.object, part.mutex) : part.object;
    const object = part.holder ? tr("%1, held by %2", held, threadText(part.holder)) : held;
    const wait = part.end ? tr("%1 waits for the end of %2", thread, threadText(part.end))
        : tr(part.how === "at" ? "%1 waits at %2" : part.reading ? "%1 waits for reading %2" : "%1 waits for %2", thread, object);
    return tr("%1, at %2", part.timeout ? tr("%1, with a timeout", wait) : wait, part.site);
}
