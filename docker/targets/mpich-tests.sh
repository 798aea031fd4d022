#!/usr/bin/env bash
# MPICH's own tests of messages, communicators and collectives, built for Debian's MPICH and Open MPI (about 10 minutes)
#   docker/targets/mpich-tests.sh DIRECTORY PREFIX
# Fills DIRECTORY with mpich/ and openmpi/, each with the folders pt2pt, comm and coll: programs, and a testlist that says
# how each is run. tests/recorder/mpich_suite.py runs them. The source is that of Debian's package mpich.
set -euo pipefail

version=4.0.2
package=mpich=4.0.2-3
digest=b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860
folders=(pt2pt comm coll)
filled=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'mpich-tests: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }
for tool in make perl mpicc.mpich mpicc.openmpi; do
  command -v "$tool" >/dev/null || die "no $tool: apt install make perl libmpich-dev libopenmpi-dev"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What MPI-1 called so Open MPI has under other names alone.
openmpi_flags="-DOMPI_OMIT_MPI1_COMPAT_DECLS=1 -DMPI_Type_hvector=MPI_Type_create_hvector
  -DMPI_Type_hindexed=MPI_Type_create_hindexed -DMPI_Type_struct=MPI_Type_create_struct"
openmpi_flags=${openmpi_flags//$'\n'/ }

"$here/../source.sh" --suite bookworm "$work/source" "$package" "mpich_$version.orig.tar.xz" "$digest" "mpich-$version/test/mpi"
for mpi in mpich openmpi; do
  flags="-O1 -g0"
  [[ $mpi == mpich ]] || flags+=" $openmpi_flags"
  mkdir "$work/$mpi"
  say "configuring for $mpi"
  (cd "$work/$mpi" && nice -n 19 ../source/test/mpi/configure --with-mpi=/usr CC="mpicc.$mpi" MPICC="mpicc.$mpi" --disable-fortran \
    --disable-f77 --disable-cxx --disable-spawn --disable-romio --disable-dependency-tracking) >"$work/log" 2>&1 ||
    die "failed:"$'\n'"$(tail -n 30 "$work/log")"
  say "compiling for $mpi; what an MPI lacks is left out"
  for folder in util dtpools "${folders[@]}"; do
    nice -n 19 make -k -j"$(nproc)" -C "$work/$mpi/$folder" CFLAGS="$flags" >"$work/log" 2>&1 || true
  done
  for folder in "${folders[@]}"; do
    mkdir -p "$filled/$mpi/$folder"
    cp "$work/$mpi/$folder/testlist" "$filled/$mpi/$folder/"
    find "$work/$mpi/$folder" -maxdepth 1 -type f -executable -exec cp -t "$filled/$mpi/$folder" {} +
    (($(find "$filled/$mpi/$folder" -executable -type f | wc -l) > 20)) ||
      die "hardly a program of $folder could be built for $mpi:"$'\n'"$(tail -n 30 "$work/log")"
  done
done
