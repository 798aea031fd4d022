#!/usr/bin/env bash
# installed_headers.sh CMAKE BUILD CC CXX: the interfaces of debug DLLs as an installation has them, without the source tree
# beside them: each header by itself, and a debug DLL that defines every function of both.
set -euo pipefail
cmake=$1 build=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --component headers --prefix "$work" >/dev/null
cd "$work"
flags=(-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror -Iinclude/mqbridge)
for header in mqs_interface.h mpidbg_interface.h; do
  [[ -f include/mqbridge/$header ]] || { echo "$header is not installed"; exit 1; }
  printf '#include <%s>\n' "$header" > alone.h
  "$cc" -std=c17 "${flags[@]}" -fsyntax-only -x c alone.h
  "$cxx" -std=c++20 "${flags[@]}" -fsyntax-only -x c++ alone.h
done
"$cc" -std=c17 "${flags[@]}" -shared -fPIC -o smallest.so "$here/smallest_dll.c"
# A function that a header declares and smallest_dll.c lacks would be one that nobody compiled.
declared=$(grep -hoE '\b(mqs|mpidbg)_[a-z0-9_]+\(' include/mqbridge/*.h | tr -d '(' | sort -u)
defined=$(nm -D --defined-only smallest.so | awk '{ print $3 }' | sort -u)
missing=$(comm -23 <(printf '%s\n' "$declared") <(printf '%s\n' "$defined"))
[[ -z $missing ]] || { echo "declared, and not in smallest_dll.c: $missing"; exit 1; }
