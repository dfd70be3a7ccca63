"""Sockets that rdma-core's preload library can take over.

Python opens sockets with SOCK_CLOEXEC and accepts with accept4. The library in Debian 12 (rdma-core 44) leaves both to
the kernel without a word, so that a program under it runs over TCP. Opened and accepted as C programs do, sockets are
its own, and all that Python then does with them too.
"""
import ctypes
import os
import socket

_calls = ctypes.CDLL(None, use_errno=True)


def _checked(descriptor):
    if descriptor < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=descriptor)


def open_socket():
    """An unconnected stream socket."""
    return _checked(_calls.socket(socket.AF_INET, socket.SOCK_STREAM, 0))


def accept(server):
    """The next connection of a listening socket."""
    return _checked(_calls.accept(server.fileno(), None, None))
