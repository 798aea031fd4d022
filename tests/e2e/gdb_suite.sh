#!/usr/bin/env bash
# gdb's own test suite, with `mqbridge proxy` between gdb and gdbserver and without it: the outcomes have to be the same, apart from the
# differences explained below. For a gdb and a gdbserver of the same release, with gcc, g++ and dejagnu.
#   tests/e2e/gdb_suite.sh MQBRIDGE [SOURCE.tar.xz]  (half an hour; MQBRIDGE: the program; SOURCE: release of gdb, else the source package)
#   GDB_SUITE_TESTS='gdb.server/ext-run.exp ...'     only these
#   GDB_SUITE_DIRECTORY=DIRECTORY                    works there and leaves all logs; else in a temporary directory that is removed
set -euo pipefail

boards=(native-gdbserver native-extended-gdbserver)

# Beside all of gdb.server.
chosen=(
  gdb.base/{attach,auxv,break,breakpoint-shadow,call-signal-resume,callfuncs,catch-load,catch-signal,catch-syscall,condbreak,detach}.exp
  gdb.base/{display,dprintf,finish,foll-exec,foll-fork,foll-vfork,gcore,hbreak2,info-proc,interrupt,jit-elf,longjmp,multi-forks}.exp
  gdb.base/{random-signal,sigall,siginfo-obj,signals,step-over-syscall,step-test,store,structs,unload,unwindonsignal}.exp
  gdb.base/{watch-cond,watchpoint}.exp
  gdb.multi/{multi-attach,watchpoint-multi}.exp
  gdb.threads/{fork-child-threads,killed,multi-create,print-threads,schedlock,step-over-trips-on-watchpoint,thread_check}.exp
  gdb.threads/{threadapply,tls,watchthreads}.exp
)

# These once more, with the files of the process read through the stub. gdb's boards read those of this host.
of_files=(
  gdb.base/{auxv,break,catch-load,foll-exec,gcore,info-proc,jit-elf,so-impl-ld,solib-display,solib-symbol,unload}.exp
  gdb.server/{run-without-local-binary,sysroot}.exp
  gdb.threads/{schedlock,tls,tls-shared}.exp
)

# Extended regular expressions for lines of outcomes that may differ.
explained=(
  # Non-stop mode is not offered.
  'non[-_]?stop[ =](on|1)'
)

# skip MESSAGE: it cannot be run here.
skip() {
  printf 'gdb_suite: %s\n' "$*" >&2
  exit 77
}
(($# == 1 || $# == 2)) || { echo "usage: $0 MQBRIDGE [SOURCE.tar.xz]" >&2; exit 2; }
mqbridge=$(realpath "$1")
source=${2:+$(realpath "$2")}
for program in gdb gdbserver runtest gcc g++ xz; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done

if [[ -n ${GDB_SUITE_DIRECTORY:-} ]]; then
  mkdir -p "$GDB_SUITE_DIRECTORY"
  top=$(realpath "$GDB_SUITE_DIRECTORY")
else
  top=$(mktemp -d)
  trap 'rm -rf "$top"' EXIT
fi
cd "$top"

# The source package of gdb, from where the system has its packages.
fetch_source() (
  mkdir -p parts lists/partial
  cd parts
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [[ ! -f $file ]] || sed -E 's/^deb /deb-src /; s/^Types:.*/Types: deb-src/' "$file" >"$(basename "$file")"
  done
  cd ..
  options=(-qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$PWD/parts" -o "Dir::State::Lists=$PWD/lists")
  apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only gdb
) >/dev/null

get_suite() {
  [[ ! -d source/gdb/testsuite ]] || return 0
  mkdir -p source
  if [[ -z $source ]]; then
    (cd source && fetch_source) || skip "apt has no source package of gdb: name its source archive"
    source=$(realpath source/gdb_*.orig.tar.xz)
  fi
  tar -C source --strip-components=1 -xf "$source" --wildcards '*/gdb/testsuite' '*/gdb/features'
  # Two tests at a time, with gdbservers at ports of their own.
  sed -i 's/^set portnum "2345"/set portnum $env(GDB_SUITE_PORT)/' source/gdb/testsuite/lib/gdbserver-support.exp
}

# A board for each of gdb's, with the gdbserver of the environment.
write_boards() {
  mkdir -p boards
  for board in "${boards[@]}"; do
    printf 'load_board_description "%s"\n' "$board" >"boards/mq-$board.exp"
  done
  cat >boards/mq-files.exp <<'TCL'
load_board_description "native-gdbserver"
set GDBFLAGS [string map {{-iex "set sysroot"} {}} $GDBFLAGS]
TCL
  local triplet
  triplet=$(gcc -dumpmachine)
  cat >site.exp <<TCL
set host_triplet $triplet
set build_triplet $triplet
set target_triplet $triplet
set target_alias $triplet
set srcdir $top/source/gdb/testsuite
set tool gdb
set enable_libctf yes
source \${srcdir}/lib/append_gdb_boards_dir.exp
lappend boards_dir "$top/boards"
TCL
}

# A gdbserver with the proxy before it. The proxy listens at the port that is asked for, and the gdbserver at another one. It has the
# test's terminal, as always. As with a gdbserver, who comes later (without --once) finds the process as it was left.
write_server() {
  cat >gdbserver <<'SH'
#!/usr/bin/env bash
runs() { readlink "/proc/$1/exe" >/dev/null; } # a zombie does not

# keep PID PORT INNER READY OPTION...: there is a proxy as long as gdbserver PID is there.
keep() {
  local pid=$1 port=$2 inner=$3 ready=$4 proxy log tries
  shift 4
  for ((tries = 0; tries < 100; ++tries)); do
    runs "$pid" || break
    log=$GDB_SUITE_LOGS/$port.$pid.$tries
    "$MQBRIDGE" proxy ${GDB_SUITE_TRACE:+--trace "$log.trace"} "$@" --listen "127.0.0.1:$port" "127.0.0.1:$inner" >"$log.out" 2>"$log.err" &
    proxy=$!
    while runs "$proxy" && runs "$pid"; do
      [[ ! -s $log.out ]] || mv "$log.out" "$ready" # "ready."
      sleep 0.05
    done
    if runs "$proxy"; then
      sleep 1 # it ends by itself if a debugger was there
      kill "$proxy" 2>/dev/null
    fi
    wait "$proxy"
    if grep -q 'in use' "$log.err"; then
      echo used >"$ready"
      sleep 1
      break
    fi
  done
  rm -f "$ready"
}
if [[ ${1:-} == --keep ]]; then
  keep "${@:2}"
  exit
fi

[[ -n ${MQBRIDGE:-} ]] || exec gdbserver "$@"
words=() place='' skips=false once=false inner=''
for word; do
  if $skips; then # the words of --wrapper
    [[ $word != -- ]] || skips=false
  elif [[ -z $place ]]; then
    case $word in
      --wrapper) skips=true ;;
      --once) once=true ;;
      --*) ;;
      *) place=$word ;;
    esac
    if [[ $place =~ ^(localhost|127\.0\.0\.1)?:([0-9]+)$ ]]; then
      port=${BASH_REMATCH[2]}
      inner=$((port + 20000))
      word=127.0.0.1:$inner
    fi
  fi
  words+=("$word")
done
if [[ -n $inner ]]; then
  options=()
  $once || options=(--on-disconnect stay)
  ready=$GDB_SUITE_LOGS/$port.$$.ready
  setsid "$0" --keep $$ "$port" "$inner" "$ready" "${options[@]}" </dev/null >/dev/null 2>&1 &
  until [[ -s $ready ]]; do
    sleep 0.02
  done
  if [[ $(<"$ready") == used ]]; then
    echo "Can't bind address: Address already in use."
    exit 1
  fi
fi
exec gdbserver "${words[@]}"
SH
  chmod +x gdbserver
}

# run_test DIRECTORY BOARD TEST [MQBRIDGE]: the outcomes in DIRECTORY/outcomes, without numbers that are others each time.
run_test() (
  rm -rf "$1"
  mkdir -p "$1"
  cd "$1"
  cp "$top/site.exp" .
  export GDB_SUITE_LOGS=$PWD GDB_SUITE_PORT=$((10000 + 1000 * SLOT)) TERM=dumb LC_ALL=C
  unset MQBRIDGE DEBUGINFOD_URLS
  [[ -z ${4:-} ]] || export MQBRIDGE=$4
  local status=0
  timeout -k 10 300 setsid -w runtest --tool gdb --target_board="mq-$2" GDB="$(command -v gdb)" GDBSERVER="$top/gdbserver" "$3" \
    </dev/null >output 2>&1 || status=$?
  for process in /proc/[0-9]*; do # what the test has left
    if grep -qzxF "GDB_SUITE_LOGS=$PWD" "$process/environ" 2>/dev/null; then
      kill -9 "${process#/proc/}" 2>/dev/null || true
    fi
  done
  {
    grep -E '^(PASS|FAIL|XPASS|XFAIL|KPASS|KFAIL|UNTESTED|UNSUPPORTED|UNRESOLVED|ERROR): ' gdb.sum ||
      echo 'UNTESTED: not for this board'
    ((status <= 1)) || echo "ERROR: runtest has ended with status $status"
  } | sed -E 's/\b[0-9]{4,}\b/N/g' | sort >outcomes
) 2>/dev/null # multi-ui-errors.exp ends with runtest's own SIGHUP, which bash reports

# differences DIRECTORY: "-PASS: ...": without the proxy only; "+FAIL: ...": with it only.
differences() {
  local explanations
  explanations=$(printf '|%s' "${explained[@]}")
  { diff "$1/alone/outcomes" "$1/through/outcomes" || true; } | sed -n 's/^< /-/p; s/^> /+/p' | { grep -vE "${explanations#|}" || true; } | sort
}

# compare BOARD TEST: a difference counts if it comes three times.
compare() {
  local place=$top/results/$1/${2%.exp} times left=''
  for ((times = 0; times < 3; ++times)); do
    run_test "$place/alone" "$1" "$2"
    run_test "$place/through" "$1" "$2" "$mqbridge"
    if ((times == 0)); then
      left=$(differences "$place")
    else
      left=$(comm -12 <(printf '%s\n' "$left") <(differences "$place"))
    fi
    [[ -n $left ]] || break
  done
  printf '%s\n' "$left" | sed '/^$/d' >"$place/left"
  printf '%-26s %-50s %s\n' "$1" "$2" "$(cut -d: -f1 "$place/through/outcomes" | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)/\2 \1/' | paste -sd' ')"
  sed 's/^/    /' "$place/left"
}

get_suite
write_boards
write_server
mapfile -t tests < <(cd source/gdb/testsuite && ls gdb.server/*.exp)
tests+=("${chosen[@]}")
{
  for board in "${boards[@]}"; do
    printf "$board %s\n" "${tests[@]}"
  done
  printf 'files %s\n' "${of_files[@]}"
} >tests.all
if [[ -n ${GDB_SUITE_TESTS:-} ]]; then # only these; one that is not in the lists, too
  for test in $GDB_SUITE_TESTS; do
    grep -F " $test" tests.all || printf "%s $test\n" "${boards[@]}"
  done >tests.chosen
else
  mv tests.all tests.chosen
fi
export top mqbridge
export -f run_test differences compare
rm -rf results
# Two at a time: most of them wait.
declare -p explained >explained
xargs -P 2 -L 1 --process-slot-var=SLOT bash -c 'set -euo pipefail; source "$top/explained"; compare "$1" "$2"' - <tests.chosen
echo
differing=$(find results -name left -size +0 | wc -l)
echo "$(wc -l <tests.chosen) tests; with differences that are not explained: $differing"
((differing == 0))
