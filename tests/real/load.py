# SPDX-License-Identifier: MIT
"""Puts a server under the load of some connections at once; prints a digest of every answer, the same in each run.

    load.py memcached PORT      load.py http PORT PATH...
"""
import hashlib
import http.client
import socket
import sys
import threading

CONNECTIONS = 6


def memcached(port, number):
    """Sets, reads, counts and deletes keys of its own, and reads those of all."""
    digest = hashlib.sha256()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        stream = connection.makefile("rwb")

        def ask(text, lines):
            stream.write(text.encode())
            stream.flush()
            for _ in range(lines):
                digest.update(stream.readline())

        ask(f"set count{number} 0 0 1\r\n0\r\n", 1)
        for i in range(400):
            value = f"{number}-{i}-" + "x" * (i * 37 % 3000)
            ask(f"set key{number}-{i} 5 0 {len(value)}\r\n{value}\r\n", 1)
            ask(f"get key{number}-{i}\r\n", 3)
            ask(f"incr count{number} {i}\r\n", 1)
            ask("get greeting\r\n", 3)
            if i % 3 == 0:
                ask(f"delete key{number}-{i}\r\n", 1)
                ask(f"get key{number}-{i}\r\n", 1)
    return digest


def web(port, number, paths):
    """Reads each file some times over one connection, parts of files as well."""
    digest = hashlib.sha256()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for lap in range(12):
        for path in paths + ["/missing"]:
            headers = {"Range": f"bytes={number * 100}-{number * 100 + lap * 5000}"} if lap % 2 else {}
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            digest.update(f"{answer.status} {answer.getheader('Content-Length')}".encode())
            digest.update(answer.read())
    connection.close()
    return digest


def main():
    kind, port, rest = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    answers = [None] * CONNECTIONS

    def run(number):
        digest = memcached(port, number) if kind == "memcached" else web(port, number, rest)
        answers[number] = digest.hexdigest()

    if kind == "memcached":
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"set greeting 0 0 5\r\nhello\r\n")
            connection.recv(100)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("\n".join(str(answer) for answer in answers))
    if kind == "memcached":
        with socket.create_connection(("127.0.0.1", port)) as connection:
            stream = connection.makefile("rwb")
            stream.write(b"stats\r\n")
            stream.flush()
            wanted = (b"curr_items", b"cmd_get", b"cmd_set", b"get_hits", b"get_misses", b"delete_hits", b"incr_hits")
            for line in iter(stream.readline, b"END\r\n"):
                words = line.split()
                if words[1] in wanted:
                    print(words[1].decode(), words[2].decode())
    sys.exit(None in answers)


main()
