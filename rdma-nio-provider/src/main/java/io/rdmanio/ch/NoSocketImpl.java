package io.rdmanio.ch;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;

/** Stands in for the implementation that an adaptor's superclass insists on; the adaptors override all that would use it. */
final class NoSocketImpl extends SocketImpl {
    private static AssertionError unexpected() {
        return new AssertionError("the adaptor overrides this");
    }

    @Override
    protected void create(boolean stream) {
        throw unexpected();
    }

    @Override
    protected void connect(String host, int port) {
        throw unexpected();
    }

    @Override
    protected void connect(InetAddress address, int port) {
        throw unexpected();
    }

    @Override
    protected void connect(SocketAddress address, int timeout) {
        throw unexpected();
    }

    @Override
    protected void bind(InetAddress host, int port) {
        throw unexpected();
    }

    @Override
    protected void listen(int backlog) {
        throw unexpected();
    }

    @Override
    protected void accept(SocketImpl s) {
        throw unexpected();
    }

    @Override
    protected InputStream getInputStream() {
        throw unexpected();
    }

    @Override
    protected OutputStream getOutputStream() {
        throw unexpected();
    }

    @Override
    protected int available() {
        throw unexpected();
    }

    @Override
    protected void close() {
        throw unexpected();
    }

    @Override
    protected void sendUrgentData(int data) {
        throw unexpected();
    }

    @Override
    public void setOption(int id, Object value) {
        throw unexpected();
    }

    @Override
    public Object getOption(int id) {
        throw unexpected();
    }
}
