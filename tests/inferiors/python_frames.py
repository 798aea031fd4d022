"""Says where each of its threads is in Python, then stays there: python_frames.py FILE SCENARIO [SIGNAL], or --list.

FILE gets a JSON object. "threads": by the system's number of a thread its frames, innermost first, [file, function, line]
each, as sys._current_frames() has them. "objects": [address, bytes] of what the frames are made of, but for letters.
"""

# flake8: noqa: scenarios stand as they would in programs, and some of them must not be tidied.

import asyncio
import atexit
import bisect
import contextlib
import ctypes
import functools
import importlib.util
import itertools
import json
import operator
import os
import pickle
import re
import runpy
import signal
import sys
import tempfile
import threading
import time
import weakref

output = sys.argv[1]
scenarios = {}


def scenario(function):
    scenarios[function.__name__] = function
    return function


def frames_of(frame):
    frames = []
    while frame is not None:
        code = frame.f_code
        frames.append([code.co_filename, getattr(code, "co_qualname", code.co_name), frame.f_lineno])
        frame = frame.f_back
    return frames


def objects_of(frame):
    objects = []
    while frame is not None:
        code = frame.f_code
        table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
        objects += [[id(frame), 112], [id(code), 200]] + [[id(each), 40] for each in (code.co_filename, code.co_name, table)]
        if sys.version_info >= (3, 11):  # what the evaluator has of it
            objects.append([ctypes.c_void_p.from_address(id(frame) + 24).value, 80])
        frame = frame.f_back
    return objects


def say():
    numbers = {thread.ident: thread.native_id for thread in threading.enumerate()}
    own = threading.get_ident()
    frames = sys._current_frames()
    threads = {str(numbers[ident]): frames_of(frame)[ident == own :] for ident, frame in frames.items()}
    with open(output + ".part", "w") as file:
        json.dump({"threads": threads, "objects": objects_of(frames[own].f_back)}, file)
    os.rename(output + ".part", output)


def stay(*_, **__):
    # On one line: it is the line that was said. A stub that runs the program may wait for the signal.
    say(); "SIGNAL" in sys.argv and os.kill(os.getpid(), signal.SIGUSR1); time.sleep(100_000)


@scenario
def plain():
    stay()


@scenario
def recursion():
    def down(depth):
        if depth == 0:
            stay()
        down(depth - 1)

    down(60)


@scenario
def thirty_functions():
    def down(depth):
        return stay() if depth == 0 else down(depth - 1)

    down(26)


@scenario
def deep_recursion():
    sys.setrecursionlimit(5000)

    def even(depth):
        return stay() if depth == 0 else odd(depth - 1)

    def odd(depth):
        return even(depth - 1)

    even(1200)


@scenario
def recursion_through_c():
    def down(depth):
        return stay() if depth == 0 else max([1, 2], key=lambda _: down(depth - 1))

    down(8)


@scenario
def generator():
    def numbers():
        yield 1
        yield stay()

    for _ in numbers():
        pass


@scenario
def generator_of_generators():
    def inner():
        yield 1
        stay()
        yield 2

    def outer():
        yield 0
        yield from inner()

    list(x for x in outer())


@scenario
def generator_sent_to():
    def receiver():
        while True:
            if (yield) == "stay":
                stay()

    each = receiver()
    next(each)
    each.send("go")
    each.send("stay")


@scenario
def coroutines():
    async def leaf():
        await asyncio.sleep(0)
        stay()

    async def branch():
        await asyncio.gather(leaf())

    asyncio.run(branch())


@scenario
def asynchronous_generator():
    async def numbers():
        yield 1
        stay()
        yield 2

    async def consumer():
        async for _ in numbers():
            await asyncio.sleep(0)

    asyncio.run(consumer())


@scenario
def asynchronous_with():
    class Context:
        async def __aenter__(self):
            stay()

        async def __aexit__(self, *_):
            pass

    async def main():
        async with Context():
            pass

    asyncio.run(main())


@scenario
def decorated():
    def twice(function):
        @functools.wraps(function)
        def wrapper(*arguments):
            function(*arguments)
            return function(*arguments)

        return wrapper

    calls = []

    @twice
    def work():
        calls.append(1)
        if len(calls) == 2:
            stay()

    work()


@scenario
def cached():
    @functools.lru_cache(maxsize=None)
    def fibonacci(n):
        return stay() if n == 0 else fibonacci(n - 1)

    fibonacci(5)


@scenario
def methods():
    class Base:
        @classmethod
        def make(cls):
            return cls().run()

        def run(self):
            return self.value

        @property
        def value(self):
            return self.fixed()

        @staticmethod
        def fixed():
            stay()

    class Derived(Base):
        def run(self):
            return super().run()

    Derived.make()


@scenario
def special_methods():
    class Odd:
        def __call__(self):
            return self[1]

        def __getitem__(self, key):
            return self.missing

        def __getattr__(self, name):
            return self + 1

        def __add__(self, other):
            return f"{self}"

        def __format__(self, how):
            return str(len(self))

        def __len__(self):
            return bool(self == 1)

        def __eq__(self, other):
            stay()

    Odd()()


@scenario
def sorted_by_key():
    sorted([3, 1, 2], key=lambda number: stay() if number == 2 else number)


@scenario
def compared():
    class Item:
        def __lt__(self, other):
            stay()

    bisect.insort([Item()], Item())


@scenario
def mapped():
    list(filter(None, map(functools.partial(operator.call if hasattr(operator, "call") else lambda f: f(), stay), [])))
    functools.reduce(lambda a, b: stay(), [1, 2])


@scenario
def chained():
    list(itertools.chain.from_iterable(map(stay, [1])))


@scenario
def comprehensions():
    [[{key: stay() for key in range(1)} for _ in range(1)] for _ in range(1)]


@scenario
def executed_text():
    exec("def work():\n\n    stay()\n\nwork()", {"stay": stay})


@scenario
def evaluated_text():
    eval("(lambda: stay())()", {"stay": stay})


@scenario
def compiled_elsewhere():
    exec(compile("\n" * 1000 + "stay()", "/nowhere/файл-\U0001f40d.py", "exec"), {"stay": stay})


@scenario
def imported():
    with tempfile.TemporaryDirectory() as directory:
        with open(directory + "/stays_at_import.py", "w") as file:
            file.write("import __main__\n\n\nclass Body:\n    __main__.stay()\n")
        sys.path.insert(0, directory)
        import stays_at_import


@scenario
def run_by_path():
    with tempfile.TemporaryDirectory() as directory:
        with open(directory + "/program.py", "w") as file:
            file.write("\nstay()\n")
        runpy.run_path(directory + "/program.py", {"stay": stay})


@scenario
def context_manager():
    @contextlib.contextmanager
    def held():
        try:
            yield
        finally:
            stay()

    with contextlib.ExitStack() as stack:
        stack.enter_context(held())


@scenario
def handled_exception():
    try:
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise KeyError("x") from error
    except KeyError:
        stay()
    finally:
        pass


@scenario
def finally_block():
    def work():
        try:
            return 1
        finally:
            stay()

    work()


@scenario
def finalizer():
    class Last:
        def __del__(self):
            stay()

    last = Last()
    del last


@scenario
def weak_reference():
    class Thing:
        pass

    thing = Thing()
    reference = weakref.ref(thing, stay)
    del thing


@scenario
def threads():
    ready = threading.Barrier(4)
    lock = threading.Lock()
    lock.acquire()

    def waits_for_lock():
        ready.wait()
        with lock:
            pass

    def waits_for_event():
        ready.wait()
        threading.Event().wait()

    def sleeps():
        ready.wait()
        time.sleep(100_000)

    for target in (waits_for_lock, waits_for_event, sleeps):
        threading.Thread(target=target, daemon=True).start()
    ready.wait()
    time.sleep(0.3)
    stay()


@scenario
def not_the_main_thread():
    def late():
        time.sleep(0.3)  # the main thread waits by then
        stay()

    thread = threading.Thread(target=late)
    thread.start()
    thread.join()


@scenario
def signal_handler():
    signal.signal(signal.SIGUSR1, stay)
    os.kill(os.getpid(), signal.SIGUSR1)
    while True:
        pass


@scenario
def callback_from_c():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    numbers = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(numbers, 2, ctypes.sizeof(ctypes.c_int), compare(stay))


@scenario
def json_hook():
    json.loads('{"a": {"b": 1}}', object_hook=lambda value: stay() if "a" in value else value)


@scenario
def regular_expression():
    re.sub("b", lambda match: stay(), "abc")


class Pickled:
    def __reduce__(self):
        stay()


@scenario
def pickled():
    pickle.dumps([Pickled()])


@scenario
def traced():
    sys.settrace(lambda *_: None)
    plain()


@scenario
def profiled():
    sys.setprofile(lambda *_: None)
    plain()


@scenario
def long_names():
    name = "n" * 10_000
    exec(f"def {name}():\n  stay()\n{name}()", {"stay": stay})


@scenario
def other_scripts():
    exec("class Größe:\n def вперёд(self):\n  self.前へ()\n def 前へ(self):\n  𝒳()\ndef 𝒳():\n stay()\nGröße().вперёд()", {"stay": stay})


@scenario
def call_of_many_lines():
    def take(*values):
        return values

    take(
        1,
        take(
            2,
            stay(
                3,
            ),
        ),
        4,
    )


@scenario
def far_lines():
    exec("def work(x):\n  if x:\n" + "\n" * 300 + "    y = [\n" + "\n" * 200 + "      stay()]\nwork(1)", {"stay": stay})


@scenario
def long_function():
    lines = "".join(f"  x = {number} + x * {number}\n" for number in range(3000))
    exec(f"def work(x):\n{lines}  stay()\n{lines}\nwork(1)", {"stay": stay})


@scenario
def loop_back():
    def work():
        for turn in range(3):
            if turn == 2:
                stay()
            value = turn
            del value

    work()


@scenario
def class_body():
    class Outer:
        class Inner:
            stay()


@scenario
def metaclass():
    class Meta(type):
        def __call__(cls, *arguments):
            return super().__call__(*arguments)

        def __new__(mcs, name, bases, members):
            return super().__new__(mcs, name, bases, members)

    class Made(metaclass=Meta):
        def __init__(self):
            stay()

    Made()


if importlib.util.find_spec("numpy"):

    @scenario
    def called_by_numpy():
        import numpy

        numpy.apply_along_axis(lambda row: numpy.frompyfunc(stay, 1, 1)(row), 0, numpy.zeros((2, 2)))


@scenario
def at_exit():
    atexit.register(stay)


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print("\n".join(scenarios))
    else:
        scenarios[sys.argv[2]]()
