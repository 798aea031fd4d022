#!/usr/bin/env bash
# Boots the s390x guest: a big-endian 64-bit machine of its own, in qemu-system-s390x. Ends when the guest does.
#   docker/guest/start.sh DIRECTORY PORT...
# The guest sees DIRECTORY as /share, and runs the program `job` in it. The n-th PORT of this machine's loopback
# interface leads to port 7000+n of the guest, which reaches nothing outside. `./dev targets s390x-guest` made it.
set -euo pipefail

die() { printf 'guest: %s\n' "$*" >&2; exit 1; }

(($# >= 2)) || die "usage: start.sh DIRECTORY PORT..."
share=$1
shift
[[ -x $share/job ]] || die "$share/job is no program: it is what the guest runs"
command -v qemu-system-s390x >/dev/null || die "qemu-system-s390x is missing: apt install qemu-system-misc"
guest=$("$(dirname "${BASH_SOURCE[0]}")/../targets.sh" --path s390x-guest)

forwards= number=7001
for port in "$@"; do
  forwards+=",hostfwd=tcp:127.0.0.1:$port-:$((number++))"
done
exec qemu-system-s390x -M s390-ccw-virtio -m 1024 -smp 2 -accel tcg,thread=multi -nographic -no-reboot \
  -kernel "$guest/kernel" -initrd "$guest/initramfs" -append "console=ttysclp0 quiet panic=-1" \
  -netdev "user,id=net,restrict=on$forwards" -device virtio-net-ccw,netdev=net \
  -fsdev "local,id=share,path=${share//,/,,},security_model=none" -device virtio-9p-ccw,fsdev=share,mount_tag=share \
  </dev/null
