#!/bin/sh
# In the guest: an MPI job of a program of the shared directory, and real gdbservers to look into it.
#   ranks.sh attach|multi SPINNING PROGRAM ARGUMENT...
# Two ranks. Each says by a file ready.RANK that it can be looked into (tests/inferiors/job_files.h); those whose
# numbers are in SPINNING ("0 1", or "") block in an MPI call after that, and spin. Then
#   attach  a gdbserver attached to each rank, on ports 7001 and 7002 of the guest
#   multi   one that attaches to what it is told, on port 7001
# say by gdbserver.log.1 (and .2) that they listen.
set -eu
mode=$1 spinning=$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated PMIX_MCA_gds=hash
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader

# Clock ticks (1/100 s) that a process has used in user mode.
ticks() { cut -d ' ' -f 14 "/proc/$1/stat"; }

mpirun --oversubscribe -np 2 "$@" &
job=$!
for rank in 0 1; do
  until [ -e "ready.$rank" ]; do
    kill -0 "$job" # or the job has ended, and its words are on the console
    usleep 50000
  done
done
for rank in $spinning; do
  before=$(ticks "$(cat "ready.$rank")")
  until [ "$(ticks "$(cat "ready.$rank")")" -ge $((before + 20)) ]; do usleep 50000; done
done

case $mode in
  attach)
    for rank in 0 1; do
      number=$((rank + 1))
      gdbserver --once --attach ":$((7000 + number))" "$(cat "ready.$rank")" 2>"gdbserver.log.$number" &
    done
    ;;
  multi) gdbserver --multi :7001 2>gdbserver.log.1 & ;;
esac
wait "$job"
