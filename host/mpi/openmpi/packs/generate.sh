#!/usr/bin/env bash
# Makes the packs for the Open MPI of Debian 11, 12 and 13: for this machine's architecture and release from the installed
# development package (libopenmpi-dev), for others from their own, fetched by docker/targets.sh, with their cross compiler. The types
# of ob1 come from the source of Debian's package, which is fetched in the same way. Debian 11's has left the mirrors: unpack Open
# MPI's own v4.1.0, and name its directory.
#   host/mpi/openmpi/packs/generate.sh PATH/TO/mqbridge [RELEASE-ARCHITECTURE...]     (12-s390x; without any: all of 12 and 13)
#   SOURCE_11=DIR host/mpi/openmpi/packs/generate.sh PATH/TO/mqbridge 11-{amd64,arm64,armhf,i386}
# `mqbridge types make` compares every pack with the sizes that the library itself states. A test compares the files
# here with what the headers give.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
targets=$here/../../../../docker/targets.sh

# The GNU triplets of Debian's architectures: of the cross compiler, and of the directory for libraries.
declare -A compiler=([amd64]=x86_64-linux-gnu [arm64]=aarch64-linux-gnu [armhf]=arm-linux-gnueabihf [i386]=i686-linux-gnu
  [ppc64el]=powerpc64le-linux-gnu [riscv64]=riscv64-linux-gnu [s390x]=s390x-linux-gnu)
declare -A multiarch=([amd64]=x86_64-linux-gnu [arm64]=aarch64-linux-gnu [armhf]=arm-linux-gnueabihf [i386]=i386-linux-gnu
  [ppc64el]=powerpc64le-linux-gnu [riscv64]=riscv64-linux-gnu [s390x]=s390x-linux-gnu)
all=(12-{amd64,arm64,armhf,i386,ppc64el,s390x} 13-{amd64,arm64,ppc64el,riscv64,s390x})
declare -A source_target=([12]=openmpi-source [13]=openmpi-source-5) prefix=([11]=debian11- [12]= [13]=debian13-)
# Debian 13's headers name a type that its compiler has and this one lacks. No layout depends on it.
declare -A lacking=([13-riscv64]=-D_Float16=short)
this=$(. /etc/os-release && echo "$VERSION_ID")-$(dpkg --print-architecture)

mqbridge=${1:?usage: generate.sh PATH/TO/mqbridge [RELEASE-ARCHITECTURE...]}
shift
(($#)) || set -- "${all[@]}"
made=$(mktemp --suffix=.types)
trap 'rm -f "$made"' EXIT

for build in "$@"; do
  release=${build%%-*} architecture=${build#*-}
  [[ -n ${prefix[$release]+known} && -n ${compiler[$architecture]:-} ]] || { echo "generate: no such build: '$build'" >&2; exit 2; }
  if [[ $release == 11 ]]; then
    source=${SOURCE_11:?for Debian 11: the directory of Open MPI 4.1.0\'s source}
  else
    source=$("$targets" --path "${source_target[$release]}")
  fi
  from=()
  if [[ $build != "$this" ]]; then
    root=$("$targets" --path "${prefix[$release]}$architecture")
    library=$root/usr/lib/${multiarch[$architecture]}
    from=(--include "$library/openmpi/include" --include "$root/usr/include/${multiarch[$architecture]}"
      --include "$root/usr/include" --library "$library/libmpi.so.40")
  fi
  "$mqbridge" types make --mpi openmpi --cc "${compiler[$architecture]}-gcc ${lacking[$build]:-}" --source "$source" "${from[@]}" -o "$made"
  version=$(sed -n 's/^version //p' "$made")
  install -m 644 "$made" "$here/openmpi-$version-$architecture.types"
  echo "$here/openmpi-$version-$architecture.types"
done
