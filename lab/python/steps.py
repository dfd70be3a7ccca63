#!/usr/bin/env python3
"""Takes steps on one connection, on plain blocking sockets: steps.py connect|listen HOST PORT DATA-FILE STEP...

Sends what is in the file, from its beginning on, and verifies that what comes is the same; steps are as in Steps.java:
send=BYTES, receive=BYTES, shutdown, end (of what comes), pause=MILLISECONDS, close. queue=ENTRIES and buffer=BYTES, which
come first, make the socket's queues and buffers so small: options of rsockets.
"""
import socket
import sys
import time

import preloadable

SOL_RDMA = 0x10000
RDMA_SQSIZE = 0
RDMA_RQSIZE = 1


def send(connection, data, count):
    connection.sendall(data[:count])
    return data[count:]


def receive(connection, expected, count):
    done = 0
    while done < count:
        part = connection.recv(min(65536, count - done))
        if not part:
            sys.exit("the stream ended with %d of %d bytes outstanding" % (count - done, count))
        if part != expected[done:done + len(part)]:
            sys.exit("wrong data in the %d bytes behind %d" % (len(part), done))
        done += len(part)
    return expected[count:]


def main():
    role, host, port, file = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    steps = [step.partition("=")[::2] for step in sys.argv[5:]]
    with open(file, "rb") as contents:
        to_send = to_receive = memoryview(contents.read())
    connection = preloadable.open_socket()
    while steps[0][0] in ("queue", "buffer"):
        name, value = steps.pop(0)
        if name == "queue":
            connection.setsockopt(SOL_RDMA, RDMA_SQSIZE, int(value))
            connection.setsockopt(SOL_RDMA, RDMA_RQSIZE, int(value))
        else:
            # Doubled by rsockets.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(value) // 2)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(value) // 2)
    if role == "listen":
        server = connection
        server.bind((host, port))
        server.listen(1)
        connection = preloadable.accept(server)
    else:
        connection.connect((host, port))
    for name, value in steps:
        if name == "send":
            to_send = send(connection, to_send, int(value))
        elif name == "receive":
            to_receive = receive(connection, to_receive, int(value))
        elif name == "shutdown":
            connection.shutdown(socket.SHUT_WR)
        elif name == "end":
            if connection.recv(1):
                sys.exit("more came than was agreed")
        elif name == "pause":
            time.sleep(int(value) / 1000)
        elif name == "close":
            connection.close()
        else:
            sys.exit("no step is called " + name)
        print("STEP", name, flush=True)
    print("DONE", flush=True)


if __name__ == "__main__":
    main()
