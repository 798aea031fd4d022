#!/usr/bin/env bash
# Unpacks the upstream source of a Debian package into a directory, without Debian's patches.
#   docker/source.sh [--suite SUITE] DIRECTORY PACKAGE=VERSION FILE SHA256 [TAR-OPTION...]
# FILE is the upstream tarball that the package has; its top directory is left out. It comes from wherever apt here gets
# its packages, with the same keys and a state of its own, and has to have this digest. apt's own files stay as they are.
set -euo pipefail

say() { printf 'source: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

suite=
if [[ ${1:-} == --suite ]]; then
  suite=$2
  shift 2
fi
(($# >= 4)) || die "usage: source.sh [--suite SUITE] DIRECTORY PACKAGE=VERSION FILE SHA256 [TAR-OPTION...]"
directory=$1 package=$2 file=$3 digest=$4
shift 4
command -v xz >/dev/null || die "no xz: apt install xz-utils"
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT

say "fetching $file of $package"
# Wherever apt here gets packages, the sources stand beside them.
"$(dirname "${BASH_SOURCE[0]}")/apt_lists.sh" "$state/sources" deb-src $suite
mkdir -p "$state/apt/lists/partial" "$state/apt/archives/partial"
options=(-qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$state/sources"
  -o Dir::State::lists="$state/apt/lists" -o Dir::Cache="$state/apt" -o APT::Sandbox::User=root
  -o Acquire::Languages=none -o Acquire::Retries=3)
# A list of others' packages that does not come is not needed.
apt-get "${options[@]}" update >"$state/log" 2>&1 || true
(cd "$state" && apt-get "${options[@]}" source --download-only "$package" >>"$state/log" 2>&1) ||
  die "apt cannot fetch the source of $package:"$'\n'"$(<"$state/log")"
sha256sum --check --quiet <<<"$digest  $state/$file" || die "$file of $package is not the one that is meant"
mkdir -p "$directory"
tar -x -C "$directory" --no-same-owner --strip-components=1 -f "$state/$file" "$@"
