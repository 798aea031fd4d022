#!/usr/bin/env bash
# Debian 11 for 64-bit x86: Open MPI 4.1.0 and its headers, for the type packs
exec "$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite bullseye "$1" amd64 -- libopenmpi3 libopenmpi-dev libhwloc-dev libpmix-dev libevent-dev
