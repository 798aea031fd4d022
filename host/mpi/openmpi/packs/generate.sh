#!/usr/bin/env bash
# Makes the packs for Debian 12's Open MPI: for this machine's architecture from the installed development package
# (libopenmpi-dev), for others from their own, fetched by docker/targets.sh, with their cross compiler. The types of ob1
# come from the source of Debian's package, which is fetched in the same way.
#   host/mpi/openmpi/packs/generate.sh PATH/TO/mqbridge [ARCHITECTURE...]     (as dpkg calls them; without any: all)
# `mqbridge types make` compares every pack with the sizes that the library itself states. A test compares the files
# here with what the headers give.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
targets=$here/../../../../docker/targets.sh

# The GNU triplets of Debian's architectures: of the cross compiler, and of the directory for libraries.
declare -A compiler=([amd64]=x86_64-linux-gnu [arm64]=aarch64-linux-gnu [armhf]=arm-linux-gnueabihf [i386]=i686-linux-gnu
  [ppc64el]=powerpc64le-linux-gnu [s390x]=s390x-linux-gnu)
declare -A multiarch=([arm64]=aarch64-linux-gnu [armhf]=arm-linux-gnueabihf [i386]=i386-linux-gnu
  [ppc64el]=powerpc64le-linux-gnu [s390x]=s390x-linux-gnu)

mqbridge=${1:?usage: generate.sh PATH/TO/mqbridge [ARCHITECTURE...]}
shift
(($#)) || set -- "${!compiler[@]}"
made=$(mktemp --suffix=.types)
trap 'rm -f "$made"' EXIT

source=$("$targets" --path openmpi-source)
for architecture in "$@"; do
  [[ -n ${compiler[$architecture]:-} ]] || { echo "generate: no compiler is known for '$architecture'" >&2; exit 2; }
  from=()
  if [[ $architecture != "$(dpkg --print-architecture)" ]]; then
    root=$("$targets" --path "$architecture")
    library=$root/usr/lib/${multiarch[$architecture]}
    from=(--include "$library/openmpi/include" --include "$root/usr/include/${multiarch[$architecture]}"
      --library "$library/libmpi.so.40")
  fi
  "$mqbridge" types make --mpi openmpi --cc "${compiler[$architecture]}-gcc" --source "$source" "${from[@]}" -o "$made"
  version=$(sed -n 's/^version //p' "$made")
  install -m 644 "$made" "$here/openmpi-$version-$architecture.types"
  echo "$here/openmpi-$version-$architecture.types"
done
