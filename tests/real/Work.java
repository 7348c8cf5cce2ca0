// SPDX-License-Identifier: MIT
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.LongStream;

/** Threads of a virtual machine with monitors, locks, queues, a pool and the collector at work; the output is always the same. */
public final class Work {
    private static long guarded;

    private static synchronized void add(long value) {
        guarded += value;
    }

    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(6);
        ReentrantLock lock = new ReentrantLock();
        AtomicLong locked = new AtomicLong();
        CyclicBarrier barrier = new CyclicBarrier(6);
        List<Future<Integer>> parts = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            final int number = i;
            parts.add(pool.submit(() -> {
                int garbage = 0;
                for (int lap = 0; lap < 20; lap++) {
                    barrier.await();
                    for (int k = 0; k < 2000; k++) {
                        add(k % 7);
                        lock.lock();
                        try {
                            locked.set(locked.get() + number);
                        } finally {
                            lock.unlock();
                        }
                        garbage += new byte[512 + k % 64].length % 3;
                    }
                }
                return garbage;
            }));
        }
        long garbage = 0;
        for (Future<Integer> part : parts)
            garbage += part.get();
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
        Thread producer = new Thread(() -> {
            try {
                for (int i = 1; i <= 5000; i++)
                    queue.put(i);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        producer.start();
        long taken = 0;
        for (int i = 0; i < 5000; i++)
            taken += queue.take();
        producer.join();
        pool.shutdown();
        if (!pool.awaitTermination(60, TimeUnit.SECONDS))
            throw new IllegalStateException("the pool has not ended");
        System.out.println(guarded + " " + locked + " " + garbage + " " + taken + " "
                + LongStream.range(0, 2_000_000).parallel().map(x -> x * x % 11).sum());
    }
}
