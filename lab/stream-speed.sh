#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/stream-speed.sh [-n] [-q] [-l NAMES] [-p JVM-OPTIONS] [-h]
Compares channels over the software device with the JDK's own over TCP on loopback; needs no lab. The same program on plain
java.nio (StreamSpeed.java), a server and a client in JVMs of their own, does the same work over both, in short turns in
changing order (A B B A); StreamSpeedComparison.java prints a table of the medians of the pairs' ratios with their middle
half, and the limit beside each. Takes a minute or two on an idle machine.

  ping-64, ping-16k, ping-64k              round trips of that size on one connection, each side with a selector
  waiting-64, waiting-16k, waiting-64k     the same in blocking mode

  -n  build nothing; run what was built last
  -q  fewer turns, and the better quartile instead of the median; takes less than a minute
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
if [ -n "$build" ]; then
    lab_say "building"
    (cd "$root" && mvn -q -B -ntp -DskipTests -pl lab -am package) || lab_die 125 "the build failed (its messages stand above)"
fi
[ -d "$here/target/lib" ] || lab_die 125 "nothing is built yet; run lab/stream-speed.sh without -n"

exec "$jdk/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/target/classes:$here/target/lib/*" \
    io.rdmanio.lab.streams.StreamSpeedComparison ${options[@]+"${options[@]}"}
