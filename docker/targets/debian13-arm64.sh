#!/usr/bin/env bash
# Debian 13 for 64-bit little-endian ARM: Open MPI 5 and its headers, for the type packs
exec "$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite trixie "$1" arm64 -- libopenmpi40 libopenmpi-dev libhwloc-dev libpmix-dev libevent-dev
