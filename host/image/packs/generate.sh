#!/bin/sh
# Makes the pack for the Open MPI that is installed on this machine, from the headers of its development package:
#   host/image/packs/generate.sh build/mqbridge
# On Debian 12 that is openmpi-4.1.4-amd64.types (apt install libopenmpi-dev). A test compares the file here with
# what the installed headers give.
set -eu

mqbridge=${1:?usage: generate.sh PATH/TO/mqbridge [ARCHITECTURE]}
architecture=${2:-$(dpkg --print-architecture)}
packs=$(dirname "$0")
made=$(mktemp --suffix=.types)
trap 'rm -f "$made"' EXIT

"$mqbridge" types make --mpi openmpi -o "$made"
version=$(sed -n 's/^version //p' "$made")
install -m 644 "$made" "$packs/openmpi-$version-$architecture.types"
echo "$packs/openmpi-$version-$architecture.types"
