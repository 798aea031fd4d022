#!/usr/bin/env bash
# Targets of other platforms, each a directory made once by a script of targets/ and kept. Called by `./dev targets`.
#   docker/targets.sh                lists them
#   docker/targets.sh NAME...        makes those of these that are not there yet
#   docker/targets.sh --path NAME    the same for one, and prints where it is
#
# They are kept in $MQBRIDGE_TARGETS, else in mqbridge/targets of the user's cache directory. Each targets/NAME.sh is
# called with an empty directory to fill, and with the path that the directory will have when it is whole; the first
# line of comment in it says what it makes. A target whose script has changed since is made again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
store=${MQBRIDGE_TARGETS:-${XDG_CACHE_HOME:-~/.cache}/mqbridge/targets}

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'targets: %s\n' "$*" >&2; exit 1; }

script_of() { printf '%s/targets/%s.sh' "$here" "$1"; }
stamp_of() { cat "$(script_of "$1")" "$here/sysroot.sh" "$here/apt_lists.sh" | sha256sum | cut -d' ' -f1; }
is_made() { [[ -f $store/$1/.stamp && $(<"$store/$1/.stamp") == "$(stamp_of "$1")" ]]; }

list() {
  local script name state
  for script in "$here"/targets/*.sh; do
    name=$(basename "$script" .sh)
    state=
    ! is_made "$name" || state="  [made: $store/$name]"
    printf '%-12s %s%s\n' "$name" "$(sed -n '2s/^# *//p' "$script")" "$state"
  done
}

# Fills a directory under another name: what stands under the target's own name is always whole.
make_target() {
  local name=$1 started=$SECONDS partial=$store/.$1.partial old=$store/.$1.old
  say "target $name: $(sed -n '2s/^# *//p' "$(script_of "$name")")"
  rm -rf "$partial" "$old" # of a run that was interrupted
  mkdir "$partial"
  "$(script_of "$name")" "$partial" "$store/$name" >&2 ||
    die "$name could not be made; what was there before is untouched. Try again: ./dev targets $name"
  stamp_of "$name" >"$partial/.stamp"
  [[ ! -e $store/$name ]] || mv -T "$store/$name" "$old"
  mv -T "$partial" "$store/$name"
  rm -rf "$old"
  say "target $name: made in $((SECONDS - started)) s, $(du -sh "$store/$name" | cut -f1)"
}

(($#)) || { list; exit; }
path_wanted=
if [[ $1 == --path ]]; then
  path_wanted=yes
  shift
  (($# == 1)) || die "--path takes one target"
fi
for name in "$@"; do
  [[ $name =~ ^[a-z0-9_-]+$ && -f $(script_of "$name") ]] || die "no target '$name'; those there are: ./dev targets"
done
mkdir -p "$store"
for name in "$@"; do
  exec {lock}>"$store/.$name.lock"
  flock -n "$lock" || { say "target $name: waiting for the run that makes it"; flock "$lock"; }
  is_made "$name" || make_target "$name"
  exec {lock}>&-
  [[ -z $path_wanted ]] || printf '%s\n' "$store/$name"
done
