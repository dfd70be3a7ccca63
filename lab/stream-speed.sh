#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/stream-speed.sh [-n] [-q] [-l NAMES] [-p JVM-OPTIONS] [-h]
Compares channels over the software device with the JDK's own over TCP on loopback; needs no lab. The same program on plain
java.nio (StreamSpeed.java), a server and a client in JVMs of their own, does the same work over both, in short turns in
changing order (A B B A); StreamSpeedComparison.java prints a table of the medians of the pairs' ratios with their middle
half, and the limit beside each. Takes a quarter of an hour on an idle machine.

  ping-64, ping-16k, ping-64k              round trips of that size on one connection, each side with a selector
  waiting-64, waiting-16k, waiting-64k     the same in blocking mode
  nopoll-ping-64 and so on                 all six with -Dio.rdmanio.busyPoll=false
  load-ping-64, load-waiting-64            the small ones, with a process on each processor that does not pause
  stream-64k, stream-1k                    writes of that size, one way, as fast as they are taken, with selectors
  waiting-stream-64k, waiting-stream-1k    the same in blocking mode
  connections-64, connections-1000         so many connections on one selector on each side, a request of 64 B under way on each
  connect-64, connect-1000                 how long it takes to connect and accept so many
  idle-1000                                for how long threads run in 10 seconds with so many connections and nothing to do

  -n  build nothing; run what was built last
  -q  fewer turns, in the same JVMs for all lines, the better quartile instead of the median, and no limit for
      allocations; takes a minute
  -l  only these lines: names or patterns such as 'ping-*', separated by commas
  -p  the line (-l) alone, over the software device, for 20 seconds, with further options of the JVMs, for a profiler:
      -p '-XX:StartFlightRecording:filename=/tmp/%p.jfr,settings=profile'
Exit status: 0 if all limits are kept, 1 if not.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source=lab/lib.sh
. "$here/lib.sh"

build=yes options=()
while getopts nql:p:h option; do
    case $option in
        n) build='' ;;
        q) options+=(-q) ;;
        l) options+=(-l "$OPTARG") ;;
        p) options+=(-p "$OPTARG") ;;
        h) usage && exit ;;
        *) usage >&2 && exit 125 ;;
    esac
done
[ $OPTIND -gt $# ] || { usage >&2 && exit 125; }

jdk=$("$here/find-jdk.sh")
lab_packages util-linux
if [ -n "$build" ]; then
    lab_say "building"
    (cd "$root" && mvn -q -B -ntp -DskipTests -pl lab -am package) || lab_die 125 "the build failed (its messages stand above)"
fi
[ -d "$here/target/lib" ] || lab_die 125 "nothing is built yet; run lab/stream-speed.sh without -n"

exec "$jdk/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/target/classes:$here/target/lib/*" \
    io.rdmanio.lab.streams.StreamSpeedComparison ${options[@]+"${options[@]}"}
