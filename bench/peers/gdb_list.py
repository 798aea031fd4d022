#!/usr/bin/env python3
"""GDB walking the recorder's list: no debug DLL, a plain loop of its Python over the nodes of a linked list, each
read whole. --cache as of gdb_mqd_host.py."""

import sys
import time

import gdb_session
import peer
import recorder_list


def main():
    import gdb  # there is one inside of GDB only

    arguments = peer.arguments_inside()
    try:
        answer = peer.Answer()
        gdb_session.prepare(gdb, arguments)
        start = time.perf_counter()
        gdb_session.connect(gdb, arguments)
        walk_start = time.perf_counter()
        root = int(gdb.parse_and_eval(f"(unsigned long)&{recorder_list.ROOT_SYMBOL}"))
        recorder_list.walk(gdb_session.reader(gdb, arguments.cache), root, answer)
        walk_s = time.perf_counter() - walk_start
        gdb.execute("detach")
        total_s = time.perf_counter() - start
    except (gdb.error, ValueError) as error:
        peer.leave(1, f"gdb_list: {error}")
    peer.report(arguments, "gdb_list", answer, walk_s, total_s, cache=arguments.cache)
    peer.leave(0)


if __name__ == "__main__":
    options = gdb_session.parser(__doc__)
    sys.exit(gdb_session.run("gdb_list", options.parse_args()))
