#!/usr/bin/env python3
"""Stands in for a compiler with two mistakes, for tests: argument `executor FOLDER` runs a case and takes a multiplication for
an addition; `optimizer IN OUT` cannot read a module with a multiplication.

The executor is docs/examples/executor.py, whose path is in EXAMPLE, with that mistake.
"""
import os
import shutil
import struct
import sys

MULTIPLICATION, ADDITION = 132, 128


def words_of(path):
    with open(path, "rb") as file:
        return [word for (word,) in struct.iter_unpack("<I", file.read())]


def instructions(words):
    at = 5
    while at < len(words):
        yield at, words[at] & 0xFFFF
        at += words[at] >> 16


def miscompile(folder):
    path = os.path.join(folder, "module.spv")
    words = words_of(path)
    for at, opcode in list(instructions(words)):
        if opcode == MULTIPLICATION:
            words[at] = words[at] & 0xFFFF0000 | ADDITION
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{len(words)}I", *words))


if sys.argv[1] == "optimizer":
    if any(opcode == MULTIPLICATION for _, opcode in instructions(words_of(sys.argv[2]))):
        sys.exit(f"error: cannot multiply %{len(sys.argv)} at {os.getpid():#x} in {os.getcwd()}/x.cpp:12")
    shutil.copy(sys.argv[2], sys.argv[3])
else:
    with open(os.environ["EXAMPLE"]) as file:
        example = file.read()
    begin = "def run(folder, request):\n"
    example = example.replace(begin, f"{begin}    miscompile(folder)\n", 1)
    sys.argv = sys.argv[1:]
    exec(compile(example, "executor.py", "exec"))
