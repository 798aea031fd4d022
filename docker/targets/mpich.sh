#!/usr/bin/env bash
# MPICH 4.0.2 with its debug DLL (about 5 minutes), and Debian's own build of it, which has none
#   docker/targets/mpich.sh DIRECTORY PREFIX
# Fills DIRECTORY with what is meant to stand at PREFIX, which is compiled in: MPIR_dll_name is PREFIX/lib/libtvmpich.so.
# The source is that of Debian's package, without Debian's patches (source.sh). DIRECTORY/debian gets Debian's libmpich12,
# built from the same source without --enable-debuginfo.
set -euo pipefail

version=4.0.2
package=mpich=4.0.2-3
digest=b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860
filled=$(realpath "$1") prefix=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'mpich: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }
for tool in gcc make; do
  command -v "$tool" >/dev/null || die "no $tool: apt install gcc make"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs one step of the build, out of everybody's way; its last words are shown if it fails.
step() {
  say "$1"
  shift
  (cd "$work/build" && nice -n 19 "$@") >"$work/log" 2>&1 || die "failed:"$'\n'"$(tail -n 30 "$work/log")"
}

"$here/../source.sh" --suite bookworm "$work/source" "$package" "mpich_$version.orig.tar.xz" "$digest"
mkdir "$work/build"
step "configuring" ../source/configure --prefix="$prefix" --with-device=ch3:nemesis --enable-debuginfo \
  --disable-fortran --disable-cxx --disable-romio --disable-static --disable-dependency-tracking \
  --with-pm=hydra --with-datatype-engine=dataloop
step "compiling" make -j"$(nproc)"
step "installing" make install DESTDIR="$work/installed"
rm -rf "$work/installed/$prefix/share"
cp -a "$work/installed/$prefix/." "$filled"
say "unpacking Debian's libmpich12"
"$here/../sysroot.sh" --suite bookworm "$filled/debian" "$(dpkg --print-architecture)" -- libmpich12
