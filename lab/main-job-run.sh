#!/usr/bin/env bash
# The main job on the machine that has the device, with its proof: main-job-run.sh DEVICE JDK TARGET FILES
# Started by lab/main-job.sh: on this host for soft0, inside the lab's guest for rxe0 and siw0.
set -euo pipefail
device=$1 jdk=$2 target=$3 files=$4
provider=-Djava.nio.channels.spi.SelectorProvider=io.rdmanio.RdmaSelectorProvider
flags=("$provider")
extra=()
case $device in
    soft0)
        address=127.0.0.1 transport="soft (shared memory between two processes)"
        # Without an RDMA device the provider does this by itself.
        ! compgen -G '/sys/class/infiniband/*' > /dev/null || flags+=(-Dio.rdmanio.policy=soft)
        ;;
    *)
        # Two flags more than a user needs, because this machine in a machine is slow: a small collector and one compiler.
        extra=(-XX:+UseSerialGC -XX:TieredStopAtLevel=1)
        case $device in rxe0) address=10.77.0.1 kind=RoCE ;; *) address=10.78.0.1 kind=iWARP ;; esac
        transport="rdma over $device ($kind, Linux $(uname -r))"
        ;;
esac
work=$(mktemp -d)
mkdir -p "$work/served" "$work/downloaded"
finish() {
    local running
    running=$(jobs -rp)
    # shellcheck disable=SC2086 # several
    [ -z "$running" ] || kill $running 2> /dev/null || true
    rm -rf "$work"
}
trap finish EXIT

program() {
    local name=$1
    shift
    exec "$jdk/bin/java" ${extra[@]+"${extra[@]}"} "${flags[@]}" \
        -cp "$target/classes:$target/lib/*" "io.rdmanio.lab.programs.$name" "$@"
}
packets() { cat "/sys/class/infiniband/$device/ports/1/hw_counters/sent_pkts" 2> /dev/null || echo 0; }
fail() {
    echo "FAILED: $*" >&2
    tail -n 30 "$work/server.out" "$work/client.out" >&2 || true
    exit 1
}

# note_queue_pairs PID... : who of them owns queue pairs. The kernel names an owner by the thread that created the queue pair.
note_queue_pairs() {
    local pid owner line
    while read -r line; do
        owner=$(sed -n 's/.* pid \([0-9]*\).*/\1/p' <<< "$line")
        for pid in "$@"; do
            [ ! -d "/proc/$pid/task/$owner" ] || echo "$line" > "$work/queue-pair.$pid"
        done
    done < <(rdma resource show qp link "$device" | grep 'type RC')
}

# sockets_of PID : its sockets, as the kernel's tables name them.
sockets_of() { find "/proc/$1/fd" -lname 'socket:*' -printf '%l\n' 2> /dev/null | sort; }

# note_shared_memory PID... : the connected sockets for messages (SOCK_SEQPACKET) that each has, and the memory without a
# file that it maps: inode and bytes.
note_shared_memory() {
    local pid
    awk 'FNR > 1 && $5 == "0005" && $6 == "03" {print "socket:[" $7 "]"}' /proc/net/unix | sort > "$work/seqpacket"
    for pid in "$@"; do
        sockets_of "$pid" | comm -12 - "$work/seqpacket" >> "$work/control.$pid" || true
        { grep 'rw-s .* /memfd:' "/proc/$pid/maps" 2> /dev/null || true; } | while read -r range _ _ _ inode _; do
            echo "$inode $((16#${range#*-} - 16#${range%-*}))"
        done >> "$work/memory.$pid"
    done
}

# watch PID... : until the last of the processes ends, notes what each has of the device, and who owns TCP sockets.
watch() {
    local pid last=${*: -1}
    while kill -0 "$last" 2> /dev/null; do
        if [ "$device" = soft0 ]; then note_shared_memory "$@"; else note_queue_pairs "$@"; fi
        awk 'FNR > 1 {print "socket:[" $10 "]"}' /proc/net/tcp /proc/net/tcp6 2> /dev/null | sort > "$work/tcp"
        for pid in "$@"; do
            sockets_of "$pid" | comm -12 - "$work/tcp" >> "$work/owned-tcp" || true
        done
        sleep 0.2
    done
}

# seen NAME PID : a process was seen with what the device gives to connections.
seen() {
    if [ "$device" = soft0 ]; then
        [ -s "$work/control.$2" ] || fail "the $1 was never seen with a control socket of the software device"
        [ -s "$work/memory.$2" ] || fail "the $1 was never seen with memory that it shares"
    else
        [ -s "$work/queue-pair.$2" ] || fail "the $1 was never seen with a queue pair on $device"
    fi
}

: > "$work/owned-tcp"
mkfifo "$work/input"
: > "$work/server.out"
exec 9<> "$work/input"
program JettyFileServer "$address" 0 "$work/served" < "$work/input" 9>&- > "$work/server.out" 2>&1 &
server=$!
for _ in {1..300}; do
    grep -q '^READY' "$work/server.out" && break
    kill -0 $server 2> /dev/null || fail "the server did not start"
    sleep 0.1
done
port=$(sed -n 's/^READY //p' "$work/server.out")
[ -n "$port" ] || fail "the server did not get ready"

packets_before=$(packets)
: > "$work/client.out"
for work_load in "--requests=1000 --body=8388608" "--files=$files --to=$work/downloaded --stop"; do
    # shellcheck disable=SC2086 # two words or three
    program HttpClientFiles "$address" "$port" $work_load >> "$work/client.out" 2>&1 &
    client=$!
    watch $server $client
    wait $client || fail "the client ended with status $?"
    seen client $client
done
packets=$(($(packets) - packets_before))
wait $server || fail "the server ended with status $?"

seen server $server
[ ! -s "$work/owned-tcp" ] || fail "a TCP socket was seen in the hands of one of the programs"
small=$(grep '^OK requests=' "$work/client.out") || fail "no figures of the small requests"
moved=$(grep '^OK files=' "$work/client.out") || fail "no figures of the files"
value() { sed -n "s/.* $2=\([0-9.]*\).*/\1/p" <<< " $1"; }
bytes=$(value "$moved" bytes)
for file in "$files"/*; do
    name=$(basename "$file")
    cmp -s "$file" "$work/served/$name" || fail "$name is not what it was when it arrived at the server"
    cmp -s "$file" "$work/downloaded/$name" || fail "$name is not what it was when it came back"
done
if [ "$device" = rxe0 ] && ((packets * 4096 < 2 * bytes)); then
    fail "$device sent $packets packets, too few for the files"
fi

# of_queue_pair PID : what is worth reading of a line of the rdma tool.
of_queue_pair() { sed 's/.*\(lqpn [0-9]*\) \(rqpn [0-9]*\) type RC \(state [A-Z]*\) .*/process '"$1"', \1, \2, \3/' "$work/queue-pair.$1"; }
proof() {
    local counted='' pieces bytes_shared
    if [ "$device" = soft0 ]; then
        read -r pieces bytes_shared < <(
            comm -12 <(sort -u "$work/memory.$server") <(sort -u "$work/memory.$client") |
                awk '{bytes += $2} END {print NR, bytes + 0}'
        )
        ((pieces > 0)) || fail "no piece of memory was seen that both programs map"
        echo "process $server and process $client map the same $pieces pieces of memory, $((bytes_shared >> 10)) KiB"
        echo "control sockets (Unix, SEQPACKET) that they had: $(sort -u "$work/control.$server" | wc -l) and $(sort -u "$work/control.$client" | wc -l)"
    else
        echo "queue pair of the server: $(of_queue_pair "$server")"
        echo "queue pair of the client: $(of_queue_pair "$client")"
        [ "$device" != rxe0 ] || counted="packets that rxe0 sent: $packets of up to 4096 bytes; "
    fi
    echo "${counted}TCP sockets of the two programs: none"
}
proof=$(proof)

cat << END

RDMA-NIO MAIN JOB: passed
programs    Jetty's ServerConnector and java.net.http.HttpClient, unmodified, in two JVMs ($("$jdk/bin/java" -version 2>&1 | sed -n 's/.*version "\([^"]*\)".*/JDK \1/p'))
started by  java ${flags[*]} -cp ...
transport   $transport, $address:$port
proof       ${proof//$'\n'/$'\n'            }
files       $(value "$moved" files) files, $bytes bytes, uploaded and downloaded, all unchanged (SHA-256, and byte by byte)
throughput  up $(value "$moved" upMiBs) MiB/s, down $(value "$moved" downMiBs) MiB/s
latency     $(value "$small" requests) kept-alive requests of 1 B to 64 KiB: p50 $(value "$small" p50us) us, p99 $(value "$small" p99us) us
END
