#!/usr/bin/env bash
# Includes point downwards only. Of the rooms, each knows those in its line, which stand above it in this table; the lowest come
# first. So there is no circle. Run by ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
# Of no room: rsp/{codes,limits,result,unique_fd}.h and host/{codes,limits}.h, which everybody may include.
rooms=(
  "dll:"
  "rsp/packet:"
  "rsp/guardian: rsp/packet"
  "rsp/transport: rsp/packet rsp/guardian"
  "rsp/exchange: rsp/packet rsp/guardian rsp/transport"
  "rsp/client: rsp/packet rsp/guardian rsp/transport rsp/exchange"
  "rsp/commands: rsp/packet rsp/guardian rsp/transport rsp/exchange rsp/client"
  "host/memory: rsp"
  "host/disk: rsp"
  "host/confined: rsp host/memory host/disk"
  "host/elf: rsp host/memory host/disk"
  "host/files: rsp host/memory host/disk host/elf"
  "host/types: rsp host/memory host/confined host/disk host/elf host/files"
  "host/process: rsp host/memory host/disk host/elf host/files host/types"
  "host/stacks: rsp host/memory host/confined host/disk host/elf host/files host/types host/process"
  "host/mqs: rsp dll host/memory host/confined host/disk host/elf host/files host/types host/process"
  "host/mpi: rsp dll host/memory host/disk host/elf host/files host/types host/process host/stacks host/mqs"
  "host/launch: rsp host/disk"
  "host/watch: rsp host/disk"
  "host/dump: rsp host/memory host/disk host/elf host/files host/types host/process host/stacks host/mqs host/mpi host/launch"
  "host/document: rsp host/memory host/stacks host/mqs host/mpi host/dump"
  "host/analysis: rsp host/memory host/disk host/stacks host/mqs host/mpi host/dump host/document"
  "host/collect: rsp host/memory host/disk host/launch host/stacks host/mqs host/mpi host/dump host/document"
  "host/job: rsp host/memory host/disk host/elf host/files host/types host/process host/mqs host/mpi host/launch host/dump"
  "host/doctor: rsp host/memory host/disk host/elf host/files host/types host/process host/stacks host/mqs host/mpi host/launch host/dump host/document host/job"
  "host/report: rsp host/memory host/disk host/elf host/stacks host/mqs host/mpi host/launch host/dump host/document host/analysis host/job host/doctor"
  "host/cli: rsp host/memory host/disk host/elf host/files host/types host/process host/stacks host/mqs host/mpi host/launch host/dump host/document host/analysis host/collect host/job host/doctor host/report host/watch"
)
declare -A may
for line in "${rooms[@]}"; do
  room=${line%%:*}
  for other in ${line#*:}; do # a room that has not been seen yet would make a circle possible
    [[ $other == rsp || -v may[$other] ]] || { echo "$room may not know $other, which stands below it in the table"; exit 1; }
  done
  may[$room]="$room ${line#*:}"
  grep -q "^| \`$room/\`" docs/architecture.md || { echo "docs/architecture.md does not list the room $room"; exit 1; }
done

# Sets `room` to the room of a file; to nothing where it is of none.
find_room() {
  room=""
  if [[ $1 == dll/* ]]; then
    room=dll
  elif [[ $1 =~ ^((rsp|host)/[a-z]+)/ ]]; then
    room=${BASH_REMATCH[1]}
  fi
}

status=0
checked=0
while IFS=: read -r file included; do
  find_room "$included"
  other=$room
  find_room "$file"
  [[ $room && $other ]] || continue
  checked=$((checked + 1))
  [[ -v may[$room] ]] || { echo "$file: room $room is not in the table"; status=1; continue; }
  [[ " ${may[$room]} " == *" $other "* || ($other == rsp/* && " ${may[$room]} " == *" rsp "*) ]] ||
    { echo "$file includes $included: against the direction"; status=1; }
done < <(grep -rE '^ *# *include *"' --include=*.h --include=*.cpp --include=*.c rsp dll host | sed -nE 's/^([^:]+): *# *include *"([^"]+)".*/\1:\2/p')
# What is common to all MPIs knows none of them, but for the one file that lists them; and none knows another.
for mpi in host/mpi/*/; do
  found=$(grep -lrE "^ *# *include *\"$mpi" host/mpi | grep -vE "^$mpi|^host/mpi/known_mpis.cpp$" || true)
  [[ -z $found ]] || { echo "${found//$'\n'/ } includes headers of $mpi"; status=1; }
done
((checked > 100)) || { echo "only $checked includes seen: the search is broken"; status=1; }
exit $status
