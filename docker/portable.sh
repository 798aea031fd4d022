#!/usr/bin/env bash
# Builds the last commit for x86_64 systems that are not Debian: build/portable/mqbridge-VERSION-x86_64.tar.xz. Its programs bring all
# libraries but glibc's with them, and need no glibc after 2.28. As root it is tried in a bare Debian 11. Called by `./dev package --portable`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
die() { printf 'portable: %s\n' "$*" >&2; exit 1; }

[[ $(uname -m) == x86_64 ]] || die "only for x86_64"
[[ -e $(cc -print-file-name=libdw.a) && -e $(cc -print-file-name=libpugixml.a) ]] || die "libdw.a or libpugixml.a is missing: build it on Debian 12"
newest=2.28
name=mqbridge-$(sed -nE '1s/.*\(([^)]*)\).*/\1/p' debian/changelog)-x86_64
build=$PWD/build/portable
old=$build/glibc
rm -rf "$build" && mkdir -p "$old" "$build/source"
git archive HEAD | tar --extract --directory="$build/source"

# What the programs are linked with: glibc as it was, what has come since, and a start that leaves constructors to the program.
for library in libc.so.6 libm.so.6 ld-linux-x86-64.so.2; do
  docker/portable/old_libc.py "$newest" "$(cc -print-file-name="$library")" "$old" cc
done
echo "GROUP ( $old/libc.so.6 $old/liblater_glibc.a $(cc -print-file-name=libc_nonshared.a) AS_NEEDED ( $old/ld-linux-x86-64.so.2 ) )" >"$old/libc.so"
ln -sf libm.so.6 "$old/libm.so"
objcopy --redefine-sym __libc_start_main=start_with_constructors "$(cc -print-file-name=Scrt1.o)" "$old/Scrt1.o"
cc -std=c17 -O2 -fPIC -c docker/portable/later_glibc.c -o "$old/later_glibc.o"
ar rcs "$old/liblater_glibc.a" "$old/later_glibc.o"

flags="-B$old/ -L$old -static-libstdc++ -static-libgcc -Wl,--push-state,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0 -Wl,--pop-state"
cmake -S "$build/source" -B "$build/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMQBRIDGE_STATIC=ON -DMQBRIDGE_WERROR=OFF -DMQBRIDGE_TESTS=OFF \
  -DMQBRIDGE_BENCH=OFF -DMQBRIDGE_UNITY=ON -DCMAKE_EXE_LINKER_FLAGS="$flags" -DCMAKE_INSTALL_LIBDIR=lib >/dev/null
cmake --build "$build/build"
into=$build/$name
cmake --install "$build/build" --strip --prefix "$into" >/dev/null
install -D --mode=644 docker/portable/modulefile "$into/share/modulefiles/mqbridge"
install -D --mode=644 LICENSE "$into/share/doc/mqbridge/LICENSE"
# The licences of what the programs have taken in.
for package in libasio-dev libbz2-dev libcli11-dev libdw-dev libdwarf-dev libelf-dev libexpected-dev libfmt-dev liblzma-dev libpugixml-dev \
  libseccomp-dev libstdc++6 libtomlplusplus-dev nlohmann-json3-dev zlib1g-dev; do
  install -D --mode=644 "/usr/share/doc/$package/copyright" "$into/share/doc/mqbridge/$package"
done

programs=("$into"/lib/mqbridge/{mqbridge,mqbridge-*,libmqbridge-*.so})
recorders=("$into"/lib/mqbridge/recorder/*/*.so)
docker/portable/check_glibc.sh "$newest" "${programs[@]}" "${recorders[@]}"
# needs_no_other ALLOWED FILE...
needs_no_other() {
  local allowed=$1 file others
  shift
  for file in "$@"; do
    others=$(objdump -p "$file" | awk '/NEEDED/ { print $2 }' | grep -vE "^($allowed|ld-linux-x86-64)\.so" || true)
    [[ -z $others ]] || die "$file needs $others"
  done
}
needs_no_other 'libc|libm|libdl|libpthread' "${programs[@]}"
needs_no_other 'libc|libm|libdl|libpthread|libgcc_s' "${recorders[@]}"

# Equal archives of equal files: neither who packs them, nor when, nor by which mask.
tar --create --directory="$build" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="$(git log -1 --format=%cI)" --xz --file="$into.tar.xz" "$name"
if ((EUID == 0)); then
  docker/chroot.sh bullseye docker/portable/try.sh <"$into.tar.xz"
else
  echo "not tried in an old system: that takes root"
fi
ls -sh "$into.tar.xz"
