#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/verbs-speed.sh [-n] [-q] [-h]
Compares verbs in Java with verbs in C, over the Linux kernel's RoCE: lab/c/verbs_speed.c and VerbsSpeed.java are the
same loops in both languages; SpeedComparison.java lets them take short turns and prints a table of the medians. Takes
two minutes on an idle machine.

  64 B round trip, one thread, polling     two queue pairs of one process: post a send, poll until it has arrived, and back
  poll of an empty queue                   ibv_poll_cq alone, and by how much Java's takes longer
  64 B round trip, two processes, events   each end in a process of its own: arm, poll(2), ibv_get_cq_event, ibv_poll_cq

  -n  build nothing; run what was built last
  -q  a few turns only, with limits for a machine that has other things to do: Java/C up to 1.5
Exit status: 0 if Java/C is no more than 1.05 for messages and 15 ns for an empty poll, and if Java allocated nothing
for 10,000 messages or 5,000 polls.
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
        q) options=(-q -l 150) ;;
        h) usage && exit ;;
        *) usage >&2 && exit 125 ;;
    esac
done
[ $OPTIND -gt $# ] || { usage >&2 && exit 125; }

jdk=$("$here/find-jdk.sh")
lab_packages gcc libc6-dev libibverbs-dev librdmacm-dev util-linux
if [ -n "$build" ]; then
    lab_say "building"
    (cd "$root" && mvn -q -B -ntp -DskipTests -pl lab -am package) || lab_die 125 "the build failed (its messages stand above)"
fi
[ -d "$here/target/lib" ] || lab_die 125 "nothing is built yet; run lab/verbs-speed.sh without -n"
gcc -O2 -Wall -Wextra -Werror -o "$here/target/verbs_speed" "$here/c/verbs_speed.c" -lrdmacm -libverbs

# The guest's kernel and each of its programs are processes of the host that take turns. They do so on one processor, or
# one program might have its turns on the kernel's own and the other not, for the whole run, and be slower by that alone.
processor=$(taskset -cp $$ | sed 's/.*[ ,-]//')
taskset -c "$processor" "$here/run.sh" -t 600 "$jdk/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$here/target/classes:$here/target/lib/*" io.rdmanio.lab.verbs.SpeedComparison \
    -x "$here/target/verbs_speed" -a 10.77.0.1 ${options[@]+"${options[@]}"}
