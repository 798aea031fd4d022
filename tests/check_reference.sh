#!/usr/bin/env bash
# docs/reference/cli.md names the options, commands and endpoints that --help names, and no others. Run by ctest.
#   check_reference.sh MQBRIDGE
set -euo pipefail
mqbridge=$1
reference=$(dirname "${BASH_SOURCE[0]}")/../docs/reference/cli.md

# Options, and the forms of endpoints that have a keyword.
names() { grep -oE '(^|[^a-zA-Z-])(--?[a-z][a-z-]*|(unix|serial|exec|local|core):[A-Z]+)' | sed -E 's/^[^a-z-]//' | grep -vxE -- "--help|-h|--multi" | sort -u; }

offered=$(for command in '' dump analyze run stacks vars handles doctor types 'types make' 'types show' 'types check'; do
  # shellcheck disable=SC2086 # words
  "$mqbridge" help $command
done | names)
documented=$(names <"$reference")
(($(wc -l <<<"$offered") > 30)) || { echo "only these were found in --help: $offered" >&2; exit 1; }
diff <(echo "$offered") <(echo "$documented") >&2 || { echo "<: in --help alone, >: in docs/reference/cli.md alone" >&2; exit 1; }
