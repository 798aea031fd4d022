#!/usr/bin/env bash
# A big-endian 64-bit machine with Open MPI and real gdbservers, for qemu-system-s390x: see docker/guest/start.sh
#
# Fills a directory with `kernel` (Debian's own) and `initramfs`: busybox, gdbserver, mpirun, what they need of
# Debian's s390x packages, and the kernel modules for a network card and for a directory shared with this machine.
set -euo pipefail
result=$1
for tool in cpio readelf; do
  command -v "$tool" >/dev/null || { echo "s390x-guest: $tool is missing: apt install cpio binutils" >&2; exit 1; }
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
debian=$scratch/debian root=$scratch/root
multiarch=lib/s390x-linux-gnu
mkdir -p "$root"/{bin,dev,etc,proc,root,share,sys,tmp,modules}

# take PATH...: a file of the packages under the same name, what a symbolic link leads to, and every library it needs.
take() {
  local path needed found
  for path in "$@"; do
    [[ ! -e $root/$path && ! -L $root/$path ]] || continue
    (cd "$debian" && cp -a --parents "$path" "$root")
    if [[ -L $debian/$path ]]; then
      found=$(readlink "$debian/$path")
      take "$(realpath -s --relative-to="$debian" "$debian/$(dirname "$path")/$found")"
      continue
    fi
    for needed in $(readelf -d "$debian/$path" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
      found=$(library "$needed")
      take "$found"
    done
  done
}

# library NAME: where the dynamic linker would find it.
library() {
  local directory
  for directory in "$multiarch" "usr/$multiarch"; do
    [[ ! -e $debian/$directory/$1 ]] || { printf '%s\n' "$directory/$1"; return; }
  done
  echo "s390x-guest: no package has $1" >&2
  exit 1
}

take_programs() {
  take bin/busybox lib/ld64.so.1 usr/bin/gdbserver usr/bin/orterun
  ln -s orterun "$root/usr/bin/mpirun"
  (cd "$debian" && cp -a --parents etc/openmpi usr/share/openmpi "$root")
  local plugin
  for plugin in $(cd "$debian" && echo usr/"$multiarch"/openmpi/lib/openmpi3/*.so usr/"$multiarch"/pmix2/lib/pmix/*.so); do
    # There is no such hardware, and what drives it is larger than all the rest.
    readelf -d "$debian/$plugin" | grep -qE 'NEEDED.*(libfabric|libibverbs|libmca_common_(ofi|verbs))' || take "$plugin"
  done
  take usr/"$multiarch"/libmpi.so.40
}

# In the order of loading.
take_modules() {
  local module
  for module in net/core/failover drivers/net/net_failover drivers/net/virtio_net \
    fs/netfs/netfs fs/fscache/fscache net/9p/9pnet net/9p/9pnet_virtio fs/9p/9p; do
    cp "$debian"/lib/modules/*/kernel/"$module".ko "$root/modules/"
    printf '%s\n' "$(basename "$module").ko" >>"$root/modules/order"
  done
}

# Runs /share/job, which the one who boots provides, and ends with it.
write_init() {
  cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin HOME=/root
hostname guest
mount -t devtmpfs none /dev
mkdir -p /dev/pts /dev/shm
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devpts none /dev/pts
mount -t tmpfs none /dev/shm
while read -r module; do insmod "/modules/$module"; done </modules/order
ifconfig lo 127.0.0.1 up
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
mount -t 9p -o trans=virtio,version=9p2000.L share /share && cd /share && ./job
echo "guest: the job ended with status $?"
poweroff -f
INIT
  chmod +x "$root/init"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
  echo 'root:x:0:' >"$root/etc/group"
  echo '127.0.0.1 localhost guest' >"$root/etc/hosts"
}

"$(dirname "${BASH_SOURCE[0]}")/../sysroot.sh" --suite bookworm "$debian" s390x \
  libopenmpi3 openmpi-bin gdbserver busybox-static linux-image-s390x
take_programs
take_modules
write_init
(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) | gzip -9n >"$result/initramfs"
cp "$debian"/boot/vmlinuz-* "$result/kernel"
