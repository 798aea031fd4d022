"""The figures that the project wants to reach, as far as a run measured them: each a row of what, goal, figure, verdict."""

from dataclasses import dataclass, replace

import lines
from results import BASE
from svg import round_to, seconds_text

PAGE_BYTES = 4096


@dataclass
class Row:
    what: str
    goal: str
    figure: str
    reached: bool
    note: str = ""


class Reach:
    def __init__(self, results, micro):
        self._results, self._micro = results, micro
        self.rows = []
        for find in (self._round_trips, self._walk_times, self._against_gdb, self._against_pages, self._bulk,
                     self._second_dump, self._random_nodes, self._slow_links, self._emulated, self._many_ranks,
                     self._host, self._marginal, self._micro_benchmarks, self._stopped):
            find()

    def _add(self, what, goal, figure, reached, note=""):
        self.rows.append(Row(what, goal, figure, reached, note))

    def _median(self, contender, counter, cell=BASE, **changes):
        measurement = self._results.get(contender, cell, **changes)
        return measurement.median(counter) if measurement else None

    def _most(self, what, value, most, text, note=""):
        if value is not None:
            self._add(what, f"≤ {text(most)}", text(value), value <= most, note)

    def _round_trips(self):
        for counter, text, most in (("wall_ms", "from connecting to having detached", 12), ("walk_ms", "of the walk", 4)):
            far, near = (self._median(lines.FULL, counter, rtt_us=rtt) for rtt in (50_000, 10_000))
            if far is not None and near is not None:
                self._most(f"1,000 receives, (time at 50 ms − time at 10 ms) / 40 ms, {text}", (far - near) / 40, most,
                           round_to)

    def _walk_times(self):
        for rtt_us, most in ((1000, 40), (10_000, 70)):
            self._most(f"1,000 receives, walk at {rtt_us // 1000} ms", self._median(lines.FULL, "walk_ms", rtt_us=rtt_us),
                       most, seconds_text)

    def _ratio(self, other, rtt_us, cell=BASE):
        """How much longer the other takes, and whether its time is predicted; None: not both were measured."""
        own = self._median(lines.FULL, "walk_ms", cell, rtt_us=rtt_us)
        measurement = self._results.get(other, cell, rtt_us=rtt_us)
        if own is None or measurement is None:
            return None
        theirs = measurement.median("walk_ms") or measurement.predicted_ms
        return (theirs / own, measurement.predicted) if theirs else None

    def _faster(self, what, other, rtt_us, least, cell=BASE, further_note=""):
        found = self._ratio(other, rtt_us, cell)
        if found is None:
            return
        ratio, predicted = found
        notes = ["the other's time is predicted"] * predicted + [further_note] * bool(further_note)
        self._add(what, f"≥ {least}×", f"{round_to(ratio)}×", ratio >= least, "; ".join(notes))

    def _against_gdb(self):
        for rtt_us, least in ((0, 80), (1000, 500), (10_000, 2000)):
            # GDB caches no heap unless it is told to: what a user who tells it so would see stands beside.
            cached = [found[0] for other in lines.GDB_CACHED if (found := self._ratio(other, rtt_us))]
            note = f"{round_to(min(cached))}× where its user caches memory by hand" if cached else ""
            self._faster(f"1,000 receives, against GDB as MQD host at {rtt_us // 1000} ms", lines.GDB, rtt_us, least,
                         further_note=note)

    def _against_pages(self):
        for rtt_us, least in ((0, 2), (1000, 6), (10_000, 25)):
            self._faster(f"1,000 receives, against a plain 4 KiB page cache at {rtt_us // 1000} ms", lines.PAGE, rtt_us,
                         least)

    def _bulk(self):
        for rtt_us in (0, 1000, 10_000):
            own = self._median(lines.FULL, "walk_ms", n=100_000, rtt_us=rtt_us)
            limit = self._median(lines.LIMIT, "walk_ms", n=100_000, rtt_us=rtt_us)
            if own and limit:
                self._most(f"100,000 receives at {rtt_us // 1000} ms, walk / pages in bulk", own / limit, 1.3,
                           lambda value: f"{round_to(value)}×")

    def _second_dump(self):
        self._most("1,000 receives, second dump after the process ran on: round trips of the walk",
                   self._median(lines.SECOND, "walk_round_trips"), 4, round_to)

    def _random_nodes(self):
        for mebibytes, most in ((1, 5), (4, 9), (64, 60)):
            cell = replace(BASE, filler="recorder", rtt_us=10_000, shuffled=mebibytes << 20)
            self._most(f"1,000 random nodes in {mebibytes} MiB at 10 ms, round trips of the walk",
                       self._median(lines.FULL, "walk_round_trips", cell), most, round_to)

    def _slow_links(self):
        for rate, text, n in ((1_250_000, "10 Mbit/s", 1000), (125_000, "1 Mbit/s", 1000), (11_520, "115,200 baud", 10)):
            bytes_read = self._median(lines.FULL, "walk_bytes", n=n, bytes_per_s=rate)
            # The page cache reads the pages looked at and no others, the same over every link.
            of_pages = self._median(lines.PAGE, "walk_bytes", n=n)
            if bytes_read is not None and of_pages:
                self._most(f"{n:,} receives at {text}, bytes of the walk / those of the pages looked at, as they are sent",
                           bytes_read / of_pages, 1 if rate == 11_520 else 1.5, lambda value: f"{round_to(value)}×")

    def _emulated(self):
        self._faster("QEMU user, Open MPI of s390x, 1,000 receives at 10 ms, against a page cache", lines.PAGE, 10_000, 5,
                     replace(BASE, arch="s390x"))

    def _many_ranks(self):
        one, many = (self._median(lines.FULL, "wall_ms", n=10, rtt_us=50_000, ranks=ranks) for ranks in (1, 16))
        if one and many:
            self._most("16 ranks of 10 receives at 50 ms, against one", many / one, 1.5,
                       lambda value: f"{round_to(value)}×")
        one, many = (self._median(lines.FULL, "wall_ms", rtt_us=50_000, ranks=ranks) for ranks in (1, 16))
        far = self._median(lines.FULL, "far_cpu_ms", rtt_us=50_000, ranks=16)
        processors = self._results.context.get("num_cpus")
        if one and many and far and processors:
            self._most("16 ranks of 1,000 receives at 50 ms, beyond one: against the processor time of stubs and links",
                       (many - one) / (far / processors), 1.3, lambda value: f"{round_to(value)}×")

    def _host(self):
        for rtt_us in (1000, 0):
            cpu, peak, touched = (self._median(lines.FULL, name, n=100_000, rtt_us=rtt_us)
                                  for name in ("cpu_ms", "peak_bytes", "pages_touched"))
            if cpu is None:
                continue
            self._most("100,000 receives, processor time of the host", cpu, 1000, seconds_text)
            if peak and touched:
                self._most("100,000 receives, memory of the host / bytes of the pages looked at",
                           peak / (touched * PAGE_BYTES), 3, lambda value: f"{round_to(value)}×")
            return

    def _marginal(self):
        def each(few, many):
            cells = [replace(BASE, filler="recorder", n=n) for n in (few, many)]
            times = [self._median(lines.FULL, "walk_ms", cell) for cell in cells]
            return None if None in times else (times[1] - times[0]) / (many - few)

        small, large = each(1000, 10_000), each(100_000, 1_000_000)
        if small and large:
            self._most("time for one operation more, 100,000 to 1,000,000 against 1,000 to 10,000", large / small, 1.2,
                       lambda value: f"{round_to(value)}×")

    def _micro_benchmarks(self):
        for name, counter, what, most, text in MICRO:
            value = next((value for (full_name, each), value in self._micro.items()
                          if full_name.startswith(name) and each == counter), None)
            self._most(what, value, most, text)

    def _stopped(self):
        self._most("1,000 receives at 1 ms, process held", self._median(lines.FULL, "stopped_ms"), 40, seconds_text)


def nanoseconds(value):
    return seconds_text(value / 1e6) if value >= 1000 else f"{round_to(value)} ns"


def mebibytes(value):
    return f"{round_to(value)} MiB"


# Benchmark's name (how it begins), its counter, what that is, what to stay below, how it is written.
MICRO = [
    ("walk_open_mpi/warm/100000", "worker_ns_per_fetch", "cached fetch in the worker, debug DLL included", 30, nanoseconds),
    ("type_look_up/cold", "time", "type look-up in 100 MB of DWARF, never seen", 3e9, nanoseconds),
    ("type_look_up/names_kept", "time", "type look-up in 100 MB of DWARF, index warm, a type nobody asked for yet", 10e6,
     nanoseconds),
    ("type_look_up/layouts_kept", "time", "type look-up in 100 MB of DWARF, index warm, a type asked for before", 10e6,
     nanoseconds),
    ("first_dump/64", "time", "64 ranks of an mpirun found and dumped, files never seen", 3e9, nanoseconds),
    ("first_dump/64", "stopped_ms", "64 ranks, files never seen, the longest stop of one", 150, seconds_text),
    ("dump_again/64", "time", "64 ranks of an mpirun found and dumped again", 3e9, nanoseconds),
    ("dump_again/64", "stopped_ms", "64 ranks dumped again, the longest stop of one", 150, seconds_text),
    ("dump_again/16", "stopped_ms", "16 ranks dumped each minute, the stops of one in a minute", 300, seconds_text),
    ("dump_crowd/100", "time", "1,000 ranks on 100 nodes, one dead and one silent: until the others are there", 10e9,
     nanoseconds),
    ("dump_crowd/100", "memory_mib", "1,000 ranks: memory of this computer", 286, mebibytes),
]
