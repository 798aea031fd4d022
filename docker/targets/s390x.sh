#!/usr/bin/env bash
# 64-bit big-endian: Open MPI and its libraries, run by qemu-s390x
exec "$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite bookworm "$1" s390x libopenmpi3 -- libc6-dev linux-libc-dev libopenmpi-dev libhwloc-dev
