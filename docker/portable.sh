#!/usr/bin/env bash
# Builds mqbridge for x86_64 systems that are not Debian: build/package/mqbridge-VERSION-x86_64.tar.zst. Its programs bring all libraries but
# glibc's with them, and need no glibc after 2.28. Called by `./dev package --portable`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $(uname -m) == x86_64 ]] || { echo "portable: only for x86_64" >&2 && exit 1; }
newest=2.28
build=$PWD/build/portable
old=$build/glibc
name=mqbridge-$(sed -nE '1s/.*\(([^)]*)\).*/\1/p' debian/changelog)-x86_64

# What the programs are linked with: glibc as it was, what has come since, and a start that leaves constructors to the program.
mkdir -p "$old"
for library in libc.so.6 libm.so.6 ld-linux-x86-64.so.2; do
  docker/portable/old_libc.py "$newest" "$(cc -print-file-name="$library")" "$old" cc
done
echo "GROUP ( $old/libc.so.6 $old/liblater_glibc.a $(cc -print-file-name=libc_nonshared.a) AS_NEEDED ( $old/ld-linux-x86-64.so.2 ) )" >"$old/libc.so"
ln -sf libm.so.6 "$old/libm.so"
objcopy --redefine-sym __libc_start_main=start_with_constructors "$(cc -print-file-name=Scrt1.o)" "$old/Scrt1.o"
cc -std=c17 -O2 -fPIC -c docker/portable/later_glibc.c -o "$old/later_glibc.o"
rm -f "$old/liblater_glibc.a"
ar rcs "$old/liblater_glibc.a" "$old/later_glibc.o"

flags="-B$old/ -L$old -static-libstdc++ -static-libgcc -Wl,--push-state,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0 -Wl,--pop-state"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMQBRIDGE_STATIC=ON -DMQBRIDGE_WERROR=OFF -DMQBRIDGE_TESTS=OFF -DMQBRIDGE_BENCH=OFF -DMQBRIDGE_UNITY=ON \
  -DCMAKE_EXE_LINKER_FLAGS="$flags" -DCMAKE_INSTALL_LIBDIR=lib >/dev/null
cmake --build "$build"
rm -rf "${build:?}/$name"
cmake --install "$build" --strip --prefix "$build/$name" >/dev/null
install -D --mode=644 docker/portable/modulefile "$build/$name/share/modulefiles/mqbridge"
install --mode=644 LICENSE "$build/$name"
files=("$build/$name"/lib/mqbridge/{mqbridge,mqbridge-*,libmqbridge-*.so,recorder/*/*.so})
docker/portable/check_glibc.sh "${files[@]}"
for file in "${files[@]}"; do
  others=$(objdump -p "$file" | awk '/NEEDED/ { print $2 }' | grep -vE '^(libc|libm|libdl|libpthread|ld-linux-x86-64)\.so|^libgcc_s\.so\.1$' || true)
  [[ -z $others ]] || { echo "portable: $file needs $others" >&2 && exit 1; }
done
mkdir -p build/package
date=$(git log -1 --format=%cI)
tar --create --directory="$build" --sort=name --owner=0 --group=0 --numeric-owner --mtime="$date" "$name" | zstd -19 --quiet --force -o "build/package/$name.tar.zst"
ls -sh "$PWD/build/package/$name.tar.zst"
