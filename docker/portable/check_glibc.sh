#!/usr/bin/env bash
# check_glibc.sh NEWEST FILE...: programs and libraries that go to other systems need no symbol of a glibc after NEWEST (2.28).
set -euo pipefail
newest=$1
shift
for file in "$@"; do
  needed=$(objdump -p "$file" | sed -n '/^Version References/,$p' | grep -oE 'GLIBC_\S+' | sort -Vu || true)
  [[ $needed ]] || { echo "$file: it names no version of glibc" >&2 && exit 1; }
  for version in $needed; do
    number=${version#GLIBC_}
    [[ $number =~ ^[0-9.]+$ && $(printf '%s\n' "$number" "$newest" | sort -V | tail -n 1) == "$newest" ]] || {
      echo "$file needs $version, which is newer than $newest:" >&2
      objdump --dynamic-syms "$file" | grep -F "$version" >&2 || true
      exit 1
    }
  done
done
