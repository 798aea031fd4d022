#!/usr/bin/env bash
# Includes point downwards only. Of the rooms, each knows those in its line, which stand above it in this table; the lowest come
# first. So there is no circle. Run by ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
# Of no room: rsp/{codes,limits,result,seconds,unique_fd}.h and host/{codes,limits}.h, which everybody may include.
rooms=(
  "dll:"
  "rsp/packet:"
  "rsp/guardian: rsp/packet"
  "rsp/transport: rsp/packet rsp/guardian"
  "rsp/exchange: rsp/packet rsp/guardian rsp/transport"
  "rsp/client: rsp/packet rsp/guardian rsp/transport rsp/exchange"
  "rsp/commands: rsp/packet rsp/guardian rsp/transport rsp/exchange rsp/client"
  "rsp/server: rsp/packet rsp/transport"
  "host/memory: rsp"
  "host/disk: rsp"
  "host/confined: rsp host/memory host/disk"
  "host/elf: rsp host/memory host/disk"
  "host/files: rsp host/memory host/disk host/elf"
  "host/types: rsp host/memory host/confined host/disk host/elf host/files"
  "host/process: rsp host/memory host/disk host/elf host/files host/types"
  "host/stacks: rsp host/memory host/confined host/disk host/elf host/files host/types host/process"
  "host/bridge: rsp host/memory host/disk host/process host/stacks"
  "host/mqs: rsp dll host/memory host/confined host/disk host/elf host/files host/types host/process"
  "host/mpi: rsp dll host/memory host/disk host/elf host/files host/types host/process host/stacks host/mqs"
  "host/launch: rsp host/disk"
  "host/watch: rsp host/disk"
  "host/dump: rsp host/memory host/disk host/elf host/files host/types host/process host/stacks host/mqs host/mpi host/launch"
  "host/document: rsp host/memory host/disk host/stacks host/mqs host/mpi host/dump"
  "host/analysis: rsp host/memory host/disk host/stacks host/mqs host/mpi host/dump host/document"
  "host/collect: rsp host/memory host/disk host/launch host/stacks host/mqs host/mpi host/dump host/document"
  "host/job: rsp host/memory host/disk host/elf host/files host/types host/process host/mqs host/mpi host/launch host/dump"
  "host/doctor: rsp host/memory host/disk host/elf host/files host/types host/process host/stacks host/mqs host/mpi host/launch host/dump host/document host/job"
  "host/report: rsp host/memory host/disk host/elf host/stacks host/mqs host/mpi host/launch host/dump host/document host/analysis host/job host/doctor"
  "host/service: rsp host/disk host/watch"
  "host/cli: rsp host/service host/memory host/bridge host/disk host/elf host/files host/types host/process host/stacks host/mqs host/mpi host/launch host/dump host/document host/analysis host/collect host/job host/doctor host/report host/watch"
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
# What is known of one MPI stands in its folder alone: nobody but the file that lists them all includes a header of it, and none
# knows another.
mpis=()
for support in host/mpi/*/*_support.h; do
  mpi=$(dirname "$support")
  mpis+=("$(basename "$mpi")")
  found=$(grep -lrE "^ *# *include *\"$mpi/" rsp host | grep -vE "^$mpi/|^host/mpi/known_mpis.cpp$" || true)
  [[ -z $found ]] || { echo "${found//$'\n'/ } includes headers of $mpi"; status=1; }
done
((${#mpis[@]} > 2)) || { echo "only ${#mpis[@]} MPIs seen: the search is broken"; status=1; }
# Nor do texts elsewhere have the name of one, or how its programs, files and symbols begin. Two may:
#   host/cli/arguments/config.cpp    an example of a configuration
#   host/dump/together/job_view.cpp  advice that is true of one launcher
folders=$(IFS='|'; echo "${mpis[*]}")
words="Open MPI|MPICH|OMPI_|ompi_|libompi|libopen-|[^a-z]orte|[^a-z]prte|oshrun|hydra|opal_|mca_|MPID|MPII|ob1|${folders/|recorder/}"
found=$(find rsp host -name '*.h' -o -name '*.cpp' |
  grep -vE "^host/mpi/($folders)/|^host/cli/arguments/config.cpp$|^host/dump/together/job_view.cpp$" |
  xargs awk -v words="$words" '
    /^ *# *include/ { next }
    {
      line = $0
      sub(/(^|[^:])\/\/.*/, "", line)
      while (match(line, /"([^"\\]|\\.)*"/)) {
        if (substr(line, RSTART, RLENGTH) ~ words)
          print FILENAME ":" FNR ": names an MPI, which its folder in host/mpi should do: " $0
        line = substr(line, RSTART + RLENGTH)
      }
    }')
[[ -z $found ]] || { echo "$found"; status=1; }
((checked > 100)) || { echo "only $checked includes seen: the search is broken"; status=1; }
exit $status
