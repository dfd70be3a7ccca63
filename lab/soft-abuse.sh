#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/soft-abuse.sh [-k KILLS] [-s SEEDS] [-r SEED] [-h]
Abuses the software device at length; needs no lab. The tests are those of the ordinary build, which runs fewer rounds.

  -k KILLS   processes killed (SIGKILL) at a random moment under traffic, 200; 0 for none. KilledPeerTest.java
  -s SEEDS   peers that write anything into shared memory and control sockets, 10,000; 0 for none. HostilePeerTest.java
  -r SEED    the seed to begin with, such as one that a failure names; by default another each time, which is printed
Exit status: 0 when nobody but the abusers came to harm.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source=lab/lib.sh
. "$here/lib.sh"

kills=200 seeds=10000 properties=()
while getopts k:s:r:h option; do
    case $option in
        k) kills=$OPTARG ;;
        s) seeds=$OPTARG ;;
        r) properties=("-Dio.rdmanio.test.seed=$OPTARG") ;;
        h) usage && exit ;;
        *) usage >&2 && exit 125 ;;
    esac
done
[ $OPTIND -gt $# ] || { usage >&2 && exit 125; }

tests=()
[ "$kills" -eq 0 ] || tests+=(KilledPeerTest)
[ "$seeds" -eq 0 ] || tests+=(HostilePeerTest)
[ ${#tests[@]} -gt 0 ] || lab_die 125 "nothing to do"
cd "$root"
exec mvn -B -ntp -pl rdma-nio-native test -Dtest="$(IFS=, && echo "${tests[*]}")" -Dtest.jvm.seconds=7200 \
    -Dio.rdmanio.test.kills="$kills" -Dio.rdmanio.test.hostile="$seeds" ${properties[@]+"${properties[@]}"}
