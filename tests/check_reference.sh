#!/usr/bin/env bash
# docs/reference/cli.md names the options, commands and endpoints that --help names, and no others; each row of "Where do I change
# ...?" in docs/architecture.md leads to a place in the sources (check_links.py sees that there is such a place). Run by ctest.
#   check_reference.sh MQBRIDGE
set -euo pipefail
mqbridge=$1
docs=$(dirname "${BASH_SOURCE[0]}")/../docs
reference=$docs/reference/cli.md

# Options, and the forms of endpoints that have a keyword.
names() { grep -oE '(^|[^a-zA-Z-])(--?[a-z][a-z-]*|(unix|serial|exec|local|core):[A-Z]+)' | sed -E 's/^[^a-z-]//' | grep -vxE -- "--help|-h|--multi" | sort -u; }

offered=$(for command in '' why dump analyze show run stacks vars handles doctor gdb proxy serve jobs types 'types make' 'types show' 'types check' recorder 'recorder make'; do
  # shellcheck disable=SC2086 # words
  "$mqbridge" help $command
done | names)
documented=$(names <"$reference")
(($(wc -l <<<"$offered") > 30)) || { echo "only these were found in --help: $offered" >&2; exit 1; }
diff <(echo "$offered") <(echo "$documented") >&2 || { echo "<: in --help alone, >: in docs/reference/cli.md alone" >&2; exit 1; }

rows=$(awk '/^## /{ in_table = /Where do I change/ } in_table && /^\|/' "$docs/architecture.md" | tail -n +3)
(($(wc -l <<<"$rows") >= 15)) || { echo "docs/architecture.md: \"Where do I change ...?\" has only these rows: $rows" >&2; exit 1; }
! grep -vE '`(rsp|host|dll)/[a-z_/]+[a-z./]' <<<"$rows" >&2 || { echo "these rows of docs/architecture.md lead nowhere" >&2; exit 1; }
