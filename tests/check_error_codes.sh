#!/usr/bin/env bash
# Errors are told apart by the names in rsp/codes.h and host/codes.h: no code is compared with a string. Run by ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
compared='\b(code|[a-z_]*[eE]rror\(\)\.code) *[!=]= *"|\bcode\.starts_with\("'
grep -qE "$compared" <<<'if (made.error().code == "output.write")' || { echo "the search is broken"; exit 1; }
if grep -rnE "$compared" --include=*.h --include=*.cpp rsp host; then
  echo "give the code a name in rsp/codes.h or host/codes.h, and use it"
  exit 1
fi
