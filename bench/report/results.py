"""The results of queue_walk_bench (Google Benchmark's JSON) as measurements that can be asked for by cell and contender."""

import json
from dataclasses import dataclass, field
from statistics import median

CELL_KEYS = ("n", "arch", "shuffled", "ranks", "rtt_us", "bytes_per_s")
# What Google Benchmark itself adds to a name.
OWN_WORDS = ("iterations", "repeats", "manual_time")


def quantile(samples, share):
    """The value below which that share of the samples lies, interpolated between the two nearest."""
    ordered = sorted(samples)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


@dataclass(frozen=True)
class Cell:
    filler: str
    n: int
    arch: str
    shuffled: int
    ranks: int
    rtt_us: int
    bytes_per_s: int


BASE = Cell("openmpi", 1000, "x86_64", 0, 1, 1000, 0)


@dataclass
class Measurement:
    """Of one contender in one cell: `runs` are the raw samples, each a dict of counters, with wall_ms."""
    cell: Cell
    contender: str
    runs: list = field(default_factory=list)
    predicted_ms: float = None
    error: str = None

    @property
    def predicted(self):
        return not self.runs and self.predicted_ms is not None

    def samples(self, counter):
        return [run[counter] for run in self.runs if counter in run]

    def median(self, counter):
        """None: the contender does not tell, or was not run."""
        samples = self.samples(counter)
        return median(samples) if samples else None

    def quartiles(self, counter):
        samples = self.samples(counter)
        return (quantile(samples, 0.25), quantile(samples, 0.75)) if samples else None


def parse_name(name):
    """The cell and the contender of a benchmark's name; None for one of another program."""
    words = [word for word in name.split("/") if word.split(":")[0] not in OWN_WORDS]
    values = dict(word.split(":", 1) for word in words[1:len(CELL_KEYS) + 1] if ":" in word)
    if tuple(values) != CELL_KEYS or len(words) < len(CELL_KEYS) + 2:
        return None
    numbers = {key: value if key == "arch" else int(value) for key, value in values.items()}
    return Cell(words[0], **numbers), "/".join(words[len(CELL_KEYS) + 1:])


class Results:
    def __init__(self, document):
        self.context = document.get("context", {})
        self._all = {}
        for entry in document.get("benchmarks", []):
            key = parse_name(entry["name"])
            if key is not None and entry.get("run_type") == "iteration":
                self._add(self._all.setdefault(key, Measurement(*key)), entry)

    @staticmethod
    def _add(measurement, entry):
        if entry.get("error_occurred"):
            measurement.error = entry.get("error_message", "failed")
        elif entry.get("label") == "predicted":
            measurement.predicted_ms = entry["real_time"]
        else:
            counters = {name: value for name, value in entry.items() if isinstance(value, (int, float))}
            measurement.runs.append(counters | {"wall_ms": entry["real_time"]})

    @classmethod
    def read(cls, path):
        with open(path, encoding="utf-8") as file:
            return cls(json.load(file))

    def get(self, contender, cell=BASE, **changes):
        """None: there is no such measurement."""
        values = {name: getattr(cell, name) for name in Cell.__dataclass_fields__} | changes
        return self._all.get((Cell(**values), contender))

    def cells(self):
        return list(dict.fromkeys(cell for cell, _ in self._all))

    def contenders(self, cells=None):
        wanted = None if cells is None else set(cells)
        return list(dict.fromkeys(name for cell, name in self._all if wanted is None or cell in wanted))

    def __iter__(self):
        return iter(self._all.values())


def micro_benchmarks(path):
    """(Name, counter) -> the median of the repeats, of a Google Benchmark program; counter "time" is nanoseconds."""
    with open(path, encoding="utf-8") as file:
        entries = json.load(file).get("benchmarks", [])
    scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    values = {}
    for entry in entries:
        if entry.get("run_type", "iteration") != "iteration" or entry.get("error_occurred"):
            continue
        counters = {name: value for name, value in entry.items() if isinstance(value, (int, float))}
        counters["time"] = entry["real_time"] * scale[entry["time_unit"]]
        for counter, value in counters.items():
            values.setdefault((entry["name"], counter), []).append(value)
    return {key: median(found) for key, found in values.items()}
