"""What the peers that are Python programs have in common: the arguments, the start inside of a debugger, the
checksum of an answer, and the one line that a peer prints."""

import argparse
import json
import os
import struct
import sys
import zlib

_ARGUMENTS = "MQBRIDGE_PEER"


class Answer:
    """What a peer found, so that peers can be compared: bench/peers/answer_checksum.h defines the checksum."""

    def __init__(self):
        self._queues = []
        self._records = None

    def begin_queue(self, op_class):
        self._records = []
        self._queues.append((op_class, self._records))

    def add(self, buffer, tag, any_tag):
        self._records.append((buffer, 0xFFFFFFFF if any_tag else tag & 0xFFFFFFFF))

    @property
    def operations(self):
        return sum(len(records) for _, records in self._queues)

    def checksum(self):
        pack = struct.Struct("<QI").pack
        total = 0
        for op_class, records in self._queues:
            if records:
                total += zlib.crc32(bytes([op_class]) + b"".join(pack(*record) for record in records))
        return f"{total & 0xFFFFFFFF:08x}"


def parser(description):
    """Of every peer that is about one process: where it is, and what runs there."""
    options = argparse.ArgumentParser(description=description)
    where = options.add_mutually_exclusive_group(required=True)
    where.add_argument("--remote", metavar="HOST:PORT", help="a stub that listens")
    where.add_argument("--pid", type=int, help="a process of this machine, without a stub")
    options.add_argument("--program", required=True, help="the file that the process runs")
    return options


def run_inside(debugger, module, arguments):
    """Becomes `debugger`, which calls main(arguments) of `module`. Its own chatter goes to stderr: stdout has the
    report alone."""
    values = vars(arguments) | {"report_to": os.dup(1)}
    os.set_inheritable(values["report_to"], True)
    os.dup2(2, 1)
    os.environ[_ARGUMENTS] = json.dumps(values)
    here = os.path.dirname(os.path.abspath(__file__))
    script = f"import sys; sys.path.insert(0, {here!r}); import {module}; {module}.main()"
    os.execvp(debugger[0], [word.replace("{script}", script) for word in debugger])


def arguments_inside():
    """What run_inside() was given."""
    return argparse.Namespace(**json.loads(os.environ[_ARGUMENTS]))


def report(arguments, tool, answer, walk_s, total_s, **more):
    """Prints the line. `walk_s`: the queues alone; `total_s`: from before connecting until the process runs on."""
    line = {"tool": tool, "walk_s": walk_s, "total_s": total_s, "operations": answer.operations,
            "checksum": answer.checksum()} | more
    with os.fdopen(getattr(arguments, "report_to", 1), "w") as out:
        print(json.dumps(line), file=out)


def leave(status, message=None):
    """Ends the debugger without asking it."""
    if message is not None:
        print(message, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
