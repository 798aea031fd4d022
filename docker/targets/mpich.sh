#!/usr/bin/env bash
# MPICH 4.0.2 with its debug DLL (about 5 minutes), and Debian's own build of it, which has none
#   docker/targets/mpich.sh DIRECTORY PREFIX
# Fills DIRECTORY with what is meant to stand at PREFIX, which is compiled in: MPIR_dll_name is PREFIX/lib/libtvmpich.so.
# The source is that of Debian's package, fetched and verified by apt with a state of its own, without Debian's patches;
# DIRECTORY/debian gets Debian's libmpich12, built from the same source without --enable-debuginfo.
set -euo pipefail

version=4.0.2
package=mpich=4.0.2-3
digest=b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860
filled=$(realpath "$1") prefix=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'mpich: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }
for tool in gcc make xz; do
  command -v "$tool" >/dev/null || die "no $tool: apt install gcc make xz-utils"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Wherever apt here gets packages, the sources stand beside them. apt's own files stay as they are.
source_lists() {
  local parts list
  eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
  mkdir "$work/sources"
  for file in "$list" "$parts"/*.list; do
    [[ ! -f $file ]] || sed -n 's/^deb\([[:space:]]\)/deb-src\1/p' "$file" >>"$work/sources/all.list"
  done
  for file in "$parts"/*.sources; do
    [[ ! -f $file ]] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/sources/$(basename "$file")"
  done
}

fetch_source() {
  say "fetching the source"
  source_lists
  mkdir -p "$work/apt/lists/partial" "$work/archives/partial"
  local options=(-qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources"
    -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt" -o APT::Sandbox::User=root
    -o Acquire::Languages=none -o Acquire::Retries=3)
  # A list of others' packages that does not come is not needed.
  apt-get "${options[@]}" update >"$work/log" 2>&1 || true
  (cd "$work" && apt-get "${options[@]}" source --download-only "$package" >>"$work/log" 2>&1) ||
    die "apt cannot fetch the source of $package:"$'\n'"$(<"$work/log")"
  sha256sum --check --quiet <<<"$digest  $work/mpich_$version.orig.tar.xz" ||
    die "the source of $package is not the one that this script was written for"
}

# Runs one step of the build, out of everybody's way; its last words are shown if it fails.
step() {
  say "$1"
  shift
  (cd "$work/build" && nice -n 19 "$@") >"$work/log" 2>&1 || die "failed:"$'\n'"$(tail -n 30 "$work/log")"
}

fetch_source
tar -x -C "$work" -f "$work/mpich_$version.orig.tar.xz"
mkdir "$work/build"
step "configuring" "../mpich-$version/configure" --prefix="$prefix" --with-device=ch3:nemesis --enable-debuginfo \
  --disable-fortran --disable-cxx --disable-romio --disable-static --disable-dependency-tracking \
  --with-pm=hydra --with-datatype-engine=dataloop
step "compiling" make -j"$(nproc)"
step "installing" make install DESTDIR="$work/installed"
rm -rf "$work/installed/$prefix/share"
cp -a "$work/installed/$prefix/." "$filled"
say "unpacking Debian's libmpich12"
"$here/../sysroot.sh" "$filled/debian" "$(dpkg --print-architecture)" -- libmpich12
