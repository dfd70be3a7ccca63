package io.rdmanio.lab.streams;

import java.io.IOException;

/** Computes without a pause, for its processor to have other work, until its input ends or two minutes have passed. */
public final class BusyLoop {
    private static final long LIFE_NANOS = 120_000_000_000L;
    private static final int CHUNK = 100_000;

    private BusyLoop() {}

    public static void main(String[] args) throws IOException {
        Thread.ofPlatform().daemon().name("busy").start(BusyLoop::compute);
        System.out.println("STARTED 1");
        while (System.in.read() >= 0) {
            // Only the end counts.
        }
    }

    private static void compute() {
        long began = System.nanoTime();
        long state = began;
        while (System.nanoTime() - began < LIFE_NANOS) {
            for (int i = 0; i < CHUNK; i++) {
                state = state * 0x5DEECE66DL + 0xBL;
            }
            if (state == 0) {
                throw new IllegalStateException("this generator does not come to 0");
            }
        }
    }
}
