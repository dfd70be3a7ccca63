#!/usr/bin/env python3
"""Echo server on plain blocking sockets: echo_server.py HOST PORT [CONNECTIONS].

Prints READY with its port, serves so many connections one after the other, and ends each when its client has.
"""
import socket
import sys

import preloadable


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    connections = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    server = preloadable.open_socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((host, port))
    server.listen(8)
    print("READY", port, flush=True)
    for _ in range(connections):
        connection = preloadable.accept(server)
        count = 0
        while True:
            data = connection.recv(65536)
            if not data:
                break
            connection.sendall(data)
            count += len(data)
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()
        print("ECHOED bytes=%d" % count, flush=True)
    server.close()
    print("DONE", flush=True)


if __name__ == "__main__":
    main()
