#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/soft-speed.sh [-n] [-q] [-h]
Measures the software device between two processes of this machine; needs no lab. lab/c/soft_speed.c does the same work
over shared memory in C; SoftSpeedComparison.java lets it and SoftSpeed.java take short turns and prints a table of the
medians. Takes two minutes on an idle machine.

  64 B round trip, polling                 written with immediate data; each process polls on a processor of its own
  64 B round trip, events                  arm, poll, wait for the completion channel; C: eventfd and epoll
  64 KiB write                             one after the other, over 16 MiB of the target's memory; C: memcpy
  64 B round trip, events, one processor   both processes on one
  1 MiB write, read                        and for how long the threads of the target ran meanwhile
  idle queue pairs                         1,000 connected ones: memory, descriptors, and processor time of 10 seconds

  -n  build nothing; run what was built last
  -q  fewer turns, with limits for a machine that has other things to do: twice the others, for the lower quartile
Exit status: 0 if Java/C is no more than 2.0 by polling, 1.3 by events, 2.0 for writes, if Java allocated nothing for 5,000
round trips, and if no thread of the device and of the program ran in a target or beside idle queue pairs.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source=lab/lib.sh
. "$here/lib.sh"

build=yes options=()
while getopts nqh option; do
    case $option in
        n) build='' ;;
        q) options=(-q) ;;
        h) usage && exit ;;
        *) usage >&2 && exit 125 ;;
    esac
done
[ $OPTIND -gt $# ] || { usage >&2 && exit 125; }

jdk=$("$here/find-jdk.sh")
lab_packages gcc libc6-dev util-linux
if [ -n "$build" ]; then
    lab_say "building"
    (cd "$root" && mvn -q -B -ntp -DskipTests -pl lab -am package) || lab_die 125 "the build failed (its messages stand above)"
fi
[ -d "$here/target/lib" ] || lab_die 125 "nothing is built yet; run lab/soft-speed.sh without -n"
gcc -O2 -Wall -Wextra -Werror -o "$here/target/soft_speed" "$here/c/soft_speed.c"

# The first and the last processor that this process may use, such as 0 and 3 of "0,2-3".
processors=$(taskset -cp $$ | sed 's/.*: //')
exec "$jdk/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/target/classes:$here/target/lib/*" \
    io.rdmanio.lab.verbs.SoftSpeedComparison -x "$here/target/soft_speed" \
    -p "${processors%%[,-]*}" -o "${processors##*[,-]}" ${options[@]+"${options[@]}"}
