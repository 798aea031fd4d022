#!/usr/bin/env python3
"""LLDB walking the recorder's list: a plain loop of its Python over the nodes of a linked list, each read whole, over
the remote protocol. LLDB keeps lines of memory that it read: 512 bytes unless told otherwise. A page is the best that it
has: it gives nothing of a longer line that goes beyond its mapping."""

import glob
import importlib.machinery
import importlib.util
import os
import sys
import time

import peer
import recorder_list


def expect(lldb, error, what):
    if not error.Success():
        raise ValueError(f"{what}: {error.GetCString()}")


def connect(lldb, debugger, target, arguments):
    error = lldb.SBError()
    if arguments.remote:
        process = target.ConnectRemote(debugger.GetListener(), f"connect://{arguments.remote}", "gdb-remote", error)
    else:
        process = target.Attach(lldb.SBAttachInfo(arguments.pid), error)
    expect(lldb, error, "connect")
    deadline = time.monotonic() + 60
    while process.GetState() != lldb.eStateStopped:
        if time.monotonic() > deadline or not process.IsValid():
            raise ValueError(f"the process is {debugger.StateAsCString(process.GetState())}, not stopped")
        event = lldb.SBEvent()
        debugger.GetListener().WaitForEvent(1, event)
    return process


def root_address(target):
    symbols = target.FindSymbols(recorder_list.ROOT_SYMBOL)
    if symbols.GetSize() == 0:
        raise ValueError(f"no symbol {recorder_list.ROOT_SYMBOL}")
    return symbols.GetContextAtIndex(0).GetSymbol().GetStartAddress().GetLoadAddress(target)


def reader(lldb, process):
    error = lldb.SBError()
    read_memory = process.ReadMemory

    def read(address, size):
        data = read_memory(address, size, error)
        if data is None or len(data) != size:
            raise ValueError(f"cannot read {size} bytes at {address:#x}: {error.GetCString()}")
        return data

    return read


def installed():
    """The directory of the LLVM whose program `lldb` is: /usr/lib/llvm-14, for example."""
    return os.path.dirname(os.path.dirname(os.path.realpath("/usr/bin/lldb")))


def load_lldb(root):
    """LLDB's module for this Python. Debian 12 links it to a file that only the development package brings, so that the
    library that is there is loaded as what it is: the module's other half. ImportError."""
    packages = glob.glob(os.path.join(root, "lib/python3*/*-packages"))
    library = os.path.join(root, "lib/liblldb.so.1")
    loader = importlib.machinery.ExtensionFileLoader("_lldb", library)
    native = importlib.util.module_from_spec(importlib.util.spec_from_loader("_lldb", loader))
    loader.exec_module(native)
    sys.modules["_lldb"] = native
    sys.path[:0] = packages
    return importlib.import_module("lldb")


def open_debugger(lldb, arguments):
    lldb.SBDebugger.Initialize()
    debugger = lldb.SBDebugger.Create()
    debugger.SetAsync(False)
    for setting, value in {"target.process.memory-cache-line-size": str(arguments.line),
                           "target.preload-symbols": "false",
                           "symbols.enable-external-lookup": "false"}.items():
        expect(lldb, lldb.SBDebugger.SetInternalVariable(setting, value, debugger.GetInstanceName()), setting)
    return debugger


def main():
    options = peer.parser(__doc__)
    options.add_argument("--line", type=int, default=4096, help="bytes that LLDB reads and keeps at once")
    options.add_argument("--llvm", default=installed(), help="where LLDB is installed")
    arguments = options.parse_args()
    try:
        lldb = load_lldb(arguments.llvm)
        answer = peer.Answer()
        debugger = open_debugger(lldb, arguments)
        target = debugger.CreateTarget(arguments.program)
        start = time.perf_counter()
        process = connect(lldb, debugger, target, arguments)
        walk_start = time.perf_counter()
        recorder_list.walk(reader(lldb, process), root_address(target), answer)
        walk_s = time.perf_counter() - walk_start
        expect(lldb, process.Detach(), "detach")
        total_s = time.perf_counter() - start
    except (ImportError, ValueError) as error:
        peer.leave(1, f"lldb_list: {error}")
    peer.report(arguments, "lldb_list", answer, walk_s, total_s, line=arguments.line)
    peer.leave(0)


if __name__ == "__main__":
    main()
