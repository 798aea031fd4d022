#!/usr/bin/env bash
# 64-bit little-endian POWER: Open MPI and its libraries, run by qemu-ppc64le
exec "$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite bookworm "$1" ppc64el libopenmpi3 -- libc6-dev linux-libc-dev libopenmpi-dev libhwloc-dev
