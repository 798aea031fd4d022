#!/usr/bin/env bash
# Writes the lists of packages that apt here uses into a directory, for apt with a state of its own.
#   docker/apt_lists.sh DIRECTORY deb|deb-src [SUITE]
# They name the same places and keys; with SUITE ("trixie"), another release of the same distribution.
set -euo pipefail

directory=$1 type=$2 suite=${3:-}
eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
other=()
[[ -z $suite ]] || other=(-e "s/\b$release\b/$suite/g")

mkdir -p "$directory"
for file in "$list" "$parts"/*.list; do
  [[ ! -f $file ]] || sed -n "${other[@]}" -e "s/^deb\([[:space:]]\)/$type\1/p" "$file" >>"$directory/all.list"
done
for file in "$parts"/*.sources; do
  [[ ! -f $file ]] || sed "${other[@]}" -e "s/^Types:.*/Types: $type/" "$file" >"$directory/$(basename "$file")"
done
