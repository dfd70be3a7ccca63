package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.linux.NativeFunction;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionQueueHandle;
import java.lang.foreign.MemorySegment;

/** {@code struct ibv_cq}. */
final class FfmCompletionQueue implements CompletionQueueHandle {
    final long cq;
    private final FfmContext context;

    FfmCompletionQueue(FfmContext context, long cq) {
        this.context = context;
        this.cq = cq;
    }

    @Override
    public int poll(int capacity, MemorySegment completions) {
        // Drivers read a ring in user memory here and return.
        NativeFunction poll = context.pollCq;
        return poll == null ? -Errno.EOPNOTSUPP : (int) Downcall.callBrief(poll, cq, capacity, completions.address());
    }

    @Override
    public int requestNotification(boolean solicitedOnly) {
        NativeFunction request = context.reqNotifyCq;
        return request == null ? Errno.EOPNOTSUPP : (int) Downcall.callPlain(request, cq, solicitedOnly ? 1 : 0);
    }

    @Override
    public int depthEntries() {
        return IbvCq.CQE.get(IbvCq.STRUCT.at(cq));
    }

    @Override
    public void resize(int depthEntries) throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_RESIZE_CQ.get(), frame, cq, depthEntries);
            Status.check(result, frame, Imports.IBV_RESIZE_CQ, "entries=" + depthEntries);
        }
    }

    @Override
    public void acknowledgeEvents(int events) {
        try {
            // No errno to save. The JDK takes a slice of the memory for one, which only the server compiler removes,
            // and
            // this is called too rarely to be compiled by that for a long time.
            Downcall.callPlain(Imports.IBV_ACK_CQ_EVENTS.get(), cq, events);
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public long asyncElement() {
        return cq;
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_DESTROY_CQ.get(), frame, cq);
            Status.check(result, frame, Imports.IBV_DESTROY_CQ, "");
        }
    }
}
