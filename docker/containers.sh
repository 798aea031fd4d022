#!/usr/bin/env bash
# The first try on two nodes that docker/compose.yaml is for, from building the images to the dump. Called by
# `./dev containers`.
#   docker/containers.sh [--over ucx] [OPTION of mqbridge dump...]      over UCX, else by ob1
#   docker/containers.sh --images                      only builds the images
# The dump comes on stdout, all else on stderr. Exit status: mqbridge's own; 1 if it did not come to that.
#
# Done with podman, as root, in a storage of its own (mqbridge/containers of the user's cache directory): podman's
# other images, containers and networks are not touched. The images are built on $MQBRIDGE_BASE_IMAGE, else on a Debian
# made by debootstrap from where apt here gets its packages: no image registry is needed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
store=${XDG_CACHE_HOME:-~/.cache}/mqbridge/containers
engine=(podman --root "$store/storage" --runroot "$store/run" --network-config-dir "$store/networks")
own_base=localhost/mqbridge-base:bookworm-slim
work=$(mktemp -d)
service=
transport=ob1
[[ ${1:-} != --over ]] || { transport=${2:?}; shift 2; }

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'containers: %s\n' "$*" >&2; exit 1; }

# Builds by the API of podman's service, whether or not there is a docker here.
compose() {
  COMPOSE_DOCKER_CLI_BUILD=0 docker-compose --project-name "mqbridge-try-$$" --file docker/compose.yaml "$@"
}

finish() {
  set +e # whatever is gone already, the rest must go too
  if [[ -n $service ]]; then
    compose down --volumes --timeout 1 >"$work/down.log" 2>&1 || cat "$work/down.log" >&2
    # What a run that was killed has left goes with it: all in this storage is this script's.
    "${engine[@]}" ps --all --quiet --external | xargs -r "${engine[@]}" rm --force >"$work/rm.log"
    kill "$service" 2>/dev/null && wait "$service" 2>/dev/null
  fi
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# quietly WHAT COMMAND...: its words are shown only if it fails.
quietly() {
  local what=$1
  shift
  say "$what"
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; die "failed: $what"; }
}

# Neither systemd nor limits above those of this process are needed. What podman keeps of an exec for those who ask how
# it ended goes after 10 s, instead of 5 minutes.
write_configuration() {
  local files processes most_processes
  files=$(ulimit -Hn) processes=$(ulimit -Hu) most_processes=$(</proc/sys/kernel/pid_max)
  # podman has lowered its own to what the kernel has room for.
  [[ $processes != unlimited ]] && ((processes < most_processes)) || processes=$most_processes
  cat >"$work/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=$files:$files", "nproc=$processes:$processes"]
init_path = "$(command -v catatonit)"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
exit_command_delay = 10
[network]
network_backend = "netavark"
CONF
  export CONTAINERS_CONF=$work/containers.conf
}

make_base() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' \
    'Identifier: Packages' 'Origin: Debian' 'Codename: bookworm' 'Component: main' | head -n 1)
  [[ -n $mirror ]] || die "apt here knows no Debian 12 (bookworm): name an image of it in MQBRIDGE_BASE_IMAGE"
  quietly "Debian by debootstrap" debootstrap --variant=minbase --include=ca-certificates --exclude=e2fsprogs,libext2fs2,libss2,logsave,tzdata \
    bookworm "$work/base" "$mirror"
  # As in debian:bookworm-slim, neither it nor what is installed on it brings pages and translations.
  printf '%s\n' 'path-exclude /usr/share/'{doc,info,locale,man}'/*' 'path-include /usr/share/doc/*/copyright' >"$work/base/etc/dpkg/dpkg.cfg.d/slim"
  rm -rf "$work"/base/{var/{cache/apt,lib/apt/lists},usr/share/{info,locale,man}}/*
  find "$work/base/usr/share/doc" -type f ! -name copyright -delete
  tar -C "$work/base" --one-file-system -c . | "${engine[@]}" import --quiet - "$own_base" >/dev/null
  rm -rf "$work/base"
}

start_service() {
  "${engine[@]}" system service --time=0 "unix://$work/socket" >"$work/service.log" 2>&1 {lock}>&- &
  service=$!
  local tries=100
  until [[ -S $work/socket ]]; do
    ((tries-- > 0)) && kill -0 "$service" 2>/dev/null || { cat "$work/service.log" >&2; die "podman does not come up"; }
    sleep 0.1
  done
  export DOCKER_HOST=unix://$work/socket
}

# Each rank of a node runs; none has been left stopped.
expect_running() {
  compose exec -T "$1" sh -c '
    for file in /tmp/job/ready.*; do
      grep -q "^State:.[RS]" "/proc/$(cat "$file")/status" || exit 1
    done' </dev/null || die "a rank on $1 does not run on after the dump"
}

for tool in podman docker-compose debootstrap runc catatonit; do
  command -v "$tool" >/dev/null || die "$tool is missing: ./dev containers installs it"
done
((EUID == 0)) || die "only root can do this here; with Docker, see docker/compose.yaml"
mkdir -p "$store"
exec {lock}>"$store/lock"
flock -n "$lock" || { say "waiting for another run"; flock "$lock"; }
write_configuration
if [[ -z ${MQBRIDGE_BASE_IMAGE:-} ]]; then
  "${engine[@]}" image exists "$own_base" || make_base
  export MQBRIDGE_BASE_IMAGE=$own_base
fi
start_service
quietly "building the images (some minutes when the sources have changed)" compose build
# What earlier builds have left: without this the storage grows with each change of the sources.
"${engine[@]}" image prune --force --filter until=168h >"$work/log" 2>&1
[[ ${1:-} != --images ]] || exit 0
quietly "starting node1, node2 and host" compose up -d
quietly "node1: deadlocked-job $transport" compose exec -T node1 deadlocked-job "$transport"
targets=(node1:7001 node1:7002 node2:7003 node2:7004)
say "host: mqbridge dump ${targets[*]} $*"
status=0
compose exec -T host mqbridge dump "${targets[@]}" "$@" </dev/null || status=$?
((status == 0)) || exit "$status"
expect_running node1
expect_running node2
