#!/usr/bin/env python3
"""GDB as the host of a debug DLL: its Python loads the DLL by ctypes, and answers the MQD callbacks from GDB's own
symbols, types and (remote) memory. What somebody who has GDB and an MPI's debug DLL can put together.

Everything that can be known beforehand is kept: files are read here and not from the target, only the MPI's libraries
are looked at, and no symbol or type is looked up twice. Memory has three grades:

  none   GDB as it is: it caches stack and code, and reads the heap anew each time
  gdb    GDB's own cache made to serve all memory, by a memory region; few know of it
  pages  this script keeps pages of 4 KiB
"""

import ctypes
import itertools
import sys
import time

import gdb_session
import mqs
import peer

NULL = None
IMAGE, PROCESS = 1, 2  # what the DLL passes back


class GdbHost:
    """The callbacks. They never raise: ctypes would swallow it, and the DLL go on with rubbish."""

    def __init__(self, gdb, read, global_rank=0):
        self._gdb = gdb
        self._read = read
        self._rank = global_rank
        self._infos = {}
        self._types = {}  # by name: (handle, type), or None
        self._by_handle = {}
        self._fields = {}  # (handle, field) -> offset
        self._symbols = {}
        self._libc = ctypes.CDLL(None)
        self._libc.calloc.restype = ctypes.c_void_p
        self._libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        self._libc.free.argtypes = [ctypes.c_void_p]
        self._count = itertools.count()
        self.failure = None
        self.basic = mqs.BasicCallbacks(*self._bind(mqs.BasicCallbacks, {
            "malloc": lambda size: self._libc.calloc(1, size),
            "free": self._libc.free,
            "dprints": lambda text: None,
            "errorstring": lambda code: NULL,
            "put_image_info": self._put_info,
            "get_image_info": self._infos.get,
            "put_process_info": self._put_info,
            "get_process_info": self._infos.get,
        }))
        self.image = mqs.ImageCallbacks(*self._bind(mqs.ImageCallbacks, {
            "get_type_sizes": self._get_type_sizes,
            "find_function": lambda image, name, language, address: self._find(name, address),
            "find_symbol": lambda image, name, address: self._find(name, address),
            "find_type": self._find_type,
            "field_offset": self._field_offset,
            "sizeof": lambda handle: self._by_handle[handle].sizeof,
        }))
        fetch, convert = self._memory_callbacks()
        self.process = mqs.ProcessCallbacks(*self._bind(mqs.ProcessCallbacks, {
            "get_global_rank": lambda process: self._rank,
            "get_image": lambda process: IMAGE,
            "fetch_data": fetch,
            "target_to_host": convert,
        }))

    @staticmethod
    def _bind(table, functions):
        return [kind(functions[name]) for name, kind in table._fields_]

    def _put_info(self, key, info):
        self._infos[key] = info

    def _memory_callbacks(self):
        """The two that are called all the time, without a look-up of a name more than they need."""
        read, move, error, count = self._read, ctypes.memmove, self._gdb.MemoryError, self._count

        def fetch(process, address, size, into):
            try:
                move(into, read(address, size), size)
                next(count)
                return mqs.OK
            except error:
                return mqs.FAILED
            except Exception as unexpected:  # the connection
                self.failure = unexpected
                return mqs.FAILED

        def copy(process, value, into, size):
            move(into, value, size)

        def reverse(process, value, into, size):
            move(into, ctypes.string_at(value, size)[::-1], size)

        little = "little" in self._gdb.execute("show endian", to_string=True)
        return fetch, copy if little else reverse

    @property
    def fetches(self):
        """That went well. Asked for once, at the end."""
        return next(self._count)

    def _get_type_sizes(self, process, sizes):
        for name in ("short", "int", "long"):
            setattr(sizes.contents, name, self._gdb.lookup_type(name).sizeof)
        sizes.contents.long_long = self._gdb.lookup_type("long long").sizeof
        sizes.contents.pointer = self._gdb.lookup_type("char").pointer().sizeof

    def _find(self, name, address):
        if name not in self._symbols:
            try:
                self._symbols[name] = int(self._gdb.parse_and_eval("(unsigned long)&" + name.decode()))
            except (self._gdb.error, UnicodeDecodeError):
                self._symbols[name] = None
        found = self._symbols[name]
        if found is None:
            return mqs.NO_INFORMATION
        if address:
            address[0] = found
        return mqs.OK

    def _find_type(self, image, name, language):
        if name not in self._types:
            self._types[name] = self._look_up_type(name)
            if self._types[name] is not None:
                handle = len(self._by_handle) + 1
                self._by_handle[handle] = self._types[name]
                self._types[name] = handle
        return self._types[name] or NULL

    def _look_up_type(self, name):
        text = name.decode(errors="replace")
        for candidate in (text, "struct " + text, "union " + text):
            try:
                found = self._gdb.lookup_type(candidate).strip_typedefs()
                if found.sizeof > 0:
                    return found
            except self._gdb.error:
                pass
        return None

    def _field_offset(self, handle, name):
        key = (handle, name)
        if key not in self._fields:
            self._fields[key] = self._offset_in(self._by_handle[handle], name.decode(errors="replace"))
        return self._fields[key]

    def _offset_in(self, outer, name):
        for field in outer.fields():
            if field.name == name:
                return field.bitpos // 8
            inner = field.type.strip_typedefs()
            if not field.name and inner.code in (self._gdb.TYPE_CODE_STRUCT, self._gdb.TYPE_CODE_UNION):
                offset = self._offset_in(inner, name)
                if offset >= 0:
                    return field.bitpos // 8 + offset
        return -1


def expect(code, what, message=None):
    if code != mqs.OK:
        text = message.value.decode(errors="replace") if message is not None and message.value else ""
        raise RuntimeError(f"{what}: {code} {text}")


def set_up(dll, host):
    """What needs symbols and types, but no memory."""
    message = ctypes.c_char_p()
    dll.mqs_setup_basic_callbacks(host.basic)
    expect(dll.mqs_setup_image(IMAGE, host.image), "mqs_setup_image")
    expect(dll.mqs_image_has_queues(IMAGE, message), "mqs_image_has_queues", message)


def walk(dll, host):
    """All queues, in the order of the interface (MQD 4); what the DLL does not provide is left out."""
    answer = peer.Answer()
    message = ctypes.c_char_p()
    expect(dll.mqs_setup_process(PROCESS, host.process), "mqs_setup_process")
    expect(dll.mqs_process_has_queues(PROCESS, message), "mqs_process_has_queues", message)
    expect(dll.mqs_update_communicator_list(PROCESS), "mqs_update_communicator_list")
    code = dll.mqs_setup_communicator_iterator(PROCESS)
    communicator = mqs.Communicator()
    while code == mqs.OK and dll.mqs_get_communicator(PROCESS, communicator) == mqs.OK:
        for op_class in mqs.OP_CLASSES:
            walk_queue(dll, op_class, answer)
        code = dll.mqs_next_communicator(PROCESS)
    if code != mqs.END_OF_LIST or host.failure is not None:
        raise RuntimeError(f"the communicators ended with {code}: {host.failure}")
    return answer


def walk_queue(dll, op_class, answer):
    answer.begin_queue(op_class)
    code = dll.mqs_setup_operation_iterator(PROCESS, op_class)
    if code == mqs.NO_INFORMATION:
        return
    operation = mqs.Operation()
    next_operation, add = dll.mqs_next_operation, answer.add
    while code == mqs.OK:
        code = next_operation(PROCESS, operation)
        if code == mqs.OK:
            add(operation.buffer, operation.desired_tag, operation.tag_wild != 0)
    if code != mqs.END_OF_LIST:
        raise RuntimeError(f"a queue of class {op_class} ended with {code}")


def main():
    import gdb  # there is one inside of GDB only

    arguments = peer.arguments_inside()
    try:
        dll = mqs.load(arguments.dll)
        gdb_session.prepare(gdb, arguments)
        start = time.perf_counter()
        gdb_session.connect(gdb, arguments)
        host = GdbHost(gdb, gdb_session.reader(gdb, arguments.cache))
        set_up(dll, host)
        walk_start = time.perf_counter()
        answer = walk(dll, host)
        walk_s = time.perf_counter() - walk_start
        gdb.execute("detach")
        total_s = time.perf_counter() - start
    except (gdb.error, OSError, RuntimeError) as error:
        peer.leave(1, f"gdb_mqd_host: {error}")
    tool = "gdb_mqd_host" + ("" if arguments.remote else "_native")
    peer.report(arguments, tool, answer, walk_s, total_s, cache=arguments.cache, fetches=host.fetches)
    peer.leave(0)


def command_line():
    options = gdb_session.parser(__doc__)
    options.add_argument("--dll", required=True, help="the debug DLL")
    return gdb_session.run("gdb_mqd_host", options.parse_args())


if __name__ == "__main__":
    sys.exit(command_line())
