"""A GDB set up by somebody who knows it: nothing is read over the link that lies on this machine, and its memory is
cached as far as is asked for."""

import peer


def parser(description):
    """The options that every peer inside of GDB has."""
    options = peer.parser(description)
    options.add_argument("--cache", choices=("none", "gdb", "pages"), default="none")
    options.add_argument("--types", action="append", default=[], metavar="FILE",
                         help="a type carrier (mqbridge types make), where the MPI library is stripped")
    options.add_argument("--library", action="append", default=[], metavar="NAME",
                         help="a library whose symbols are needed, for example libmpi")
    options.add_argument("--gdb", default="gdb", help="the program")
    return options


def run(module, arguments):
    """Becomes a GDB that runs main() of `module`."""
    peer.run_inside([arguments.gdb, "-nx", "-batch", "-ex", "python {script}"], module, arguments)


def prepare(gdb, arguments):
    """All that can be done before connecting."""
    for command in ("set confirm off", "set pagination off", "set sysroot /", "set auto-solib-add off",
                    "set trust-readonly-sections on", "set remotetimeout 60", "set may-call-functions off"):
        gdb.execute(command)
    if arguments.cache == "gdb":
        # 8 KiB is the longest line that gdbserver 13 sends in one reply.
        for command in ("mem 0 0 rw cache", "set dcache line-size 8192", "set dcache size 65536"):
            gdb.execute(command)
    gdb.execute(f"file {arguments.program}")


def connect(gdb, arguments):
    if arguments.remote:
        gdb.execute(f"target remote {arguments.remote}")
    else:
        gdb.execute(f"attach {arguments.pid}")
    for library in arguments.library:
        gdb.execute(f"sharedlibrary {library}")
    for file in arguments.types:
        gdb.execute(f"add-symbol-file {file}")


def reader(gdb, cache):
    """What reads `size` bytes at `address`, in the grade asked for. Raises gdb.MemoryError."""
    read_memory = gdb.selected_inferior().read_memory

    def read(address, size):
        return read_memory(address, size).tobytes()

    if cache != "pages":
        return read
    pages = {}

    def read_pages(address, size):
        start = address & 0xFFF
        page = pages.get(address - start)
        if page is None:
            try:
                page = pages[address - start] = read(address - start, 4096)
            except gdb.MemoryError:
                return read(address, size)
        if start + size <= 4096:
            return page[start:start + size]
        return page[start:] + read_pages(address - start + 4096, start + size - 4096)

    return read_pages
