#!/usr/bin/env bash
# check_glibc.sh FILE...: programs and libraries that go to other systems need no symbol of a glibc after 2.28.
set -euo pipefail
newest=2.28
for file in "$@"; do
  needed=$(objdump --dynamic-syms "$file" | grep -oP 'GLIBC_\K[0-9.]+' | sort -Vu)
  [[ $needed ]] || { echo "$file: objdump names no version" >&2 && exit 1; }
  last=$(tail -n 1 <<<"$needed")
  [[ $(printf '%s\n' "$last" "$newest" | sort -V | tail -n 1) == "$newest" ]] || {
    echo "$file needs a newer glibc than $newest:" >&2
    objdump --dynamic-syms "$file" | grep -F "GLIBC_$last" >&2
    exit 1
  }
done
