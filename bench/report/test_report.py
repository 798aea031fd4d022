#!/usr/bin/env python3
"""Tests of the report, on results made here as Google Benchmark writes them."""

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import lines  # noqa: E402
import plots  # noqa: E402
import reach  # noqa: E402
from results import BASE, Results, micro_benchmarks, parse_name, quantile  # noqa: E402
from svg import LinearScale, LogScale, count_text, round_to, seconds_text  # noqa: E402
from waterfall import exchanges, kind_of, waterfall  # noqa: E402


def name_of(cell, contender):
    return (f"{cell.filler}/n:{cell.n}/arch:{cell.arch}/shuffled:{cell.shuffled}/ranks:{cell.ranks}/rtt_us:{cell.rtt_us}/"
            f"bytes_per_s:{cell.bytes_per_s}/{contender}")


def runs(cell, contender, times, **counters):
    """Entries of a benchmark: wall times in milliseconds, the walk half of them."""
    name = name_of(cell, contender) + "/iterations:1/repeats:3/manual_time"
    entries = [{"name": name, "run_type": "iteration", "real_time": time, "time_unit": "ms", "walk_ms": time / 2} | counters
               for time in times]
    return entries + [{"name": name + "_median", "run_type": "aggregate", "real_time": 1e9, "time_unit": "ms"}]


def predicted(cell, contender, time):
    return [{"name": name_of(cell, contender) + "/iterations:1/manual_time", "run_type": "iteration", "real_time": time,
             "time_unit": "ms", "label": "predicted"}]


def failed(cell, contender, message):
    return [{"name": name_of(cell, contender), "run_type": "iteration", "error_occurred": True, "error_message": message}]


def results(*groups):
    return Results({"context": {"host_name": "<here>"}, "benchmarks": [entry for group in groups for entry in group]})


def marks(picture):
    """Drawn marks by style: the whole picture must be well-formed."""
    tree = ElementTree.fromstring(picture)
    return [element.get("class") for element in tree.iter() if (element.get("class") or "").startswith("mark")]


def sample():
    near, far = replace(BASE, rtt_us=0), replace(BASE, rtt_us=10_000)
    few, many = replace(BASE, n=10), replace(BASE, n=100_000)
    return results(
        *(runs(cell, lines.FULL, [40, 44, 60], pages_read=300, pages_touched=200, stopped_ms=30, walk_round_trips=4)
          for cell in (BASE, near, far, few, many)),
        *(runs(cell, lines.LIMIT, [10, 10, 10]) for cell in (BASE, near, far, many)),
        runs(BASE, lines.PAGE, [600, 610, 620], stopped_ms=500), runs(near, lines.PAGE, [100, 110, 120]),
        runs(near, lines.GDB, [2000, 2000, 2000]), runs(near, lines.GDB_CACHED[1], [440, 440, 440]),
        predicted(BASE, lines.GDB, 28_000), predicted(far, lines.GDB, 280_000))


class ResultsTest(unittest.TestCase):
    def test_a_name_is_a_cell_and_a_contender(self):
        cell, contender = parse_name(name_of(BASE, lines.FULL) + "/iterations:1/repeats:20/manual_time")
        self.assertEqual(cell, BASE)
        self.assertEqual(contender, lines.FULL)

    def test_names_of_other_programs_are_none(self):
        for name in ("decode_reply/64", "", "openmpi/n:10/mqbridge", "openmpi/n:1/arch:x/shuffled:0/ranks:1/rtt_us:0"):
            self.assertIsNone(parse_name(name), name)

    def test_medians_and_quartiles_are_of_the_runs(self):
        measurement = results(runs(BASE, lines.FULL, [1, 2, 10])).get(lines.FULL)
        self.assertEqual(measurement.median("wall_ms"), 2)
        self.assertEqual(measurement.quartiles("wall_ms"), (1.5, 6))
        self.assertIsNone(measurement.median("cpu_ms"))

    def test_a_quantile_lies_between_samples(self):
        for samples, share, value in (([3], 0.9, 3), ([1, 2], 0.5, 1.5), ([4, 1, 3, 2, 5], 0.25, 2), ([1, 2, 3], 1, 3)):
            self.assertEqual(quantile(samples, share), value)

    def test_what_failed_has_no_time(self):
        measurement = results(failed(BASE, lines.FULL, "no such target")).get(lines.FULL)
        self.assertEqual(measurement.error, "no such target")
        self.assertIsNone(plots.time_of(measurement))

    def test_micro_benchmarks_have_times_and_counters(self):
        entries = [{"name": "fetch/16", "real_time": 2, "time_unit": "us", "worker_ns": 20},
                   {"name": "look_up", "real_time": 3, "time_unit": "ms"},
                   {"name": "look_up", "real_time": 9, "time_unit": "ms", "error_occurred": True},
                   {"name": "look_up_mean", "real_time": 9, "time_unit": "ms", "run_type": "aggregate"}]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"benchmarks": entries}, file)
            file.flush()
            micro = micro_benchmarks(file.name)
        self.assertEqual(micro["fetch/16", "time"], 2000)
        self.assertEqual(micro["fetch/16", "worker_ns"], 20)
        self.assertEqual(micro["look_up", "time"], 3e6)
        self.assertNotIn("look_up_mean", {name for name, _ in micro})


class SvgTest(unittest.TestCase):
    def test_times_and_counts_as_people_say_them(self):
        for ms, text in ((0.025, "25 µs"), (1, "1 ms"), (47.25, "47.2 ms"), (999.99, "1 s"), (28_000, "28 s"),
                         (280_000, "4.67 min"), (7.2e6, "2 h")):
            self.assertEqual(seconds_text(ms), text)
        self.assertEqual([count_text(value) for value in (10, 1000, 100_000, 1e6)], ["10", "1k", "100k", "1M"])
        self.assertEqual([round_to(value) for value in (0, 100, 0.123456, 1234)], ["0", "100", "0.123", "1,234"])

    def test_a_decade_is_as_long_as_the_next(self):
        scale = LogScale([2, 500], 0, 300, str)
        self.assertEqual([scale(value) for value in (1, 10, 100, 1000)], [0, 100, 200, 300])
        self.assertEqual(len(scale.ticks()), 4)

    def test_a_linear_axis_ends_beyond_the_highest(self):
        for high in (0.7, 2, 3.3, 48, 1000):
            scale = LinearScale(high, 0, 100, str)
            self.assertLessEqual(scale(high), 100)
            self.assertGreaterEqual(len(scale.ticks()), 4)


class PlotsTest(unittest.TestCase):
    def test_every_measured_cell_has_its_mark(self):
        drawn = marks(plots.over_round_trip(sample()))
        self.assertEqual(sum("s-warm" in style for style in drawn), 3 + 1)  # and the legend's

    def test_what_was_predicted_is_hollow(self):
        drawn = marks(plots.over_round_trip(sample()))
        self.assertEqual(sum("s-gdb" in style and "hollow" in style for style in drawn), 2)
        self.assertFalse(any("s-warm" in style and "hollow" in style for style in drawn))

    def test_pictures_of_nothing_are_none(self):
        empty = results()
        for plot in (lambda r: plots.over_operations(r, "openmpi"), plots.over_round_trip, plots.over_bandwidth,
                     lambda r: plots.over_layout(r, 1000), plots.over_platform, plots.limit_heat_map, plots.over_read,
                     plots.stopped):
            self.assertIsNone(plot(empty))

    def test_an_axis_varies_alone(self):
        cells = plots.along(sample(), BASE, rtt_us=None)
        self.assertEqual(sorted(cell.rtt_us for cell in cells), [0, 1000, 10_000])
        self.assertEqual({cell.n for cell in cells}, {1000})

    def test_the_heat_map_divides_by_the_limit(self):
        picture = plots.limit_heat_map(sample())
        self.assertIn(">4.4×<", picture)
        self.assertIn(">~2,800×<", picture)

    def test_the_process_is_held_as_long_as_each_run_says(self):
        picture = plots.stopped(sample())
        self.assertEqual(sum("s-page" in style for style in marks(picture)), 3)

    def test_over_read_is_pages_a_page(self):
        self.assertIn("1.50 pages a page", plots.over_read(sample()))


MICRO = {("walk_open_mpi/warm/100000", "time"): 7e7, ("walk_open_mpi/warm/100000", "worker_ns_per_fetch"): 25.0,
         ("type_look_up/cold/iterations:3", "time"): 4e9}


class ReachTest(unittest.TestCase):
    def rows(self):
        return {row.what: row for row in reach.Reach(sample(), MICRO).rows}

    def test_a_ratio_is_reached_or_not(self):
        rows = self.rows()
        row = rows["1,000 receives, against a plain 4 KiB page cache at 1 ms"]
        self.assertEqual((row.figure, row.reached), ("13.9×", True))
        row = rows["1,000 receives, against GDB as MQD host at 0 ms"]
        self.assertEqual((row.figure, row.reached), ("45.5×", False))

    def test_a_predicted_time_is_named_so(self):
        self.assertIn("predicted", self.rows()["1,000 receives, against GDB as MQD host at 1 ms"].note)

    def test_a_gdb_that_caches_stands_beside_the_plain_one(self):
        self.assertEqual(self.rows()["1,000 receives, against GDB as MQD host at 0 ms"].note,
                         "10× where its user caches memory by hand")

    def test_micro_benchmarks_are_rows(self):
        rows = self.rows()
        self.assertTrue(rows["cached fetch in the worker, debug DLL included"].reached)
        self.assertFalse(rows["type look-up in 100 MB of DWARF, never seen"].reached)

    def test_what_was_not_measured_is_no_row(self):
        self.assertFalse(any("MiB" in what for what in self.rows()))


TRACE = r"""
    0.000100 127.0.0.1:1 -> qSupported:multiprocess+
    0.010200 127.0.0.1:1 <- PacketSize=47ff
    0.010300 127.0.0.1:1 -> m7ffe0000,1000
    0.010310 127.0.0.1:1 -> m7fff0000,1000
    0.020400 127.0.0.1:1 <- 00000000
    0.020450 127.0.0.1:1 <- %Stop:T05
    0.020500 127.0.0.1:1 <- E01
    0.020600 127.0.0.1:1 -> D;1
"""


class WaterfallTest(unittest.TestCase):
    def test_answers_belong_to_requests_in_their_order(self):
        done = exchanges(io.StringIO(TRACE))
        self.assertEqual([one.request for one in done], ["qSupported:multiprocess+", "m7ffe0000,1000", "m7fff0000,1000"])
        self.assertAlmostEqual(done[2].answered - done[2].sent, 0.01019)

    def test_kinds_of_requests(self):
        for request, kind in (("m7f,10", "memory"), ("mabc,10", "memory"), ("x10,4", "memory"),
                              ("vFile:pread:5,1,2", "memory"), ("vFile:open:6d,0,0", "files and tables"),
                              ("qXfer:auxv:read::0,fff", "files and tables"), ("D;12", "stop and release"),
                              ("qSupported", "negotiation"), ("QStartNoAckMode", "negotiation")):
            self.assertEqual(kind_of(request)[1], kind, request)

    def test_garbage_is_no_picture(self):
        self.assertIsNone(waterfall(io.StringIO("nothing\n\x00\x01 -> \n")))

    def test_each_exchange_is_a_bar(self):
        picture, words = waterfall(io.StringIO(TRACE))
        bars = [e for e in ElementTree.fromstring(picture).iter() if (e.get("class") or "").startswith("fill") and len(e)]
        self.assertEqual(len(bars), 3)
        self.assertTrue(words.startswith("3 requests"))


class PageTest(unittest.TestCase):
    def test_the_page_is_one_file_that_asks_for_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            source, trace, out = (os.path.join(directory, name) for name in ("r.json", "trace", "page.html"))
            entries = runs(BASE, lines.FULL, [40, 44, 60]) + runs(replace(BASE, rtt_us=0), lines.FULL, [4, 5, 6])
            with open(source, "w", encoding="utf-8") as file:
                json.dump({"context": {"host_name": "<script>"}, "benchmarks": entries}, file)
            with open(trace, "w", encoding="utf-8") as file:
                file.write(TRACE)
            made = subprocess.run([sys.executable, os.path.join(HERE, "make_report.py"), source, "-o", out, "--trace",
                                   trace, "--plots", directory], capture_output=True, text=True, check=True)
            with open(out, encoding="utf-8") as file:
                text = file.read()
            pictures = [file for file in os.listdir(directory) if file.endswith(".svg")]
            plot = ElementTree.parse(os.path.join(directory, "over_round_trip.svg")).getroot()
        self.assertEqual(pictures, ["over_round_trip.svg"])
        self.assertEqual(plot.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn("--c: var", plot.findtext("{http://www.w3.org/2000/svg}style"))
        self.assertIn("reached", made.stdout)
        self.assertNotRegex(text, r"<script|https?://|src=|@import|url\(")
        self.assertIn("&lt;script&gt;", text)
        self.assertEqual(len(re.findall("<svg", text)), 3)  # two over the round trip, one of the packets


if __name__ == "__main__":
    unittest.main()
