#!/usr/bin/env bash
# In a bare system of its own (docker/chroot.sh), older than the one that built it, which gets the archive on stdin: a real job that hangs is
# dumped, and recorded.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq --no-install-recommends gcc libc6-dev libopenmpi-dev openmpi-bin gdbserver xz-utils >/dev/null 2>&1
mkdir -p /opt /tmp/try/inferiors
tar --extract --xz --directory=/opt
prefix=$(echo /opt/mqbridge-*)
ln -s "$prefix/bin/mqbridge" /tmp/try/mqbridge
mpicc -g -O1 -w -D_GNU_SOURCE -I. tests/inferiors/ring_deadlock.c tests/inferiors/job_files.c -o /tmp/try/inferiors/ring_deadlock

# expect FILE PATTERN...: a line for each.
expect() {
  local file=$1 pattern
  shift
  for pattern in "$@"; do
    grep -Eq -- "$pattern" "$file" || { echo "try: no line of this form: $pattern" >&2 && cat "$file" >&2 && exit 1; }
  done
}
docker/demo.sh /tmp/try >/tmp/try/out 2>&1 || { cat /tmp/try/out >&2 && exit 1; }
expect /tmp/try/out '^VERDICT  DEADLOCK \(certain\): 4 ranks in a cycle' '^  rank 2  MPI_Recv from 1 tag 17 on C1 +ring_deadlock.c:[0-9]+$'
export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PMIX_MCA_gds=hash
status=0
"$prefix/bin/mqbridge" run --record-queues --timeout 5 -- mpirun --oversubscribe -np 4 /tmp/try/inferiors/ring_deadlock /tmp/try >/tmp/try/out 2>&1 || status=$?
((status == 124)) || { cat /tmp/try/out >&2 && exit 1; }
expect /tmp/try/out 'DLL libmqbridge-queues.so' '^VERDICT  DEADLOCK'
echo "$("$prefix/bin/mqbridge" --version): works on $(. /etc/os-release && echo "$PRETTY_NAME"), $(ldd --version | head -n 1)"
