#!/usr/bin/env bash
# Includes point downwards only: rsp knows nothing above it, dll nothing at all, and of the host's rooms
# each knows those in its line. Run by ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
declare -A may=(
  [rsp]="rsp"
  [dll]="dll"
  [host/limits.h]="rsp" # of no room: numbers alone
  [host/memory]="rsp"
  [host/sandbox]="rsp"
  [host/image]="rsp host/memory host/sandbox"
  [host/target]="rsp host/memory host/image"
  [host/mqs]="rsp dll host/memory host/sandbox host/image"
  [host/dump]="rsp host/memory host/image host/target host/mqs"
  [host/doctor]="rsp host/memory host/image host/target host/mqs host/dump"
  [host/report]="rsp host/memory host/image host/mqs host/dump host/doctor"
  [host/cli]="rsp host/memory host/image host/target host/mqs host/dump host/doctor host/report"
)
status=0
checked=0
for file in $(find rsp dll host -name '*.h' -o -name '*.cpp' -o -name '*.c'); do
  room=$(cut -d/ -f1-2 <<<"$file")
  [[ $file == host/* ]] || room=${room%%/*}
  [[ -v may[$room] ]] || { echo "$file: room $room is not in the list"; status=1; continue; }
  while read -r included; do
    checked=$((checked + 1))
    other=$(cut -d/ -f1-2 <<<"$included")
    [[ $included == host/* ]] || other=${other%%/*}
    [[ $file == host/* && $included == host/limits.h ]] && continue
    [[ " ${may[$room]} $room " == *" $other "* ]] || { echo "$file includes $included: against the direction"; status=1; }
  done < <(sed -nE 's/^ *# *include *"([^"]+)".*/\1/p' "$file")
done
((checked > 100)) || { echo "only $checked includes seen: the search is broken"; status=1; }
exit $status
