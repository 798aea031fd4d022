#!/usr/bin/env bash
# A 4-rank Open MPI job that is really deadlocked, found and dumped. Called by `./dev demo`.
#   docker/demo.sh BUILD_DIRECTORY [ARGUMENTS...]      with arguments: what mqbridge prints of the job then, and nothing else
set -euo pipefail
build=$1
shift
work=$(mktemp -d)
job=

finish() {
  set +e # whatever is gone already, the rest must go too
  [[ -n $job ]] && kill -TERM "$job" 2>/dev/null && wait "$job" 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# wait_for SECONDS WHAT COMMAND...: until the command succeeds.
wait_for() {
  local tries=$(($1 * 20)) what=$2
  shift 2
  until "$@" 2>/dev/null; do
    ((tries-- > 0)) || {
      echo "demo: $what did not come" >&2
      cat "$work"/*.log >&2
      exit 1
    }
    sleep 0.05
  done
}
all_ready() { [[ $(find "$work" -name 'ready.*' | wc -l) == 4 ]]; }

# One machine, no ssh, perhaps root in a container: mpirun shall not mind. From Open MPI 5 on it is PRRTE's.
export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1 PMIX_MCA_gds=hash
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
(($#)) || echo "1. mpirun -np 4 ring_deadlock: every rank waits for its left neighbour before it sends to its right one"
mpirun --oversubscribe -np 4 "$build/inferiors/ring_deadlock" "$work" >"$work/mpirun.log" 2>&1 &
job=$!
wait_for 30 "the job" all_ready
sleep 0.3 # until all ranks are inside of the receive that never ends

if (($#)); then
  "$build/mqbridge" "$@"
  exit
fi
echo "2. mqbridge ranks"
echo
"$build/mqbridge" ranks || [[ $? == 1 ]] # other users' processes may not be read
echo
echo "3. mqbridge dump --mpirun $job --analyze"
echo
status=0
"$build/mqbridge" dump --mpirun "$job" --analyze || status=$?
echo
((status == 0)) || {
  echo "demo: mqbridge ended with status $status" >&2
  exit "$status"
}
kill -0 "$job"
echo "To be seen: on MPI_COMM_WORLD every rank's recv with tag 17 is pending from its left neighbour, a ring: 0 <- 3 <- 2 <- 1 <- 0."
