#!/usr/bin/env bash
# The main job as it runs inside the lab's guest, with its proof: main-job-guest.sh DEVICE JDK TARGET FILES
# Started by lab/main-job.sh.
set -euo pipefail
device=$1 jdk=$2 target=$3 files=$4
case $device in rxe0) address=10.77.0.1 kind=RoCE ;; *) address=10.78.0.1 kind=iWARP ;; esac
flag=-Djava.nio.channels.spi.SelectorProvider=io.rdmanio.RdmaSelectorProvider
work=/tmp/main-job
mkdir -p $work/served $work/downloaded

# Two flags more than a user needs, because this machine in a machine is slow: a small collector and one compiler.
program() {
    local name=$1
    shift
    exec "$jdk/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "$flag" \
        -cp "$target/classes:$target/lib/*" "io.rdmanio.lab.programs.$name" "$@"
}
packets() { cat "/sys/class/infiniband/$device/ports/1/hw_counters/sent_pkts" 2> /dev/null || echo 0; }
fail() {
    echo "FAILED: $*" >&2
    tail -n 30 $work/server.out $work/client.out >&2 || true
    exit 1
}

# watch PID... : until the last of the processes ends, notes who of them owns queue pairs and who TCP sockets. The kernel
# names a queue pair's owner by the thread that created it.
watch() {
    local pid owner line last=${*: -1}
    while kill -0 "$last" 2> /dev/null; do
        while read -r line; do
            owner=$(sed -n 's/.* pid \([0-9]*\).*/\1/p' <<< "$line")
            for pid in "$@"; do
                [ ! -d "/proc/$pid/task/$owner" ] || echo "$line" > "$work/queue-pair.$pid"
            done
        done < <(rdma resource show qp link "$device" | grep 'type RC')
        awk 'FNR > 1 {print "socket:[" $10 "]"}' /proc/net/tcp /proc/net/tcp6 | sort > $work/tcp
        for pid in "$@"; do
            find "/proc/$pid/fd" -lname 'socket:*' -printf '%l\n' 2> /dev/null | sort | comm -12 - $work/tcp >> $work/owned-tcp || true
        done
        sleep 0.3
    done
}

: > $work/owned-tcp
mkfifo $work/input
sleep infinity > $work/input &
program JettyFileServer $address 0 $work/served < $work/input > $work/server.out 2>&1 &
server=$!
for _ in {1..300}; do
    grep -q '^READY' $work/server.out && break
    kill -0 $server 2> /dev/null || fail "the server did not start"
    sleep 0.1
done
port=$(sed -n 's/^READY //p' $work/server.out)
[ -n "$port" ] || fail "the server did not get ready"

packets_before=$(packets)
: > $work/client.out
for work_load in "--requests=1000 --body=8388608" "--files=$files --to=$work/downloaded --stop"; do
    # shellcheck disable=SC2086 # two words or three
    program HttpClientFiles $address "$port" $work_load >> $work/client.out 2>&1 &
    client=$!
    watch $server $client
    wait $client || fail "the client ended with status $?"
    [ -s $work/queue-pair.$client ] || fail "the client was never seen with a queue pair on $device"
done
packets=$(($(packets) - packets_before))
wait $server || fail "the server ended with status $?"

[ -s $work/queue-pair.$server ] || fail "the server was never seen with a queue pair on $device"
[ ! -s $work/owned-tcp ] || fail "a TCP socket was seen in the hands of one of the programs"
small=$(grep '^OK requests=' $work/client.out) || fail "no figures of the small requests"
moved=$(grep '^OK files=' $work/client.out) || fail "no figures of the files"
counted=''
[ "$device" != rxe0 ] || counted="packets that rxe0 sent: $packets of up to 4096 bytes; "
# of_queue_pair PID : what is worth reading of a line of the rdma tool.
of_queue_pair() { sed 's/.*\(lqpn [0-9]*\) \(rqpn [0-9]*\) type RC \(state [A-Z]*\) .*/process '"$1"', \1, \2, \3/' "$work/queue-pair.$1"; }
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

cat << END

RDMA-NIO MAIN JOB: passed
programs    Jetty's ServerConnector and java.net.http.HttpClient, unmodified, in two JVMs ($("$jdk/bin/java" -version 2>&1 | sed -n 's/.*version "\([^"]*\)".*/JDK \1/p'))
started by  java $flag -cp ...
transport   rdma over $device ($kind, Linux $(uname -r)), $address:$port
proof       queue pair of the server: $(of_queue_pair $server)
            queue pair of the client: $(of_queue_pair "$client")
            ${counted}TCP sockets of the two programs: none
files       $(value "$moved" files) files, $bytes bytes, uploaded and downloaded, all unchanged (SHA-256, and byte by byte)
throughput  up $(value "$moved" upMiBs) MiB/s, down $(value "$moved" downMiBs) MiB/s
latency     $(value "$small" requests) kept-alive requests of 1 B to 64 KiB: p50 $(value "$small" p50us) us, p99 $(value "$small" p99us) us
END
