#!/usr/bin/env bash
# 32-bit x86: Open MPI, its libraries and its mpirun, run by this machine's own kernel
exec "$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite bookworm "$1" i386 libopenmpi3 -- libc6-dev linux-libc-dev libopenmpi-dev libhwloc-dev openmpi-bin
