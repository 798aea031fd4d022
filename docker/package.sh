#!/usr/bin/env bash
# Builds the Debian packages of the last commit into build/package/, and tries them in a bare system of this release (as root).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=$(sed -nE '1s/^(.*) \((.*)\).*/\1-\2/p' debian/changelog)
into=$PWD/build/package
rm -rf "$into"
mkdir -p "$into"
git archive --prefix="$name/" HEAD | tar --extract --directory="$into"
(cd "$into/$name" && dpkg-buildpackage --unsigned-source --unsigned-changes >"$into/build.log" 2>&1) || { tail -n 40 "$into/build.log" >&2 && exit 1; }
rm -r "${into:?}/$name"
lintian --fail-on error,warning --allow-root "$into"/*.changes
tar --create --directory="$into" $(cd "$into" && ls -- *.deb | grep -v dbgsym) |
  docker/chroot.sh "$(. /etc/os-release && echo "$VERSION_CODENAME")" debian/tests/clean_system
ls -sh --block-size=1K "$into"/*.deb
