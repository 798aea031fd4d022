#!/usr/bin/env python3
"""make_report.py RESULTS.json -o PAGE.html [--plots DIRECTORY] [--trace FILE] [--micro FILE.json ...]

One self-contained page of the results of queue_walk_bench."""

import argparse
import json
import os
import sys
from html import escape

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lines  # noqa: E402
import page  # noqa: E402
import plots  # noqa: E402
import reach  # noqa: E402
from results import Results, micro_benchmarks  # noqa: E402
from svg import seconds_text  # noqa: E402
from waterfall import waterfall  # noqa: E402

BESIDE = ("Filled marks are medians with their quartiles, hollow ones were not run because they were predicted to take too "
          "long. The grey dashed line is the limit: the pages that the walk looks at, sent by the stub in one burst.")


def introduction(results):
    context = results.context
    when = escape(str(context.get("date", "")))
    machine = f"{escape(str(context.get('host_name', '?')))}, {context.get('num_cpus', '?')} processors"
    return (f"<h1>How long a queue walk takes</h1>\n<p class=soft>{when}, {machine}. Every contender ran on the same "
            "processes over the same links, in random order, and gave the same answer. The base case is a real Open MPI "
            "rank with 1,000 pending receives behind gdbserver and a link of 1 ms round trip. A round trip is added to "
            "each dump for the connection, which a relay in user space cannot hold back.</p>")


def trace_section(path):
    if not path:
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        drawn = waterfall(file)
    if drawn is None:
        return ""
    return page.section("Packets of one dump", f"1,000 receives at 10 ms, index warm, process never dumped. {drawn[1]}",
                        drawn[0])


def body(results, rows, trace):
    parts = [introduction(results), "<h2>Figures to reach</h2>", page.reach_table(rows)]
    sections = (
        ("Time over the number of operations", f"Real Open MPI. {BESIDE}", plots.over_operations(results, "openmpi")),
        ("The same, the recorder's list", "By mqbridge's own recorder and debug DLL, up to a million operations.",
         plots.over_operations(results, "recorder")),
        ("Walk over the round trip", "1,000 receives of Open MPI. A second dump has asked for most of the pages before the walk "
         "begins: they stand in the whole dump.", plots.over_round_trip(results)),
        ("Whole dump over the round trip", "From connecting to having detached.",
         plots.over_round_trip(results, "wall_ms")),
        ("Whole dump over the bandwidth", "", plots.over_bandwidth(results)),
        ("Walk over the layout", "At random in arenas of a given size.", plots.over_layout(results, 10_000)),
        ("The same at 1 ms", "", plots.over_layout(results, 1000)),
        ("Walk over stub and byte order", "The recorder's list, 1,000 operations, 1 ms round trip.", plots.over_platform(results)),
        ("Time / limit", "Whole dumps as multiples of the least that there is to do: connecting, attaching, the pages of the "
         "walk in one burst, detaching. ~ is predicted.",
         plots.limit_heat_map(results)),
        ("Over-read against time", "What reading more than is looked at costs, and brings.", plots.over_read(results)),
        ("How long the process was held", "Every run a mark; boxes from quartile to quartile.", plots.stopped(results)),
    )
    parts += [page.section(*one) for one in sections]
    parts.append(trace_section(trace))
    table = page.medians_table(results, plots.cell_text, seconds_text)
    parts.append(f"<details><summary>All medians</summary>{table}</details>")
    return "\n".join(parts)


def write_plots(results, directory):
    """The curves of docs/performance.md."""
    for name, picture in (("over_operations", plots.over_operations(results, "openmpi")),
                          ("over_round_trip", plots.over_round_trip(results, "wall_ms"))):
        if picture: # the run had something for it
            with open(os.path.join(directory, f"{name}.svg"), "w", encoding="utf-8") as file:
                file.write(page.standing_alone(picture))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    arguments.add_argument("results")
    arguments.add_argument("-o", "--output", required=True)
    arguments.add_argument("--plots", metavar="DIRECTORY", help="where to write the curves of docs/performance.md as SVG files")
    arguments.add_argument("--trace", help="of one dump (mqbridge --trace)")
    arguments.add_argument("--micro", action="append", default=[], help="JSON of a micro-benchmark (repeatable)")
    given = arguments.parse_args()
    try:
        results = Results.read(given.results)
        micro = {name: value for file in given.micro for name, value in micro_benchmarks(file).items()}
    except (OSError, json.JSONDecodeError) as error:
        return f"make_report.py: no results to draw: {error}\n" \
               "a run that was interrupted leaves a file without its end: ./dev bench again"
    rows = reach.Reach(results, micro).rows
    with open(given.output, "w", encoding="utf-8") as file:
        file.write(page.page("mqbridge: how long a queue walk takes", body(results, rows, given.trace)))
    if given.plots:
        write_plots(results, given.plots)
    for row in rows:
        note = f", {row.note}" if row.note else ""
        print(f"{'reached    ' if row.reached else 'NOT reached'}  {row.what}: {row.figure} (goal {row.goal}){note}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
