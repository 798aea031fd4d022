#!/usr/bin/env python3
"""Runs test programs of MPICH's own test suite with and without the recorder, and compares what they say.

    mpich_suite.py --mpi mpich|openmpi --recorder LIBRARY [--list pt2pt ...] [--only NAME]

The programs are those of the target mpich-tests (docker/targets.sh). Each line of their testlists is run twice, one after
the other: bare, and with LIBRARY preloaded. A program that passes without the recorder has to pass with it. One that does
not pass with it is tried again: some fail now and then by themselves, and runs without the recorder show that, too.
Exit status: 0 the same results; 1 not; 2 the suite cannot be run; 77 the target is not there, and need not be."""
import argparse
import dataclasses
import os
import pathlib
import subprocess
import sys
import time

LAUNCHERS = {
    "mpich": ["mpiexec.mpich", "-n"],
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "self,vader", "-np"],
}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PMIX_MCA_gds": "hash"}
BARE_LIMIT = 90  # seconds; two processors are enough for each program in a tenth of it
TRIES = 3


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of a testlist."""
    folder: str
    program: str
    ranks: int
    arguments: tuple
    variables: tuple

    def __str__(self):
        return " ".join([f"{self.folder}/{self.program}", str(self.ranks), *self.arguments, *self.variables])


def lines_of(programs, folder):
    for text in (programs / folder / "testlist").read_text().splitlines():
        words = text.split("#")[0].split()
        if not words:
            continue
        options = [word.partition("=")[::2] for word in words[1:]]
        values = lambda key: tuple(value for name, value in options if name == key)
        ranks = int(words[1]) if len(words) > 1 and words[1].isdigit() else 2
        if values("mem"):  # gigabytes
            continue
        yield Line(folder, words[0], ranks, values("arg"), values("env"))


@dataclasses.dataclass(frozen=True)
class Outcome:
    passed: bool
    says: str
    seconds: float


def passes(status, output):
    """As the suite's own `runtests` judges."""
    words = [text.strip() for text in output.splitlines() if text.strip()]
    return status == 0 and words in (["No Errors"], ["Test passed"])


def run(options, line, library, limit):
    environment = {**os.environ, **ROOT, **dict(text.split("=", 1) for text in line.variables)}
    environment.pop("LD_PRELOAD", None)
    if library:
        environment["LD_PRELOAD"] = str(library)
    command = ["timeout", "-k", "5", str(limit), *LAUNCHERS[options.mpi], str(line.ranks), f"./{line.program}", *line.arguments]
    begun = time.monotonic()
    done = subprocess.run(command, cwd=options.programs / line.folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    seconds = time.monotonic() - begun
    output = done.stdout.decode(errors="replace")
    says = f"status {done.returncode}" + (f" after {seconds:.0f} s" if done.returncode == 124 else "") + "\n" + output
    return Outcome(passes(done.returncode, output), says, seconds)


def compare(options, line):
    """"same", "differs", or why nothing can be said; and the outcome to be shown."""
    bare = run(options, line, None, BARE_LIMIT)
    if not bare.passed:
        return "does not pass without it either", bare
    limit = round(3 * bare.seconds) + 30
    for _ in range(TRIES):
        recorded = run(options, line, options.recorder, limit)
        if recorded.passed:
            return "same", recorded
        if not run(options, line, None, limit).passed:
            return "does not always pass without it either", recorded
    return "differs", recorded


def targets():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("MQBRIDGE_TARGETS") or pathlib.Path(cache) / "mqbridge/targets")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=LAUNCHERS, required=True)
    parser.add_argument("--programs", type=pathlib.Path, help="another directory with the programs")
    parser.add_argument("--recorder", type=pathlib.Path, required=True)
    parser.add_argument("--list", nargs="+", default=["pt2pt", "comm", "coll"], help="folders of the suite")
    parser.add_argument("--only", default="", help="programs whose line contains this")
    options = parser.parse_args()
    options.programs = options.programs or targets() / "mpich-tests" / options.mpi
    if not options.programs.exists():
        print(f"{options.programs} is missing: ./dev targets mpich-tests", file=sys.stderr)
        return 2 if "MQBRIDGE_REQUIRE_TARGETS" in os.environ else 77
    if not options.recorder.exists():
        print(f"{options.recorder} is missing: ./dev build", file=sys.stderr)
        return 2
    options.recorder = options.recorder.resolve()
    lines = [line for folder in options.list for line in lines_of(options.programs, folder) if options.only in str(line)]
    counts = {}
    for line in lines:
        if not (options.programs / line.folder / line.program).exists():
            verdict, outcome = "not built", None
        else:
            verdict, outcome = compare(options, line)
        counts[verdict] = counts.get(verdict, 0) + 1
        print(f"{verdict}: {line}", flush=True)
        if verdict == "differs":
            print("  " + "\n  ".join(outcome.says.splitlines()[:30]), flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return 1 if "differs" in counts or not counts.get("same") else 0


if __name__ == "__main__":
    sys.exit(main())
