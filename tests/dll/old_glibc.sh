#!/usr/bin/env bash
# old_glibc.sh BUILD: recorders and debug DLLs need no symbol of a glibc after 2.28. The nodes may be older than the machine that builds them.
set -euo pipefail
newest=2.28
files=("$1"/libmqbridge-{queues,handles}.so "$1"/recorder/*/libmqbridge-recorder.so)
for file in "${files[@]}"; do
  needed=$(objdump --dynamic-syms "$file" | grep -oP 'GLIBC_\K[0-9.]+' | sort -Vu)
  [[ $needed ]] || { echo "$file: objdump names no version" >&2 && exit 1; }
  [[ $(printf '%s\n' "$needed" "$newest" | sort -V | tail -n 1) == "$newest" ]] || {
    echo "$file needs a newer glibc than $newest:" >&2
    objdump --dynamic-syms "$file" | grep -E "GLIBC_($(tail -n 1 <<<"$needed"))" >&2
    exit 1
  }
done
