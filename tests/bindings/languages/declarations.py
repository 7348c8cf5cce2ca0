# SPDX-License-Identifier: MIT
"""declarations.py FILE: the declarations of a preprocessed header that LuaJIT's ffi accepts: no libc, attributes, or bodies."""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)|__extension__|__asm__\s*\([^)]*\)", " ", text)
text = re.sub(r"_Static_assert\s*\((?:[^()]|\([^()]*\))*\)\s*;", " ", text)
print("typedef int pid_t;")
depth, begin = 0, 0
for i, c in enumerate(text):
    depth += (c == "{") - (c == "}")
    body = c == "}" and depth == 0 and re.search(r"\)\s*\{", text[begin:i])
    if (c == ";" and depth == 0) or body:
        item = " ".join(text[begin:i + 1].split())
        begin = i + 1
        inline = re.match(r"(?:extern |static )*(?:__)?inline", item)
        if body or inline:
            item = re.sub(r"^(?:(?:extern|static|inline|__inline)\s+)*", "", item.split("{")[0]).strip() + ";" if body and \
                re.match(r"extern", item) else ""
        if re.search(r"\bupmu_|\bUPMU_", item) and not item.startswith("extern int "):
            print(item)
