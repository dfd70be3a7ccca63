package io.rdmanio.verbs.ffm;

import io.rdmanio.linux.CallFrame;
import io.rdmanio.linux.Downcall;
import io.rdmanio.linux.Errno;
import io.rdmanio.verbs.VerbsException;
import io.rdmanio.verbs.spi.CompletionChannelHandle;
import java.lang.foreign.ValueLayout;

/** {@code struct ibv_comp_channel}. A queue's {@code cq_context} is its token. */
final class FfmCompletionChannel implements CompletionChannelHandle {
    private static final long CQ_OUT = 0;
    private static final long CQ_CONTEXT_OUT = 8;

    final long channel;
    private final int fd;

    FfmCompletionChannel(long channel) {
        this.channel = channel;
        this.fd = IbvCompChannel.FD.get(IbvCompChannel.STRUCT.at(channel));
    }

    @Override
    public int fileDescriptor() {
        return fd;
    }

    @Override
    public long takeEvent() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            long out = frame.argumentsAddress();
            int result = (int)
                    Downcall.call(Imports.IBV_GET_CQ_EVENT.get(), frame, channel, out + CQ_OUT, out + CQ_CONTEXT_OUT);
            if (result == 0) {
                return frame.arguments().get(ValueLayout.JAVA_LONG, CQ_CONTEXT_OUT);
            }
            if (frame.errno() != Errno.EAGAIN && frame.errno() != Errno.EINTR) {
                Status.check(result, frame, Imports.IBV_GET_CQ_EVENT, "fd=" + fd);
            }
            return 0;
        }
    }

    @Override
    public void destroy() throws VerbsException {
        try (CallFrame frame = CallFrame.enter()) {
            int result = (int) Downcall.call(Imports.IBV_DESTROY_COMP_CHANNEL.get(), frame, channel);
            Status.check(result, frame, Imports.IBV_DESTROY_COMP_CHANNEL, "fd=" + fd);
        }
    }
}
