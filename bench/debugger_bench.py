#!/usr/bin/env python3
"""debugger_bench.py [--benchmark_out=FILE.json] [--repeats N] [--only WORD]

How long sessions of gdb take with a gdbserver alone and through `mqbridge proxy`, over links with and without delay.
Both run in turn, on the same process. What they print has to be the same, else the benchmark fails. Reads the programs
of build/; writes what Google Benchmark writes."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from statistics import median

BUILD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build")
STEPS = f"{BUILD}/inferiors/steps"
RANK = f"{BUILD}/inferiors/ring_deadlock"
FAR = 10  # ms, round trip


def walk(first):
    return [f"set $node = {first}", "set $sum = 0", "while $node != 0", "set $sum = $sum + $node->number",
            "set $node = $node->next", "end", "print $sum"]


LOOK = "python\nfor at in range(100): gdb.execute('x/8gx &in_a_row[%d]' % (at * 10))\nend"
FIVE = ["tbreak tick", "continue", "break add", "break deeper", "break work", "break rest", "break do_nothing"]
CONNECT = "target remote {place}"
STAY = f"{STEPS} stay"
# Name, command, gdb's commands that are not measured, those that are, delays.
SESSIONS = [
    ("attach_files_of_stub", RANK, [], [CONNECT, "info sharedlibrary", "bt"], (0, FAR)),
    ("attach_files_here", RANK, ["set sysroot /"], [CONNECT, "info sharedlibrary", "bt"], (0, FAR)),
    ("list_in_a_row", STAY, [CONNECT], walk("row"), (FAR,)),
    ("list_shuffled", STAY, [CONNECT], walk("shuffled"), (FAR,)),
    ("next_100", STAY, [CONNECT, *FIVE], ["next 100"], (0, FAR)),
    ("stepi_1000", STAY, [CONNECT, "break tick", "continue", "delete"], ["stepi 1000"], (0,)),
    ("look_at_100_places_at_5_stops", STAY, [CONNECT, "break tick"], ["continue", LOOK] * 5, (FAR,)),
    ("locals_of_30_frames", f"{STAY} 29", [CONNECT, "break add", "continue"], ["frame apply 30 info locals"], (FAR,)),
    ("backtraces_of_64_threads", f"{STEPS} crowd", [CONNECT], ["thread apply all bt"], (0, FAR)),
]
CLOCK = "python import time; begin = time.monotonic()"
READ_CLOCK = "python print('seconds', time.monotonic() - begin)"


def started(arguments, words, **more):
    """A program, and what stands behind `words` in the first line that has them."""
    process = subprocess.Popen(arguments, text=True, stdin=subprocess.DEVNULL, **more)
    for line in process.stdout or process.stderr:
        if words in line:
            return process, line.split()[-1]
    sys.exit(f"{arguments[0]} ended before it said '{words}'")


def session(pid, program, before, commands, delay, cache):
    """Seconds, and what gdb printed. `cache`: for the proxy; None: gdb is alone."""
    processes = []
    server, port = started(["gdbserver", "--once", "--attach", "127.0.0.1:0", str(pid)], "Listening", stderr=subprocess.PIPE)
    processes.append(server)
    place = f"127.0.0.1:{port}"
    if delay:
        link, place = started([f"{BUILD}/bench/delaying-link", "--round-trip", str(delay), place], "", stdout=subprocess.PIPE)
        processes.append(link)
    if cache:
        proxy, place = started([f"{BUILD}/mqbridge", "proxy", "--listen", "127.0.0.1:0", place], "ready", stdout=subprocess.PIPE,
                               env=dict(os.environ, XDG_CACHE_HOME=cache))
        processes.insert(0, proxy)
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as script:
        script.write("\n".join([*before, CLOCK, *commands, READ_CLOCK, "detach"]).replace("{place}", place) + "\n")
        script.flush()
        gdb = subprocess.run(["gdb", "-nx", "-q", "-batch", "-ex", "set width 0", "-x", script.name, program], timeout=300,
                             capture_output=True, text=True, check=False)
    processes[0].wait(15)
    for process in processes[1:]:
        process.kill()
        process.wait()
    errors = re.sub(r"(?m)^warning: .*\n|^Reading .*\n|.*No such file or directory\.\n|\n", "", gdb.stderr)
    printed, _, took = gdb.stdout.partition("seconds ")
    return float(took.split()[0]), printed + errors


def start_rank():
    """The first rank of a job that hangs. The other one stands still, so that it does not compute beside it."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated")
    job = subprocess.Popen(["mpirun", "--oversubscribe", "--mca", "pml", "ob1", "-n", "2", "--mca", "mpi_yield_when_idle", "1", RANK,
                            tempfile.mkdtemp()], env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(3)
    children = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True, check=True).stdout.split()
    os.kill(int(children[1]), signal.SIGSTOP)
    return job, int(children[0])


def start(command):
    if command == RANK:
        return start_rank()
    process = subprocess.Popen(command.split(), start_new_session=True)
    time.sleep(1)
    return process, process.pid


def measure(one, repeats):
    name, command, before, commands, delays = one
    program = command.split()[0]
    job, pid = start(command)
    entries = []
    try:
        for delay in delays:
            seconds = {"alone": [], "through": []}
            if name == "attach_files_of_stub":
                seconds["warm"] = []  # they were read through it before
            for _ in range(repeats):
                printed = {}
                with tempfile.TemporaryDirectory() as cache:
                    for mode in seconds:
                        took, printed[mode] = session(pid, program, before, commands, delay, None if mode == "alone" else cache)
                        seconds[mode].append(took)
                        if printed[mode] != printed["alone"]:
                            sys.exit(f"{name}: gdb prints other things through mqbridge:\n{printed['alone']}\n---\n{printed[mode]}")
            times = {mode: median(values) for mode, values in seconds.items()}
            warm = f", warm {times['warm']:6.2f} s" if "warm" in times else ""
            print(f"{name:32} {delay:3} ms  alone {times['alone']:6.2f} s  through {times['through']:6.2f} s  "
                  f"{times['alone'] / times['through']:5.1f} times faster{warm}", file=sys.stderr)
            entries += [{"name": f"Debugger/{name}/{delay}ms/{mode}", "run_type": "iteration",
                         "real_time": value, "time_unit": "s"} for mode, values in seconds.items() for value in values]
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    return entries


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    arguments.add_argument("--benchmark_out", metavar="FILE")
    arguments.add_argument("--benchmark_out_format", choices=["json"], help="as Google Benchmark has it")
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--only", metavar="WORD", default="", help="sessions whose names have it")
    given = arguments.parse_args()
    entries = [entry for one in SESSIONS if given.only in one[0] for entry in measure(one, given.repeats)]
    if given.benchmark_out:
        with open(given.benchmark_out, "w", encoding="utf-8") as file:
            json.dump({"context": {"date": time.strftime("%Y-%m-%dT%H:%M:%S%z")}, "benchmarks": entries}, file, indent=1)


if __name__ == "__main__":
    main()
