#!/usr/bin/env python3
"""Runs the fuzz targets until each is done; what ./dev fuzz calls.

A target is done when it has had its minutes of CPU time, and the last three of them have brought no
new coverage (edges). What was reached is kept in the state directory, so that a later run goes on
where this one was stopped; removing that directory begins anew. The minutes belong to the program that
had them: a program that was built from other sources begins with none, and takes over the corpus.

A target that finds something is not run further, and the others go on. The status is 0 if all targets
are done, else 1.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROUND_SECONDS = 60  # so much is lost when a run is stopped
QUIET_SECONDS = 180
CORPUS_BYTES = 190 * 1024  # of one target, in the repository
INTERRUPTED = 72  # status of libFuzzer after SIGINT or SIGTERM
STATUS = re.compile(r"^#(\d+)\s+(INITED|NEW|REDUCE|RELOAD|pulse|DONE)\s+cov: (\d+)")

stopping = threading.Event()
running = set()
running_lock = threading.Lock()


@dataclasses.dataclass
class Progress:
    """Of one target, over all runs of the same program."""

    program: str  # its SHA-256
    cpu: float = 0  # seconds
    executions: int = 0
    coverage: int = 0  # edges
    last_new: float = 0  # seconds of CPU time at the end of the round that brought new coverage

    def done(self, minutes):
        return self.cpu >= 60 * minutes and self.cpu - self.last_new >= QUIET_SECONDS


class Target:
    def __init__(self, program, corpus, state):
        self.name = program.name.removeprefix("fuzz_")
        self.program = program
        self.seeds = corpus / self.name
        self.directory = state / self.name
        self.found = self.directory / "corpus"
        self.found.mkdir(parents=True, exist_ok=True)
        self.record = self.directory / "progress.json"
        self.progress = Progress(hashlib.sha256(program.read_bytes()).hexdigest())
        kept = json.loads(self.record.read_text()) if self.record.exists() else {}
        if kept.get("program") == self.progress.program:
            self.progress = Progress(**kept)
        else:
            # libFuzzer runs the corpus first: the new program begins with what the old one failed at.
            for path in self.findings():
                path.replace(self.found / path.name)
            self.save()
        self.failed = bool(self.findings())

    def findings(self):
        """The inputs that this program fails at."""
        return sorted(path for path in self.directory.glob("*-*") if not path.name.startswith("slow-unit-"))

    def done(self, minutes):
        return not self.failed and self.progress.done(minutes)

    def play_round(self):
        """One run of libFuzzer; returns the end of its output."""
        command = [
            self.program,
            f"-max_total_time={ROUND_SECONDS}",
            "-timeout=30",
            "-rss_limit_mb=2048",
            f"-artifact_prefix={self.directory}/",
            self.found,
            self.seeds,
        ]
        with running_lock:
            if stopping.is_set():
                return ""
            process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace")
            running.add(process)
        lines = []
        coverage = executions = 0
        for line in process.stderr:
            lines = lines[-200:] + [line]
            if status := STATUS.match(line):
                executions, coverage = int(status[1]), int(status[3])
        _, outcome, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(outcome)
        with running_lock:
            running.discard(process)
        if not stopping.is_set() and process.returncode != INTERRUPTED:
            if process.returncode == 0:
                self.note(usage.ru_utime + usage.ru_stime, executions, coverage)
            else:
                self.failed = True
        return "".join(lines)

    def note(self, cpu, executions, coverage):
        progress = self.progress
        progress.cpu += cpu
        progress.executions += executions
        if coverage > progress.coverage:
            progress.coverage = coverage
            progress.last_new = progress.cpu
        self.save()

    def save(self):
        text = json.dumps(dataclasses.asdict(self.progress))
        incoming = self.record.with_suffix(".new")
        incoming.write_text(text + "\n")
        incoming.replace(self.record)


def describe(progress):
    return (
        f"{progress.cpu / 60:.1f} CPU minutes, {progress.executions:,} executions, "
        f"{progress.coverage} edges, the last new one after {progress.last_new / 60:.1f}"
    )


def stop_all():
    stopping.set()
    with running_lock:
        for process in running:
            process.kill()


def print_table(targets, minutes):
    print(f"\n{'target':<16} {'executions':>13} {'CPU min':>8} {'edges':>7} {'last new':>9}  done")
    for target in targets:
        progress = target.progress
        print(
            f"{target.name:<16} {progress.executions:>13,} {progress.cpu / 60:>8.1f} "
            f"{progress.coverage:>7} {progress.last_new / 60:>9.1f}  "
            f"{'failed' if target.failed else 'yes' if target.done(minutes) else 'no'}"
        )


def print_findings(target):
    findings = target.findings()
    if not findings:
        print(f"\n{target.name} failed, and left nothing to try again: its output is above")
    for path in findings:
        print(f"\n{target.name} has found something: {path}")
        print(f"try it again with: {target.program} {path}")


class Turns:
    """Whose round is next: of the target that has had the least time, so that all come on together."""

    def __init__(self, targets, minutes):
        self.waiting = list(targets)
        self.minutes = minutes
        self.lock = threading.Lock()

    def take(self):
        with self.lock:
            self.waiting = [t for t in self.waiting if not (t.failed or t.done(self.minutes))]
            if not self.waiting or stopping.is_set():
                return None
            target = min(self.waiting, key=lambda target: target.progress.cpu)
            self.waiting.remove(target)
            return target

    def give_back(self, target):
        with self.lock:
            self.waiting.append(target)

    def play(self):
        while target := self.take():
            output = target.play_round()
            self.give_back(target)
            if target.failed:
                print(f"{output}{target.name}: failed, and is not run further", flush=True)
            elif not stopping.is_set():
                print(f"{target.name}: {describe(target.progress)}", flush=True)


def fuzz(targets, minutes, jobs):
    """Returns once each target is done or has failed, or somebody interrupts it."""
    turns = Turns(targets, minutes)
    players = [threading.Thread(target=turns.play, daemon=True) for _ in range(jobs)]
    for player in players:
        player.start()
    try:
        for player in players:
            player.join()
    except KeyboardInterrupt:
        stop_all()


def keep(targets):
    """Adds to the corpus of the repository inputs that bring what it does not have yet, the short
    ones first, as long as it stays small."""
    for target in targets:
        size = sum(path.stat().st_size for path in target.seeds.iterdir())
        with tempfile.TemporaryDirectory() as merged:
            shutil.copytree(target.seeds, merged, dirs_exist_ok=True)
            artifacts = f"-artifact_prefix={target.directory}/"  # of an earlier finding that is still one
            command = [target.program, "-set_cover_merge=1", artifacts, merged, target.found]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            new = [path for path in pathlib.Path(merged).iterdir() if not (target.seeds / path.name).exists()]
            for path in sorted(new, key=lambda path: path.stat().st_size):
                size += path.stat().st_size
                if size > CORPUS_BYTES:
                    break
                shutil.copy(path, target.seeds)
        print(f"{target.name}: {len(list(target.seeds.iterdir()))} files", flush=True)


def shard(text):
    """K and N of K/N."""
    number, count = (int(part) for part in text.split("/"))
    if not 1 <= number <= count:
        raise ValueError
    return number, count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=10, help="of CPU time, each")
    parser.add_argument("targets", nargs="*", help="their names; none: all")
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--state", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shard", type=shard, metavar="K/N", default=(1, 1), help="every N-th target, from the K-th on")
    parser.add_argument("--keep", action="store_true", help="no fuzzing: completes the corpus")
    options = parser.parse_args()
    corpus = pathlib.Path(__file__).resolve().parent / "corpus"
    programs = sorted(options.programs.glob("fuzz_*"))
    number, count = options.shard
    targets = [Target(program, corpus, options.state.resolve()) for program in programs[number - 1 :: count]]
    if options.targets:
        targets = [target for target in targets if target.name in options.targets]
    if not targets:
        sys.exit("no such fuzz target; there are: " + ", ".join(p.name[5:] for p in programs))
    if options.keep:
        keep(targets)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    fuzz(targets, options.minutes, options.jobs)
    print_table(targets, options.minutes)
    for target in targets:
        if target.failed:
            print_findings(target)
    sys.exit(0 if all(target.done(options.minutes) for target in targets) else 1)


if __name__ == "__main__":
    main()
