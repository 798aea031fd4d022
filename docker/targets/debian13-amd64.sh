#!/usr/bin/env bash
# Debian 13 for 64-bit x86: Open MPI 5, MPICH, their launchers and gdbserver, run by this machine in a mount namespace
exec "$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite trixie "$1" amd64 libopenmpi40 openmpi-bin mpich libmpich12 gdbserver bash coreutils \
  -- libopenmpi-dev libhwloc-dev libpmix-dev libevent-dev libmpich-dev
