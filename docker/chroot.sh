#!/usr/bin/env bash
# Runs a command on this checkout's last commit in a bare Debian of any release, which is removed afterwards.
#   docker/chroot.sh SUITE COMMAND...      (docker/chroot.sh trixie ./dev test)
# As root. debootstrap makes it, from where apt here gets its packages. Processes, devices and network are those of this machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { printf 'chroot: %s\n' "$*" >&2; exit 1; }

(($# >= 2)) || die "usage: chroot.sh SUITE COMMAND..."
((EUID == 0)) || die "only root can do this"
command -v debootstrap >/dev/null || die "no debootstrap: apt install debootstrap"
suite=$1
shift
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' "Codename: $release" 'Component: main' | head -n 1)
[[ -n $mirror ]] || die "apt here knows no Debian: apt-get update"

root=$(mktemp -d --tmpdir=/var/tmp mqbridge-chroot.XXXXXX)
# What is mounted there is mounted in the namespace of the command alone.
trap 'rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase "$suite" "$root/system" "$mirror" >"$root/log" 2>&1 </dev/null || die "debootstrap of $suite:"$'\n'"$(tail "$root/log")"
git clone --quiet . "$root/system/root/mqbridge"
cp /etc/resolv.conf /etc/hosts "$root/system/etc/"
# Not by chroot(2): its root would be no mount, and tests that make namespaces of their own need one.
unshare --mount --propagation private bash -euc '
  root=$1
  shift
  mount --rbind "$root" "$root"
  for folder in proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
  cd "$root"
  pivot_root . mnt
  umount -l /mnt
  cd /root/mqbridge
  exec env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' chroot "$root/system" "$@"
