#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/class-archives.sh
Makes two archives of classes, from which JVMs in the guest start sooner, since they neither parse nor verify these:
  lab/target/programs.jsa  for the lab's programs: what they load on this host over the software device, and all of the two
                           libraries, whose part for a real device this host may have no use for
  lab/target/tests.jsa     for the JVM of the tests: JUnit and its like
Does nothing when both are newer than all jars. An archive holds for the class path that starts with the one it was made
with, which is written beside it (programs.classpath, tests.classpath).
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source=lab/lib.sh
. "$here/lib.sh"
[ $# -eq 0 ] || { usage && exit; }

jdk=$("$here/find-jdk.sh")
target=$here/target
flags=(-XX:+UseSerialGC -XX:TieredStopAtLevel=1)
shopt -s nullglob
# The libraries under test come behind the folders of their classes, or would hide these.
program_jars=("$target"/rdma-nio-lab-*.jar "$target"/lib/*.jar)
test_jars=()
for jar in "$target"/test-lib/*.jar; do
    [[ $jar == */rdma-nio-* ]] || test_jars+=("$jar")
done
((${#program_jars[@]} > 1 && ${#test_jars[@]} > 0)) || lab_die 125 "nothing is built yet; run lab/test.sh without -n"

fresh=yes
for jar in "${program_jars[@]}" "${test_jars[@]}"; do
    [ "$target/tests.jsa" -nt "$jar" ] || fresh=''
done
[ -z "$fresh" ] || exit 0

join() { local IFS=: && echo "$*"; }
programs=$(join "${program_jars[@]}")
tests=$(join "${test_jars[@]}")
work=$(mktemp -d)
clean_up() {
    local running
    running=$(jobs -rp)
    # shellcheck disable=SC2086 # several
    [ -z "$running" ] || kill $running 2> /dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

# run NAME PROGRAM ARGUMENT... : runs a program of the lab to its end, for a minute at most, and notes what it loads.
run() {
    local name=$1 program=$2
    shift 2
    timeout 60 "$jdk/bin/java" "${flags[@]}" -XX:DumpLoadedClassList="$work/$name.programs" \
        --enable-native-access=ALL-UNNAMED -Dio.rdmanio.policy=soft \
        -Djava.nio.channels.spi.SelectorProvider=io.rdmanio.RdmaSelectorProvider \
        -cp "$programs" "io.rdmanio.lab.programs.$program" "$@" ||
        lab_die 125 "$program failed on this host, over the software device"
}

# pair SERVER CLIENT ARGUMENT... : a server that ends with its standard input, and a client of its.
pair() {
    local server=$1 client=$2 port input
    shift 2
    mkdir -p "$work/files"
    mkfifo "$work/$server.in" "$work/$server.out"
    local operands=(127.0.0.1 0)
    [[ $server == Echo* ]] || operands+=("$work/files")
    run "$server" "$server" "${operands[@]}" < "$work/$server.in" > "$work/$server.out" &
    exec {input}> "$work/$server.in"
    port=$(sed -n '/^READY /{s///p;q}' "$work/$server.out")
    run "$client" "$client" 127.0.0.1 "$port" "$@" > /dev/null
    exec {input}>&-
    wait $!
}

# archive NAME CLASS-PATH : from the lists of all runs with that name. A list numbers its classes; without the numbers,
# lists can be put together. Classes of other loaders than the class path's need theirs, and are left out.
archive() {
    local name=$1 class_path=$2
    sed -e '/^#/d' -e '/ source: /d' -e 's/ id: [0-9]*$//' "$work"/*."$name" | awk '!seen[$0]++' > "$work/$name.list"
    "$jdk/bin/java" "${flags[@]}" -Xshare:dump -XX:SharedClassListFile="$work/$name.list" \
        -XX:SharedArchiveFile="$target/$name.jsa" -cp "$class_path" > "$work/$name.log" 2>&1 || {
        cat "$work/$name.log" >&2
        lab_die 125 "the JDK could not make the archive of classes $name.jsa"
    }
    echo "$class_path" > "$target/$name.classpath"
}

lab_say "making archives of classes"
pair EchoServer EchoClient --selector
pair JettyFileServer HttpClientFiles --requests=20 --body=1000000
pair NettyHttpServer NettyHttpClient --requests=20 --body=1000000
for jar in "$target"/lib/rdma-nio-*.jar; do
    "$jdk/bin/jar" --list --file "$jar" | sed -n '/-info/d; /^META-INF/d; s/\.class$//p'
done > "$work/libraries.programs"
archive programs "$programs"

"$jdk/bin/java" "${flags[@]}" -XX:DumpLoadedClassList="$work/junit.tests" --enable-native-access=ALL-UNNAMED \
    -cp "$tests:$root/rdma-nio-provider/target/test-classes:$root/rdma-nio-provider/target/classes:$root/rdma-nio-native/target/classes" \
    org.junit.platform.console.ConsoleLauncher execute --include-engine=junit-jupiter --disable-banner \
    --select-class=io.rdmanio.stream.ConnectFailuresTest > "$work/junit.log" || {
    cat "$work/junit.log" >&2
    lab_die 125 "a test of the provider failed"
}
archive tests "$tests"
