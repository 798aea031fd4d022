#!/usr/bin/env bash
# Builds the Debian packages of the last commit into build/package/, and tries them in a bare system of this release (as root).
#   docker/package.sh [--on SUITE]      with SUITE: all of it in a bare system of that release, into build/package-SUITE/
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ${1:-} == --on ]]; then
  into=build/package-$2
  rm -rf "$into" && mkdir -p "$into"
  docker/chroot.sh "$2" bash -c './dev package >&2 && tar --create --directory=build/package .' </dev/null | tar --extract --directory="$into"
  ls -sh -- "$PWD/$into"/*.deb
  exit
fi

name=$(sed -nE '1s/^(.*) \((.*)\).*/\1-\2/p' debian/changelog)
into=$PWD/build/package
rm -rf "$into" && mkdir -p "$into"
echo "builds the packages, which takes some minutes: $into/build.log" >&2
git archive --prefix="$name/" HEAD | tar --extract --directory="$into"
(cd "$into/$name" && dpkg-buildpackage --unsigned-source --unsigned-changes >"$into/build.log" 2>&1) || { tail -n 40 "$into/build.log" >&2 && exit 1; }
rm -r "${into:?}/$name"
echo "checks them with lintian, and tries them in a bare system" >&2
lintian --fail-on error,warning --allow-root "$into"/*.changes
mapfile -t packages < <(cd "$into" && ls -- *.deb | grep -v dbgsym)
if ((EUID == 0)); then
  tar --create --directory="$into" "${packages[@]}" | docker/chroot.sh "$(. /etc/os-release && echo "$VERSION_CODENAME")" debian/tests/clean_system
else
  echo "not tried in a bare system: that takes root"
fi
ls -sh -- "${packages[@]/#/$into/}"
