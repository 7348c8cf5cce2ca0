// SPDX-License-Identifier: MIT
/** One thread waits for a monitor in a compiled method, one in an interpreted method; prints the process id. */
public final class Locks {
    private static final Object LOCK = new Object();
    private static volatile long sink;

    private static void compiled() {
        synchronized (LOCK) {
            sink++;
        }
    }

    private static void interpreted() {
        synchronized (LOCK) {
            sink++;
        }
    }

    private static void awaitBlocked(Thread thread) throws InterruptedException {
        while (thread.getState() != Thread.State.BLOCKED) {
            Thread.sleep(1);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (int i = 0; i < 20_000; i++) {
            compiled();
        }
        Thread one = new Thread(Locks::compiled), other = new Thread(Locks::interpreted);
        synchronized (LOCK) { // at the same time: each has a condition variable of its own
            one.start();
            other.start();
            awaitBlocked(one);
            awaitBlocked(other);
            Thread.sleep(200); // longer than any wait before it
        }
        one.join();
        other.join();
        System.out.println(ProcessHandle.current().pid());
    }
}
