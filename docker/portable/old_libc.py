#!/usr/bin/env python3
"""Makes a library that has the symbols of a library of glibc as they were in an older release, and no code: what is linked with it runs
with that release and all later ones.

  old_libc.py VERSION LIBRARY OUTPUT_DIRECTORY CC

Of each symbol the newest version is taken that is not newer than VERSION (2.28). Those that came later are missing: the linker names
them, and later_glibc.c has what is needed of them.
"""

import pathlib
import re
import subprocess
import sys

# Until 2.34 in librt, libutil, libanl and libresolv, with which nothing is linked here.
ELSEWHERE = re.compile(r"shm_|mq_|aio_|lio_|timer_|forkpty|openpty|log(in|out|wtmp)$|getaddrinfo_a|gai_(cancel|error|suspend)|_*(res|ns|dn|inet_net)_")
SYMBOL = re.compile(r"^\s*\d+:\s+(?P<address>[0-9a-f]+)\s+(?P<size>\S+)\s+(?P<type>\w+)\s+(?P<bind>\w+)\s+DEFAULT\s+(?P<index>\S+)\s+"
                    r"(?P<name>[^@\s]+)@@?GLIBC_(?P<version>[0-9.]+)", re.M)


def number(version):
    return tuple(int(part) for part in version.split("."))


def main():
    newest, library, directory, cc = sys.argv[1:]
    listed = subprocess.run(["readelf", "--wide", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout
    symbols = {}
    for found in SYMBOL.finditer(listed):
        if found["index"] in ("UND", "ABS") or ELSEWHERE.match(found["name"]) or number(found["version"]) > number(newest):
            continue
        best = symbols.get(found["name"])
        if best is None or number(found["version"]) > number(best["version"]):
            symbols[found["name"]] = found
    # Names of one object (environ, __environ) stay names of one: a program that has a copy of it has all of them.
    objects = {}
    for name, symbol in sorted(symbols.items()):
        kind = symbol["type"] if symbol["type"] in ("OBJECT", "TLS") else "FUNC"
        objects.setdefault((kind, symbol["address"] if kind != "FUNC" else name), []).append(symbol)
    code = []
    for (kind, _), names in objects.items():
        size = 1 if kind == "FUNC" else max(int(symbol["size"], 0) for symbol in names)
        code += [{"OBJECT": ".data", "TLS": '.section .tdata,"awT",@progbits', "FUNC": ".text"}[kind], ".balign 32"]
        for symbol in names:
            own = f"old_{symbol['name']}"
            code += [f".{'weak' if symbol['bind'] == 'WEAK' else 'globl'} {own}",
                     f".type {own}, %{ {'OBJECT': 'object', 'TLS': 'tls_object', 'FUNC': 'function'}[kind] }", f".size {own}, {size}",
                     f".symver {own}, {symbol['name']}@@GLIBC_{symbol['version']}, remove", f"{own}:"]
        code += [f".skip {size}"]
    versions = sorted({symbol["version"] for symbol in symbols.values()}, key=number)
    script = "".join(f"GLIBC_{version} {{ }};\n" for version in versions)
    into = pathlib.Path(directory)
    into.mkdir(parents=True, exist_ok=True)
    name = pathlib.Path(library).name
    (into / f"{name}.s").write_text("\n".join(code) + '\n.section .note.GNU-stack,"",%progbits\n')
    (into / f"{name}.map").write_text(script)
    subprocess.run([cc, "-nostdlib", "-shared", f"-Wl,-soname,{name}", f"-Wl,--version-script,{into / name}.map", "-o", str(into / name),
                    str(into / f"{name}.s")], check=True)


if __name__ == "__main__":
    main()
