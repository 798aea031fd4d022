#!/usr/bin/env bash
# Unpacks Debian packages of any architecture into a directory. No architecture is added to the system, nothing is
# installed, no program of the packages is run.
#   docker/sysroot.sh [--suite SUITE] DIRECTORY ARCHITECTURE PACKAGE... [-- PACKAGE...]
# The packages before `--` come with all that they depend on, those behind it alone. They come from wherever apt here
# gets its own, with the same keys, or from another release there (SUITE); apt resolves and verifies them, with a state of its own.
set -euo pipefail

die() { printf 'sysroot: %s\n' "$*" >&2; exit 1; }

suite=
if [[ ${1:-} == --suite ]]; then
  suite=$2
  shift 2
fi
(($# >= 3)) || die "usage: sysroot.sh [--suite SUITE] DIRECTORY ARCHITECTURE PACKAGE... [-- PACKAGE...]"
root=$1 architecture=$2
shift 2
with_dependencies=() alone=()
while (($#)) && [[ $1 != -- ]]; do
  with_dependencies+=("$1")
  shift
done
(($#)) && shift
alone=("$@")

state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
mkdir -p "$root" "$state/lists/partial" "$state/archives/partial"
"$(dirname "${BASH_SOURCE[0]}")/apt_lists.sh" "$state/sources" deb $suite
: >"$state/status" # as if nothing were installed: everything that is depended on is missing

# Runs apt-get for the other architecture; its words are shown if it fails.
apt_get() {
  apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
    -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::State::lists="$state/lists" \
    -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$state/sources" -o Dir::Cache="$state" -o Dir::Cache::archives="$state/archives" \
    -o APT::Install-Recommends=false -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::Retries=3 \
    "$@" >"$state/log" 2>&1
}

# One list of several that does not come (a mirror in the middle of its update) may not be needed.
apt_get -o APT::Update::Error-Mode=any update || printf 'sysroot: some package lists did not come, trying without them:\n%s\n' "$(<"$state/log")" >&2
((${#with_dependencies[@]} == 0)) || apt_get --download-only --yes install "${with_dependencies[@]}" ||
  die "apt cannot fetch ${with_dependencies[*]} for $architecture:"$'\n'"$(<"$state/log")"
((${#alone[@]} == 0)) || (cd "$state/archives" && apt_get download "${alone[@]}") ||
  die "apt cannot fetch ${alone[*]} for $architecture:"$'\n'"$(<"$state/log")"

# What people read is left out.
for package in "$state"/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" |
    tar -x -C "$root" --no-same-owner --exclude='./usr/share/'{doc,man,info,locale,lintian,X11,bug} ||
    die "cannot unpack $(basename "$package")"
done

# A link to an absolute path leads into the directory, too, for programs that know nothing of it (qemu-user's -L).
find "$root" -type l -lname '/*' -printf '%P\t%l\n' | while IFS=$'\t' read -r link goal; do
  ln -srfT "$root$goal" "$root/$link"
done
