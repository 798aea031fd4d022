#!/usr/bin/env bash
# Makes the man pages: of the program and its commands out of what --help prints, of the files out of the reference's pages.
# Called by the build.
#   make_pages.sh PROGRAM REFERENCE DIRECTORY
set -euo pipefail
program=$1 reference=$2 directory=$3
mkdir -p "$directory"
PATH=$(dirname "$program"):$PATH
# Pages are of the day of the release, whenever they are made, and its month is in English.
export LC_ALL=C.UTF-8
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date --date "$(sed -n 's/^ -- .*>  //p' "$reference/../../debian/changelog" | head -n 1)" +%s)}
export SOURCE_DATE_EPOCH

# commands [COMMAND]: a name and what it does, a line each.
commands() { mqbridge help "$@" | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z]+) +(.*)/\1 \2/p'; }

# page COMMAND WHAT: "types make" becomes mqbridge-types-make.1.
page() {
  local words="mqbridge${1:+ $1}"
  local file=${words// /-}
  help2man --no-info --name="$2" --manual="MPI message queues" --version-string="$file $version" --include=<(see_also "$1") "$words" |
    sed -E "s/^mqbridge[^\\]* \\\\- /${file//-/\\\\-} \\\\- /" >"$directory/$file.1"
}

# file_page NAME PAGE WHAT: without links, and a bar within a table is a bar. The first line asks man for tables.
file_page() {
  printf "'\\\\\" t\n" >"$directory/$1.5"
  { printf '# NAME\n\n%s - %s\n\n' "$1" "$3" && cat "$reference/$2"; } | sed -E 's/\[([^]]*)\]\([^)]*\)/\1/g' |
    lowdown -s -Tman --parse-no-intraemph -M title="$1" -M section=5 -M source="mqbridge $version" | sed -E ':a;N;$!ba;s/\\e\|/|/g;s/\.SH\n/.SH /g' >>"$directory/$1.5"
}

see_also() {
  printf '[SEE ALSO]\n'
  if [[ $1 ]]; then
    printf '.BR mqbridge (1),\n'
  else
    commands | awk '$1 != "help" { printf ".BR mqbridge\\-%s (1),\n", $1 }'
  fi
  printf '.BR mqbridge\\-targets (5),\n.BR mqbridge\\-config (5),\n.BR mqbridge\\-output (5)\n'
}

version=$(mqbridge --version | cut -d' ' -f2)
all=$(commands)
[[ $all ]] || { echo "make_pages.sh: mqbridge help names no commands" >&2 && exit 1; }
page '' "says why an MPI job hangs"
while read -r command what; do
  [[ $command != help ]] || continue
  page "$command" "$what"
  while read -r below its_what; do
    page "$command $below" "$its_what"
  done < <(commands "$command")
done <<<"$all"
file_page mqbridge-targets targets-file.md "the targets of a job, in a file"
file_page mqbridge-config config.md "which debug DLL is loaded"
file_page mqbridge-output output.md "what mqbridge prints: text, JSON, NDJSON, TSV"
