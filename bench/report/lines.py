"""How each contender is called and drawn, the same in every plot."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    contender: str
    text: str
    style: str  # class of the page's style sheet
    shape: str
    dashed: bool = False


LOOKS = [
    Look("mqbridge/cache:full/state:cold", "mqbridge: new build", "s-cold", "up"),
    Look("mqbridge/cache:full/state:warm", "mqbridge: new process", "s-warm", "circle"),
    Look("mqbridge/cache:full/state:second", "mqbridge: second dump", "s-second", "down"),
    Look("mqbridge/cache:page/state:warm", "plain 4 KiB page cache", "s-page", "square"),
    Look("mqbridge/cache:none/state:warm", "no cache", "s-none", "diamond"),
    Look("peer:gdb_mqd_host/cache:none", "GDB as MQD host", "s-gdb", "cross"),
    Look("peer:gdb_mqd_host/cache:gdb", "… with GDB's cache", "s-gdb", "square", True),
    Look("peer:gdb_mqd_host/cache:pages", "… with a page cache", "s-gdb", "diamond", True),
    Look("peer:gdb_list/cache:none", "GDB, plain list", "s-gdb", "cross"),
    Look("peer:gdb_list/cache:gdb", "… with GDB's cache", "s-gdb", "square", True),
    Look("peer:gdb_list/cache:pages", "… with a page cache", "s-gdb", "diamond", True),
    Look("peer:lldb_list", "LLDB, plain list", "s-lldb", "cross"),
    Look("node:gdb_mqd_host", "GDB on the node", "s-node", "up", True),
    Look("node:local_walk", "process_vm_readv, there", "s-node", "circle", True),
    Look("limit", "limit: pages in bulk", "s-limit", "none"),
]
BY_CONTENDER = {look.contender: look for look in LOOKS}
FULL = "mqbridge/cache:full/state:warm"
COLD = "mqbridge/cache:full/state:cold"
SECOND = "mqbridge/cache:full/state:second"
PAGE = "mqbridge/cache:page/state:warm"
UNCACHED = "mqbridge/cache:none/state:warm"
GDB = "peer:gdb_mqd_host/cache:none"
GDB_CACHED = ("peer:gdb_mqd_host/cache:gdb", "peer:gdb_mqd_host/cache:pages")
LIMIT = "limit"

# Columns of the heat map: what they are called, and whom they show, by what runs in the target.
COLUMNS = [("mqbridge: new build", (COLD,)), ("mqbridge: new process", (FULL,)), ("mqbridge: second dump", (SECOND,)),
           ("plain page cache", (PAGE,)), ("no cache", (UNCACHED,)),
           ("GDB", (GDB, "peer:gdb_list/cache:none")),
           ("GDB, page cache", ("peer:gdb_mqd_host/cache:pages", "peer:gdb_list/cache:pages")),
           ("LLDB", ("peer:lldb_list",))]


def known(contenders):
    """Those that have a look, in the order of the legend."""
    present = set(contenders)
    return [look for look in LOOKS if look.contender in present]
