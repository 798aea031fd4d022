#!/usr/bin/env bash
# 64-bit little-endian ARM: Open MPI and its libraries, run by qemu-aarch64
exec "$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite bookworm "$1" arm64 libopenmpi3 -- libc6-dev linux-libc-dev libopenmpi-dev libhwloc-dev
