// SPDX-License-Identifier: MIT
/** Two threads compute, half of it under one monitor; prints the process id. */
public final class Hot {
    private static volatile long sink;

    private static void compute(long n) {
        for (long i = 0; i < n; i++) {
            sink += i * i;
        }
    }

    private static synchronized void underLock() {
        compute(1_000_000L);
    }

    private static void work() {
        for (int i = 0; i < 40; i++) {
            underLock();
            compute(1_000_000L);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread one = new Thread(Hot::work), two = new Thread(Hot::work);
        one.start();
        two.start();
        one.join();
        two.join();
        System.out.println(ProcessHandle.current().pid());
    }
}
