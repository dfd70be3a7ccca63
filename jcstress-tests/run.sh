#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: jcstress-tests/run.sh [quick|full] [JCSTRESS OPTION...]
Runs the concurrency stress tests: quick (the default) in under two minutes on two processors, full as long as jcstress
thinks right. Builds the jar first if a source is newer. Options go to jcstress; -t REGEXP chooses tests.
Everything jcstress says is in target/jcstress.log, its report in target/jcstress-results/index.html.
Exit status: 0 when every result was as expected, else 1.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")

mode=${1:-quick}
shift || true
case $mode in
    # One mode of the JVM in place of its four, named by giving its arguments: a JVM is started for each result.
    quick) preset=(-m quick -sc false -time 100 -iters 2 -f 1 -jvmArgs -XX:+UseSerialGC) ;;
    full) preset=(-m default) ;;
    -h | --help) usage && exit ;;
    *) usage >&2 && exit 2 ;;
esac

jdk=$("$root/lab/find-jdk.sh")
target=$here/target
jar=$target/jcstress.jar
sources=("$root"/pom.xml "$root"/rdma-nio-*/pom.xml "$root"/rdma-nio-*/src/main "$here/pom.xml" "$here/src")
if [[ ! -e $jar || -n $(find "${sources[@]}" -newer "$jar" -print -quit) ]]; then
    (cd "$root" && mvn -B -ntp -q package -Dmaven.test.skip=true -pl jcstress-tests -am)
fi

# jcstress leaves its raw results in the working directory.
cd "$target"
log=$target/jcstress.log
status=0
"$jdk/bin/java" --enable-native-access=ALL-UNNAMED -jar "$jar" "${preset[@]}" -r "$target/jcstress-results/" "$@" 2>&1 |
    tee "$log" | sed -u -n -e '/^(Results:/p' -e '/^FATAL/p' -e '/^RUN RESULTS/,$p' || status=1

# jcstress says 0 when it ran nothing, so its last count is looked at as well.
count=$(grep '^(Results:' "$log" | tail -n 1 || true)
if ((status != 0)) || [[ ! $count =~ \ ([1-9][0-9]*)\ planned\;\ ([0-9]+)\ passed,\ 0\ failed,\ 0\ soft\ errs,\ 0\ hard\ errs ]] ||
    [[ ${BASH_REMATCH[1]} != "${BASH_REMATCH[2]}" ]]; then
    echo "jcstress $mode: FAILED, see $log" >&2
    exit 1
fi
echo "jcstress $mode: ${BASH_REMATCH[2]} results, all as expected"
