#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/run.sh [-t SECONDS] [-m MEMORY] [-v] COMMAND [ARGUMENT...]
       lab/run.sh -h
Boots the lab's kernel in about two seconds, runs the command inside as root, and powers off. A single COMMAND is shell
text; with arguments it is run as it stands. Output and exit status are the command's.

  -t SECONDS  time limit, 300 by default; past it, the processes still running are listed, and the exit status is 124
  -m MEMORY   the guest's memory, 4G by default; the host provides what the guest touches
  -v          the kernel's own messages to standard error at the end

Inside: the host's files at the same paths (writes reach the host), with /tmp, /run and /dev/shm of the guest's own;
        one processor; no network to the outside;
        RoCE:  rxe0 on 10.77.0.1 and fd77::1 (netdev roce0),
        iWARP: siw0 on 10.78.0.1 and fd78::1 (netdev iwarp0).
Exit status: the command's; 124 past the time limit; 125 if the lab itself failed, with the reason on standard error.
RDMA_LAB_CACHE chooses the directory of the kernel and of the running jobs (see build-kernel.sh -h).
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lab/lib.sh
. "$here/lib.sh"

limit=300 memory=4G verbose=
while getopts t:m:vh option; do
    case $option in
        t) limit=$OPTARG ;;
        m) memory=$OPTARG ;;
        v) verbose=yes ;;
        h) usage && exit ;;
        *) usage >&2 && exit 125 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { usage >&2 && exit 125; }
[[ $limit =~ ^[1-9][0-9]*$ ]] || lab_die 125 "-t wants a number of seconds, not '$limit'"
[[ $memory =~ ^[1-9][0-9]*[KMG]$ ]] || lab_die 125 "-m wants a size such as 2G, not '$memory'"
available=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) * 1024))
[ "$(numfmt --from=iec "$memory")" -le "$available" ] || lab_die 125 "-m $memory is more than this machine has ($(numfmt --to=iec $available))"
[[ $here =~ [[:space:]] ]] && lab_die 125 "the guest cannot be started from a path with a space in it: $here"
[ "$(uname -m)" = x86_64 ] || lab_die 125 "the lab's kernel is built for x86_64 only, not for $(uname -m)"

lab_packages librdmacm1 ibverbs-providers ibverbs-utils rdmacm-utils rdma-core iproute2 procps python3-minimal
kernel=$("$here/build-kernel.sh")

cache=$(lab_cache)
job=$(mktemp -d "$cache/job.XXXXXX")
guest='' watchdog=''
# Ends the guest, if it still runs. The kernel makes itself the leader of a session of its own, and its guest's
# processes, which are processes of the host too, are in that session's one process group.
end_guest() {
    [ -n "$guest" ] || return 0
    kill -9 -- "-$guest" "$guest" "$watchdog" || true
    wait "$guest" "$watchdog" || true
    guest=''
} 2> /dev/null
# shellcheck disable=SC2317 # called by the trap
clean_up() {
    end_guest
    rm -rf "$job"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ $# -eq 1 ]; then printf '%s\n' "$1"; else printf '%q ' "$@"; fi > "$job/command"
pwd > "$job/cwd"
printf '%s\n' "$PWD" "$(dirname "$here")" > "$job/paths"
echo "$limit" > "$job/limit"
echo none > "$job/status"
mkdir "$job/uml"
mkfifo "$job/out" "$job/err"

cat "$job/out" &
out=$!
cat "$job/err" >&2 &
err=$!
"$kernel" mem="$memory" rootfstype=hostfs rootflags=/ rw init="$here/guest-init.sh" LAB_JOB="$job" \
    uml_dir="$job/uml/" con=null con0=null,fd:1 con1=null,fd:3 con2=null,fd:4 quiet \
    < /dev/null > "$job/console" 2>&1 3> "$job/out" 4> "$job/err" &
guest=$!
# The guest ends the job by itself at the limit; the host ends the guest 20 s later, should it no longer be able to.
sleep $((limit + 20)) > /dev/null 2>&1 &
watchdog=$!
ended=0
wait -n $guest $watchdog || ended=$?
end_guest
wait $out $err || true

[ -z "$verbose" ] || cat "$job/console" >&2
status=$(cat "$job/status")
[[ $status =~ ^[0-9]+$ ]] && exit "$status"

# The guest did not get as far as the command's end.
console=$(tail -n 25 "$job/console")
case $status$console in
    lab:*) lab_say "${status#lab: } in the guest: the kernel has no such driver, or the rdma tool failed" ;;
    *'set fp regs failed'*) lab_say "this processor's register state is larger than the kernel was built for (see build-kernel.sh)" ;;
    *'Kernel panic'*) lab_say "the guest's kernel panicked" ;;
    *'No space left'* | *'unable to map'* | *'mmap'*) lab_say "the guest's memory of $memory could not be had; try a smaller -m, or a larger /dev/shm" ;;
    *ptrace*) lab_say "the kernel runs its processes by ptrace, which this host or container forbids" ;;
    *) lab_say "the guest ended before the command did, with status $ended" ;;
esac
{ echo "---- the end of the guest's console" && printf '%s\n' "$console" && echo "----"; } >&2
exit 125
