#!/usr/bin/env bash
# 32-bit little-endian ARM: Open MPI and its libraries, run by qemu-arm
exec "$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite bookworm "$1" armhf libopenmpi3 -- libc6-dev linux-libc-dev libopenmpi-dev libhwloc-dev
