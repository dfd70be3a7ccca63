package io.rdmanio.verbs;

import io.rdmanio.verbs.spi.CompletionChannelHandle;
import io.rdmanio.verbs.spi.ContextHandle;
import io.rdmanio.verbs.spi.HandleKind;
import io.rdmanio.verbs.spi.Lifecycle;

/**
 * A device in use ({@code struct ibv_context}). One that belongs to a communication id is borrowed: it can't be closed,
 * and the same native context is always the same object. One that was opened is an {@link OpenDeviceContext}.
 * Thread-safe.
 */
public sealed class DeviceContext permits OpenDeviceContext {
    final ContextHandle handle;
    final Lifecycle life;

    /** A borrowed context. */
    DeviceContext(ContextHandle handle) {
        this.handle = handle;
        this.life = Lifecycle.borrowed(HandleKind.DEVICE_CONTEXT);
    }

    /** A context with an owner. */
    DeviceContext(ContextHandle handle, Lifecycle life) {
        this.handle = handle;
        this.life = life;
    }

    /**
     * The device's name (ibv_get_device_name(3)).
     *
     * @return such as {@code mlx5_0}
     */
    public String name() {
        return handle.name();
    }

    /**
     * What the device speaks.
     *
     * @return IB for InfiniBand and RoCE, IWARP, or another
     */
    public TransportType transport() {
        return handle.transport();
    }

    /**
     * Queries the device (ibv_query_device(3)). May make a system call.
     *
     * @return its attributes
     * @throws VerbsException when the query fails
     * @throws IllegalStateException after close
     */
    public DeviceAttributes attributes() throws VerbsException {
        life.enter();
        try {
            return handle.queryDevice();
        } finally {
            life.exit();
        }
    }

    /**
     * Queries a port (ibv_query_port(3)). Makes a system call.
     *
     * @param port its number, from 1
     * @return its attributes
     * @throws VerbsException when there is no such port ({@code EINVAL}), or the query fails
     * @throws IllegalStateException after close
     */
    public PortAttributes portAttributes(int port) throws VerbsException {
        life.enter();
        try {
            return handle.queryPort(port);
        } finally {
            life.exit();
        }
    }

    /**
     * Reads an entry of a port's GID table (ibv_query_gid(3)).
     *
     * @param port the port, from 1
     * @param index the entry, less than {@link PortAttributes#gidTableLength}
     * @return its 16 bytes; all zero when the entry is not in use
     * @throws VerbsException when there is no such port or entry
     * @throws IllegalStateException after close
     */
    public byte[] gid(int port, int index) throws VerbsException {
        life.enter();
        try {
            return handle.queryGid(port, index);
        } finally {
            life.exit();
        }
    }

    /**
     * Allocates a protection domain (ibv_alloc_pd(3)). Makes a system call.
     *
     * @return the domain, to be closed by the caller
     * @throws VerbsException when the device has none left
     * @throws IllegalStateException after close
     */
    public ProtectionDomain allocateProtectionDomain() throws VerbsException {
        life.enter();
        try {
            return new ProtectionDomain(this, handle.allocateProtectionDomain());
        } finally {
            life.exit();
        }
    }

    /**
     * Creates a completion channel (ibv_create_comp_channel(3)). Makes a system call and takes a descriptor.
     *
     * @return the channel, to be closed by the caller
     * @throws VerbsException when there is no descriptor left ({@code EMFILE}, {@code ENFILE})
     * @throws IllegalStateException after close
     */
    public CompletionChannel createCompletionChannel() throws VerbsException {
        life.enter();
        try {
            return new CompletionChannel(this, handle.createCompletionChannel());
        } finally {
            life.exit();
        }
    }

    /**
     * Creates a completion queue (ibv_create_cq(3)). Makes a system call.
     *
     * @param depthEntries how many completions it must hold: all that can be outstanding, since a queue that overruns
     *     fails
     * @param channel where its events go, made by this context; null when it is only polled
     * @return the queue, to be closed by the caller
     * @throws VerbsException when the depth is more than the device allows ({@code EINVAL}), or memory can't be locked
     *     ({@code ENOMEM})
     * @throws IllegalArgumentException when the depth is less than 1, or the channel belongs to another context
     * @throws IllegalStateException after close, of the channel too
     */
    public CompletionQueue createCompletionQueue(int depthEntries, CompletionChannel channel) throws VerbsException {
        if (depthEntries < 1) {
            throw new IllegalArgumentException("depthEntries " + depthEntries + " is less than 1");
        }
        if (channel == null) {
            life.enter();
            try {
                return new CompletionQueue(this, handle.createCompletionQueue(depthEntries, null, 0));
            } finally {
                life.exit();
            }
        }
        if (channel.context() != this) {
            throw new IllegalArgumentException("the completion channel belongs to another device context");
        }
        return channel.createCompletionQueue(depthEntries);
    }

    /** Creates a queue with a channel; the caller is inside the channel, and so this context is open. */
    CompletionQueue newCompletionQueue(
            int depthEntries, CompletionChannel channel, CompletionChannelHandle channelHandle, int slot)
            throws VerbsException {
        return new CompletionQueue(
                this, handle.createCompletionQueue(depthEntries, channelHandle, slot + 1L), channel, slot);
    }

    /**
     * The device's name.
     *
     * @return for messages
     */
    @Override
    public String toString() {
        return "DeviceContext[" + name() + "]";
    }
}
