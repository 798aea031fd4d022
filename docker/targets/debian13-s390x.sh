#!/usr/bin/env bash
# Debian 13 for 64-bit big-endian: Open MPI 5 and its headers, for the type packs
exec "$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite trixie "$1" s390x -- libopenmpi40 libopenmpi-dev libhwloc-dev libpmix-dev libevent-dev
