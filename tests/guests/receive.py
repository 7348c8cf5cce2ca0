# SPDX-License-Identifier: MIT
"""Files out of a guest's console, as programs/send.c has written them: receive.py CONSOLE FOLDER

Used by sync.sh."""
import os
import sys


def fnv(data):
    h = 14695981039346656037
    for byte in data:
        h = (h ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return h


def keep(folder, name, data, wanted):
    if fnv(data) != wanted:
        sys.exit(f"{name}: what came through the console is not what was sent")
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)


def main(console, folder):
    name, data, wanted, n = None, None, None, 0
    with open(console, encoding="latin-1") as lines:
        for line in lines:
            words = line.split()
            if words[:1] == ["GUEST-FILE"]:
                if name:
                    keep(folder, name, data, wanted)
                name, data, wanted = words[1], bytearray(int(words[2])), int(words[3], 16)
                n += 1
            elif words[:1] == ["GUEST-DATA"]:
                at, piece = int(words[1]), bytes.fromhex(words[2])
                data[at:at + len(piece)] = piece
    if name:
        keep(folder, name, data, wanted)
    if n == 0:
        sys.exit("the guest has sent no file")


main(*sys.argv[1:])
