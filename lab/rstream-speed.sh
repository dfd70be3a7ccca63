#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/rstream-speed.sh [-n] [-d DEVICE] [-s SIZES] [-t TURNS] [-h]
Compares channels with rsockets in C, over the Linux kernel's RoCE and iWARP: rdma-core's rstream and RstreamPeer, which does
the same on plain blocking channels, send messages of one size to and fro between two processes, in short turns one after the
other: both in C, both in Java, and Java against C in either role. Prints the medians of the microseconds that a message
takes one way, and of the ratios of neighbouring turns in Java and in C. Takes some ten minutes on an idle machine.

  -n         build nothing; run what was built last
  -d DEVICE  rxe0 or siw0 alone
  -s SIZES   message sizes, separated by commas; 64,1024,16384,65536 by default
  -t TURNS   turns of each kind and size; 15 by default
Exit status: 0 if Java/C is no more than 1.10 for every size and both devices, 1 if it is more.

Both sides wait for each message as they do for a program that blocks: rsockets look for 10 us and then sleep, channels sleep at
once, since the guest has one processor. Who polled for longer would only keep its peer from answering.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source=lab/lib.sh
. "$here/lib.sh"

build=yes inside='' devices='rxe0 siw0' sizes=64,1024,16384,65536 turns=15
while getopts nd:s:t:ih option; do
    case $option in
        n) build='' ;;
        d) devices=$OPTARG ;;
        s) sizes=$OPTARG ;;
        t) turns=$OPTARG ;;
        i) inside=yes ;; # in the guest; for the script itself
        h) usage && exit ;;
        *) usage >&2 && exit 125 ;;
    esac
done
[ $OPTIND -gt $# ] || { usage >&2 && exit 125; }
[[ $devices =~ ^(rxe0|siw0|rxe0 siw0)$ ]] || lab_die 125 "-d wants rxe0 or siw0, not '$devices'"
[[ $sizes =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || lab_die 125 "-s wants sizes separated by commas, not '$sizes'"
[[ $turns =~ ^[1-9][0-9]*$ ]] || lab_die 125 "-t wants a number of turns, not '$turns'"

if [ -z "$inside" ]; then
    lab_packages rdmacm-utils util-linux
    if [ -n "$build" ]; then
        lab_say "building"
        (cd "$root" && mvn -q -B -ntp -DskipTests -pl lab -am package) || lab_die 125 "the build failed (its messages stand above)"
    fi
    [ -d "$here/target/lib" ] || lab_die 125 "nothing is built yet; run lab/rstream-speed.sh without -n"
    # One processor: see verbs-speed.sh.
    processor=$(taskset -cp $$ | sed 's/.*[ ,-]//')
    status=0
    for device in $devices; do
        taskset -c "$processor" "$here/run.sh" -t 1800 "$here/rstream-speed.sh" -i -d "$device" -s "$sizes" -t "$turns" ||
            status=$?
    done
    exit $status
fi

# -- in the guest, for one device --

jdk=$("$here/find-jdk.sh")
address=10.77.0.1
[ "$devices" = rxe0 ] || address=10.78.0.1
work=$(mktemp -d)
java_port=7471 c_port=7472
most=1.10
IFS=, read -r -a size_list <<< "$sizes"

# The rounds of a turn: half a second, or it is measured how a connection begins.
rounds_of() { echo $((5000 / (1 + $1 / 8192))); }

# The Java ends live as long as all turns last: two turns each for every turn of a size, one of them with C. Before all there is
# a long one for the compilers, which soon have nothing to do: they and the programs share a processor.
warm_ups=1
size_plan=",64" rounds_plan=",100000" port_plan=",$java_port"
for size in "${size_list[@]}"; do
    for ((turn = 0; turn < turns + warm_ups; turn++)); do
        size_plan+=,$size,$size rounds_plan+=,$(rounds_of "$size"),$(rounds_of "$size") port_plan+=,$java_port,$c_port
    done
done
java() {
    exec "$jdk/bin/java" -XX:+UseSerialGC -XX:-UsePerfData -Xmn4m --enable-native-access=ALL-UNNAMED \
        -Djava.nio.channels.spi.SelectorProvider=io.rdmanio.RdmaSelectorProvider \
        -cp "$here/target/classes:$here/target/lib/*" io.rdmanio.lab.programs.RstreamPeer \
        -S "${size_plan#,}" -I "${rounds_plan#,}" -C 1 -p "${port_plan#,}" "$@"
}
await_line() { # await_line DESCRIPTOR PATTERN : prints the first line that matches
    local line
    while IFS= read -t 120 -r -u "$1" line; do
        [[ $line =~ $2 ]] && echo "$line" && return
    done
    cat "$work"/*.err >&2
    lab_die 1 "no line with '$2' has come"
}
await_c_server() {
    local i
    for ((i = 0; i < 600; i++)); do
        rdma resource show cm_id | grep -q "state LISTEN.*:$c_port " && return
        sleep 0.05
    done
    lab_die 1 "rstream does not listen"
}

# What follows prints the microseconds of a message one way, which clients tell in their last column.
c_client() { # c_client SIZE PORT
    timeout 120 rstream -T b -C 1 -S "$1" -I "$(rounds_of "$1")" -s $address -p "$2" | awk '/^custom/ {print $NF}'
}
java_client() {
    echo >&"$to_client"
    await_line "$from_client" '^custom' | awk '{print $NF}'
}
with_c_server() { # with_c_server SIZE CLIENT...
    timeout 120 rstream -T b -C 1 -S "$1" -I "$(rounds_of "$1")" -b $address -p $c_port > "$work/rstream" &
    await_c_server
    "${@:2}"
    wait $!
}
take() { # take SIZE KIND : a turn
    case $2 in
        c-c) with_c_server "$1" c_client "$1" $c_port ;;
        java-java) java_client ;;
        c-java) c_client "$1" $java_port ;;
        java-c) with_c_server "$1" java_client ;;
    esac
}

mkfifo "$work/to" "$work/from" "$work/server"
java -b $address > "$work/server" 2> "$work/server.err" &
exec {from_server}< "$work/server"
await_line "$from_server" '^READY' > "$work/ready"
cat <&"$from_server" > "$work/server.out" &
java -s $address -T turns < "$work/to" > "$work/from" 2> "$work/client.err" &
exec {to_client}> "$work/to" {from_client}< "$work/from"
take 64 java-java > "$work/warm-up"

for size in "${size_list[@]}"; do
    for ((turn = 0; turn < turns + warm_ups; turn++)); do
        # The channels' client takes its two in this order.
        kinds=(c-c java-java c-java java-c)
        ((turn % 2 == 0)) || kinds=(java-java java-c c-java c-c)
        for kind in "${kinds[@]}"; do
            taken=$(take "$size" "$kind")
            [[ $taken =~ ^[0-9.]+$ ]] || { cat "$work"/*.err >&2 && lab_die 1 "no figure for $kind, $size bytes: '$taken'"; }
            ((turn < warm_ups)) || echo "$taken" >> "$work/$size.$kind"
        done
    done
done

median() { sort -n | awk '{value[NR] = $1} END {print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2}'; }
printf '%-6s %8s %6s | %9s %9s %9s %9s | %8s\n' device bytes turns C-C Java-Java C-Java Java-C 'Java/C'
missed=0
for size in "${size_list[@]}"; do
    ratio=$(paste "$work/$size.java-java" "$work/$size.c-c" | awk '{print $1 / $2}' | median)
    printf '%-6s %8d %6d | %9.1f %9.1f %9.1f %9.1f | %8.2f %s\n' "$devices" "$size" "$turns" \
        "$(median < "$work/$size.c-c")" "$(median < "$work/$size.java-java")" \
        "$(median < "$work/$size.c-java")" "$(median < "$work/$size.java-c")" "$ratio" \
        "$(awk -v ratio="$ratio" -v most=$most 'BEGIN {if (ratio > most) print "MISSED"}')"
    awk -v ratio="$ratio" -v most=$most 'BEGIN {exit ratio > most}' || missed=1
done
exit $missed
