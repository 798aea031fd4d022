#!/usr/bin/env bash
# Every test that tests/README.md and SECURITY.md name is there. `Suite.*`: some test of that suite.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

failed=0
checked=0
while read -r name; do
  checked=$((checked + 1))
  suite=${name%%.*} test=${name#*.}
  case $name in
    fuzz_replay.*) [[ -f fuzz/fuzz_$test.cpp ]] && continue ;;
    Outside.*) grep -rqF 'PREFIX Outside.' --include=CMakeLists.txt . && continue ;;
    *.\*) grep -rqE "^TEST(_F|_P)?\($suite," --include='*_test.cpp' . && continue ;;
    *) grep -rqE "^TEST(_F|_P)?\($suite, $test\)" --include='*_test.cpp' . && continue ;;
  esac
  echo "there is no test $name" >&2
  failed=1
done < <(grep -ohE '`(fuzz_replay|[A-Z][A-Za-z0-9]*)\.([A-Za-z0-9_]+|\*)`' README.md ../SECURITY.md | tr -d '`' |
  grep -vE '\.(h|cpp|md)$' | sort -u)
((checked > 80)) || { echo "only $checked names found: has the form of the tables changed?" >&2; exit 1; }
exit $failed
