#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: jmh/run.sh [smoke|full] [JMH OPTION...] [REGEXP...]
Runs the benchmarks: smoke (the default) only shows in under two minutes that each of them works, its numbers mean little;
full measures as each class says. Builds the jar first if a source is newer. Options go to JMH; a REGEXP chooses benchmarks.
The results are also in target/jmh-MODE.json.
Exit status: 0 when every benchmark ran, else 1.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")

mode=${1:-smoke}
shift || true
case $mode in
    smoke) preset=(-f 1 -wi 1 -w 200ms -i 2 -r 200ms) ;;
    full) preset=() ;;
    -h | --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
esac

jdk=$("$root/lab/find-jdk.sh")
target=$here/target
jar=$target/benchmarks.jar
sources=("$root"/pom.xml "$root"/rdma-nio-*/pom.xml "$root"/rdma-nio-*/src/main "$here/pom.xml" "$here/src")
if [[ ! -e $jar || -n $(find "${sources[@]}" -newer "$jar" -print -quit) ]]; then
    (cd "$root" && mvn -B -ntp -q package -Dmaven.test.skip=true -pl jmh -am)
fi

results=$target/jmh-$mode.json
rm -f "$results"
# The forks get the JVM options of this one. -foe: a benchmark that throws ends the run.
"$jdk/bin/java" --enable-native-access=ALL-UNNAMED -jar "$jar" -foe true "${preset[@]}" -rf json -rff "$results" "$@" ||
    { echo "JMH $mode: FAILED" >&2 && exit 1; }
# JMH says 0 when no benchmark has the name asked for.
if ! grep -q '"benchmark"' "$results" 2> /dev/null; then
    echo "JMH $mode: FAILED, nothing ran" >&2
    exit 1
fi
