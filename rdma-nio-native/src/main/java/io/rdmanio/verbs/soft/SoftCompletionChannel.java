package io.rdmanio.verbs.soft;

import io.rdmanio.linux.WakePipe;
import java.io.IOException;

/** A completion channel. Thread-safe. */
final class SoftCompletionChannel {
    private final WakePipe pipe;

    SoftCompletionChannel() throws IOException {
        pipe = new WakePipe();
    }

    /**
     * Opens a way to ring, to be sent to another process.
     *
     * @return a descriptor of its own, to be closed by the caller once it is sent
     * @throws IOException when no descriptor is left
     */
    int openOtherEnd() throws IOException {
        return pipe.openOtherEnd();
    }

    int fileDescriptor() {
        return pipe.fileDescriptor();
    }

    void destroy() {
        pipe.close();
    }
}
