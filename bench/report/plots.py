"""The plots of the page, each from the results alone; None where a run has nothing for it."""

from dataclasses import replace

import lines
from results import BASE
from svg import (Chart, LinearScale, LogScale, OrdinalScale, count_text, decade_text, marker, round_to,
                 seconds_text)

RATES = {11520: "115,200 baud", 125000: "1 Mbit/s", 1250000: "10 Mbit/s", 125000000: "1 Gbit/s", 0: "unlimited"}

FILLERS = {"openmpi": "of Open MPI", "ucx": "of Open MPI over UCX", "mpich": "of MPICH", "unexpected": "unexpected messages of Open MPI", "recorder": "of the recorder"}


def rtt_text(rtt_us):
    return "0" if rtt_us == 0 else f"{round_to(rtt_us / 1000)} ms"


def shuffled_text(shuffled):
    return f"random in {shuffled >> 20} MiB" if shuffled else "contiguous"


def cell_text(cell):
    parts = [f"{count_text(cell.n)} {FILLERS.get(cell.filler, cell.filler)}", rtt_text(cell.rtt_us)]
    if cell.bytes_per_s:
        parts.append(RATES.get(cell.bytes_per_s, f"{cell.bytes_per_s} B/s"))
    if cell.shuffled:
        parts.append(shuffled_text(cell.shuffled))
    if cell.arch != "x86_64":
        parts.append(f"{cell.arch}, QEMU")
    if cell.ranks > 1:
        parts.append(f"{cell.ranks} ranks")
    return ", ".join(parts)


def time_of(measurement, counter="walk_ms"):
    """The median; what was not run but predicted is known of the whole dump only."""
    return measurement.median(counter) or (measurement.predicted_ms if measurement.predicted else None)


def mark_title(look, measurement, value):
    kind = "predicted" if measurement.predicted else f"median of {len(measurement.runs)}"
    return f"{look.text}: {seconds_text(value)} ({kind}), {cell_text(measurement.cell)}"


def time_over(results, title, cells, axis, x_label, x_scale, counter="walk_ms"):
    """Lines of time over one axis. `axis`: a cell's value on it."""
    looks = lines.known(results.contenders(cells))
    found = [(look, [m for m in (results.get(look.contender, cell) for cell in cells) if m and time_of(m, counter)])
             for look in looks]
    values = [time_of(m, counter) for _, ms in found for m in ms]
    if len(cells) < 2 or not values:
        return None
    y_label = "time of the walk" if counter == "walk_ms" else "time of the whole dump"
    chart = Chart(title, x_label, y_label)
    x = x_scale(chart)
    y = LogScale(values, chart.bottom, chart.top, decade_text)
    chart.y_axis(y)
    chart.x_axis(x)
    for look, measurements in found:
        if not measurements:
            continue
        points = [(x(axis(m.cell)), y(time_of(m, counter))) for m in measurements]
        chart.line(points, look.style, look.dashed or look.contender == lines.LIMIT)
        for m, point in zip(measurements, points):
            draw_point(chart, look, m, point, y, counter)
        chart.legend(look.text, look.style, look.shape, look.dashed or look.contender == lines.LIMIT)
    return str(chart)


def draw_point(chart, look, measurement, point, y, counter):
    quartiles = measurement.quartiles(counter)
    if quartiles:
        chart.whisker(point[0], y(quartiles[0]), y(quartiles[1]), look.style)
    shape = "circle" if look.shape == "none" else look.shape
    title = mark_title(look, measurement, time_of(measurement, counter))
    chart.add(marker(shape, *point, look.style, title, hollow=measurement.predicted))


def along(results, base, **free):
    """Cells that differ from `base` in the named fields only, which must be among the given values (None: any)."""
    def fits(cell):
        return replace(cell, **{name: getattr(base, name) for name in free}) == base and all(
            values is None or getattr(cell, name) in values for name, values in free.items())
    return [cell for cell in results.cells() if fits(cell)]


def over_operations(results, filler):
    cells = sorted(along(results, replace(BASE, filler=filler), n=None), key=lambda cell: cell.n)
    return time_over(results, "Time over the number of operations", cells, lambda cell: cell.n,
                     "pending receives (1 ms round trip)",
                     lambda chart: LogScale([cell.n for cell in cells], chart.left, chart.right, count_text))


def over_round_trip(results, counter="walk_ms", n=1000):
    cells = sorted(along(results, replace(BASE, n=n), rtt_us=None), key=lambda cell: cell.rtt_us)
    return time_over(results, "Time over the round trip", cells, lambda cell: cell.rtt_us, "round trip of the link",
                     lambda chart: OrdinalScale([cell.rtt_us for cell in cells], chart.left, chart.right, rtt_text),
                     counter)


def over_bandwidth(results, n=1000):
    order = list(RATES)
    cells = sorted(along(results, replace(BASE, n=n), bytes_per_s=RATES),
                   key=lambda cell: order.index(cell.bytes_per_s))
    return time_over(results, "Time over the bandwidth", cells, lambda cell: cell.bytes_per_s,
                     f"bandwidth of the link, each way ({n:,} receives, 1 ms round trip)",
                     lambda chart: OrdinalScale([cell.bytes_per_s for cell in cells], chart.left, chart.right,
                                                RATES.get), "wall_ms")


def over_layout(results, rtt_us):
    cells = sorted(along(results, replace(BASE, filler="recorder", rtt_us=rtt_us), shuffled=None),
                   key=lambda cell: cell.shuffled)
    return time_over(results, "Time over the layout", cells, lambda cell: cell.shuffled,
                     f"where the 1,000 nodes lie ({rtt_text(rtt_us)} round trip)",
                     lambda chart: OrdinalScale([cell.shuffled for cell in cells], chart.left, chart.right,
                                                shuffled_text))


def over_platform(results):
    """Byte order and stub: the recorder's list by native gdbserver and by QEMU's stub of four machines."""
    orders = {"x86_64": "gdbserver\nx86_64, little", "arm": "QEMU\narm, little", "ppc": "QEMU\nppc, big",
              "aarch64": "QEMU\naarch64, little", "s390x": "QEMU\ns390x, big"}
    cells = sorted(along(results, replace(BASE, filler="recorder"), arch=orders),
                   key=lambda cell: list(orders).index(cell.arch))
    return time_over(results, "Time over stub and byte order", cells, lambda cell: cell.arch,
                     "",
                     lambda chart: OrdinalScale([cell.arch for cell in cells], chart.left, chart.right, orders.get))


def ratio_style(ratio):
    """One of seven steps, half a decade each: from as fast as can be to a thousand times slower."""
    for step, limit in enumerate((1.5, 3, 10, 30, 100, 1000)):
        if ratio < limit:
            return f"h{step}"
    return "h6"


def limit_heat_map(results):
    cells = [cell for cell in results.cells() if (limit := results.get(lines.LIMIT, cell)) and limit.median("wall_ms")]
    present = set(results.contenders(cells))
    columns = [column for column in lines.COLUMNS if present & set(column[1])]
    if not cells or not columns:
        return None
    row, left = 24, 286
    chart = Chart("Time as a multiple of the limit", "", "", height=124 + row * len(cells), right=34, left=left)
    width = (chart.right - left) / len(columns)
    top = chart.top + 104
    for column, (text, _) in enumerate(columns):
        x = left + (column + 0.5) * width
        chart.add(f'<text class="tick" transform="translate({x:.0f},{top - 8}) rotate(-38)">{text}</text>')
    for line, cell in enumerate(cells):
        y = top + line * row
        chart.text(left - 8, y + 16, cell_text(cell), anchor="end")
        limit = results.get(lines.LIMIT, cell).median("wall_ms")
        for column, (_, contenders) in enumerate(columns):
            measurement = next((m for name in contenders if (m := results.get(name, cell))), None)
            value = time_of(measurement, "wall_ms") if measurement else None
            if value:
                heat_cell(chart, left + column * width, y, width, row, value / limit, measurement.predicted)
    return str(chart)


def heat_cell(chart, x, y, width, height, ratio, predicted):
    style = ratio_style(ratio)
    chart.add(f'<rect class="heat {style}" x="{x + 1:.1f}" y="{y + 1:.1f}" width="{width - 2:.1f}" '
              f'height="{height - 2}" rx="3"/>')
    number = round_to(ratio, 2 if ratio < 10 else 3) if ratio < 10_000 else count_text(ratio)
    text = ("~" if predicted else "") + number + "×"
    chart.text(x + width / 2, y + height / 2 + 4, text, f"heat-text t{style[1]}")


def over_read(results):
    points = []
    for measurement in results:
        read, touched = measurement.median("pages_read"), measurement.median("pages_touched")
        look = lines.BY_CONTENDER.get(measurement.contender)
        if look and read and touched and measurement.contender.startswith("mqbridge/cache:full"):
            points.append((look, measurement, read / touched, measurement.median("walk_ms")))
    points = [point for point in points if point[3]]
    if not points:
        return None
    chart = Chart("Over-read against time", "pages read for each page looked at", "time of the walk")
    x = LinearScale(max(2, max(point[2] for point in points)), chart.left, chart.right, lambda v: f"{round_to(v)}×")
    y = LogScale([point[3] for point in points], chart.bottom, chart.top, decade_text)
    chart.y_axis(y)
    chart.x_axis(x, grid=True)
    for look, measurement, ratio, value in points:
        title = f"{mark_title(look, measurement, value)}: {ratio:.2f} pages a page"
        chart.add(marker(look.shape, x(ratio), y(value), look.style, title))
    for look in lines.known({look.contender for look, *_ in points}):
        chart.legend(look.text, look.style, look.shape)
    return str(chart)


def stopped(results):
    """Every run's own mark, and the box of the quartiles: how long the process was held."""
    found = [(look, results.get(look.contender).samples("stopped_ms"))
             for look in lines.known(results.contenders([BASE])) if results.get(look.contender)]
    found = [(look, samples) for look, samples in found if samples]
    if not found:
        return None
    row = 40
    chart = Chart("How long the process was held", "stopped_ms (1,000 receives, 1 ms round trip)", "",
                  height=TOP_OF_ROWS + row * len(found) + 60, right=20, left=210)
    x = LogScale([value for _, samples in found for value in samples], chart.left, chart.right, seconds_text)
    chart.x_axis(x, grid=True)
    for line, (look, samples) in enumerate(found):
        y = TOP_OF_ROWS + line * row + row / 2
        ordered = sorted(samples)
        low, middle, high = (ordered[round(share * (len(ordered) - 1))] for share in (0.25, 0.5, 0.75))
        chart.text(chart.left - 10, y + 4, look.text, anchor="end")
        chart.add(f'<rect class="box {look.style}" x="{x(low):.1f}" y="{y - 11:.1f}" '
                  f'width="{max(1.5, x(high) - x(low)):.1f}" height="22"/>')
        for i, value in enumerate(samples):
            chart.add(marker("circle", x(value), y + (i % 5 - 2) * 3, look.style + " faint", seconds_text(value)))
        chart.whisker(x(middle), y - 13, y + 13, look.style)
    return str(chart)


TOP_OF_ROWS = 14
