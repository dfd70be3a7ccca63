#!/usr/bin/env python3
"""Echo client on plain blocking sockets: echo_client.py HOST PORT [BYTES [CHUNK]].

Sends seeded random bytes chunk by chunk, verifies that the same come back, and then that the stream ends.
"""
import random
import socket
import sys

import preloadable


def receive(connection, length):
    """Receives exactly so many bytes."""
    parts = []
    while length > 0:
        part = connection.recv(length)
        if not part:
            sys.exit("the stream ended with %d bytes outstanding" % length)
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    total = int(sys.argv[3]) if len(sys.argv) > 3 else 1 << 20
    chunk = int(sys.argv[4]) if len(sys.argv) > 4 else 8192
    source = random.Random(1)
    connection = preloadable.open_socket()
    connection.connect((host, port))
    done = 0
    while done < total:
        data = source.randbytes(min(chunk, total - done))
        connection.sendall(data)
        if receive(connection, len(data)) != data:
            sys.exit("wrong data in the %d bytes from %d on" % (len(data), done))
        done += len(data)
    connection.shutdown(socket.SHUT_WR)
    if connection.recv(1):
        sys.exit("more came back than was sent")
    connection.close()
    print("OK bytes=%d" % done, flush=True)


if __name__ == "__main__":
    main()
