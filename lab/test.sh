#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/test.sh [-k PATTERN] [-d DEVICE] [-m MODULE] [-s] [-n] [-t SECONDS] [-DKEY=VALUE...]
Builds the project without its tests and gates, boots one lab for each device, at the same time, and runs the tests that
are tagged "rdma" in it: the lab's own and those of the two libraries. The last line is the sum.

  -k PATTERN  only tests with "fully.qualified.Class#method" matching this regular expression somewhere
  -d DEVICE   rxe0 or siw0 alone
  -m MODULE   the tests of lab, native or provider alone; may be given more than once
  -s          also tests tagged "slow"
  -n          build nothing; test what was built last
  -t SECONDS  time limit for all of it, 1800 by default
  -DKEY=VALUE a property for the JVM of the tests. To try the lab itself over kernel TCP:
              -Dio.rdmanio.lab.provider=sun.nio.ch.EPollSelectorProvider -Dio.rdmanio.lab.proof=off
Reports in JUnit's XML and all output, by device, are left in lab/target/reports. Exit status: 0 if all passed, 1 if one failed or none ran,
124 past the time limit, 125 if the lab itself failed.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source=lab/lib.sh
. "$here/lib.sh"

pattern='' devices='rxe0 siw0' modules='' slow='' build=yes limit=1800 properties=()
while getopts k:d:m:snt:D:h option; do
    case $option in
        k) pattern=$OPTARG ;;
        d) devices=$OPTARG ;;
        m) modules+=" $OPTARG" ;;
        s) slow=yes ;;
        n) build='' ;;
        t) limit=$OPTARG ;;
        D) properties+=("-D$OPTARG") ;;
        h) usage && exit ;;
        *) usage >&2 && exit 125 ;;
    esac
done
[ $OPTIND -gt $# ] || { usage >&2 && exit 125; }
[[ $devices =~ ^(rxe0|siw0|rxe0 siw0)$ ]] || lab_die 125 "-d wants rxe0 or siw0, not '$devices'"
for module in $modules; do
    [[ $module =~ ^(lab|native|provider)$ ]] || lab_die 125 "-m wants lab, native or provider, not '$module'"
done

jdk=$("$here/find-jdk.sh")
if [ -n "$build" ]; then
    lab_say "building"
    (cd "$root" && mvn -q -B -ntp -DskipTests -pl lab -am package) || lab_die 125 "the build failed (its messages stand above)"
fi
[ -d "$here/target/test-lib" ] || lab_die 125 "nothing is built yet; run lab/test.sh without -n"

"$here/class-archives.sh"

reports=$here/target/reports
rm -rf "$reports"
mkdir -p "$reports"

wanted() { [ -z "$modules" ] || [[ " $modules " == *" $1 "* ]]; }

# What is under test, and the libraries of the project besides, stands behind the class path of the archive.
project_jars=("$here"/target/test-lib/rdma-nio-*.jar)
project=$(IFS=: && echo "${project_jars[*]}")

# Appends one run of JUnit to a device's script: add_run DEVICE NAME CLASS-FOLDERS JVM-FLAGS...
runs=()
add_run() {
    local device=$1 name=$2 folders=$3 class_path='' scan='' folder
    shift 3
    runs+=("$name")
    for folder in $folders; do
        class_path+=":$folder/classes:$folder/test-classes"
        scan+=" --scan-classpath=$folder/test-classes"
    done
    {
        echo "echo; echo '==== $name'"
        # The JVM of the tests has our provider on its class path and must not run on it. A test that does not come to
        # its end fails, with all stacks, even if it cannot be interrupted: it has a thread of its own.
        printf '%q ' "$jdk/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData \
            -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 -XX:SharedArchiveFile="$here/target/tests.jsa" \
            --enable-native-access=ALL-UNNAMED \
            -Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.EPollSelectorProvider \
            ${properties[@]+"${properties[@]}"} "$@"
        printf '%q ' -cp "$(cat "$here/target/tests.classpath")$class_path:$project" \
            org.junit.platform.console.ConsoleLauncher execute
        printf '%q ' --disable-banner --disable-ansi-colors --details=testfeed --reports-dir="$reports/$name" \
            --include-engine=junit-jupiter --include-tag=rdma --config=junit.jupiter.execution.timeout.default=180s \
            --config=junit.jupiter.execution.timeout.thread.mode.default=SEPARATE_THREAD \
            --config=junit.jupiter.execution.timeout.threaddump.enabled=true
        [ -n "$slow" ] || printf '%q ' --exclude-tag=slow
        # What is the same whatever the device, the first one's lab does, which has the least to do.
        [ "$device" = "${devices%% *}" ] || printf '%q ' --exclude-tag=once
        [ -z "$pattern" ] || printf '%q ' --include-methodname=".*($pattern).*"
        echo "$scan"
    } >> "$reports/$device.script"
}
for device in $devices; do
    address=10.77.0.1
    [ "$device" = rxe0 ] || address=10.78.0.1
    if wanted lab; then
        add_run "$device" "$device-programs" "$here/target" \
            -Dio.rdmanio.lab.home="$here" -Dio.rdmanio.lab.devices="$device"
    fi
    folders=''
    for module in native provider; do
        wanted $module && [ -d "$root/rdma-nio-$module/target/test-classes" ] && folders+=" $root/rdma-nio-$module/target"
    done
    [ -z "$folders" ] || add_run "$device" "$device-libraries" "$folders" -Dio.rdmanio.test.address=$address
done

# Prints a guest's lines as they come, each with the device and the seconds since the start: what was slow is seen at once.
follow() {
    local line
    while IFS= read -r line; do
        printf '%s %4d| %s\n' "$1" $((SECONDS - started)) "$line"
    done
}

# The processors that this process may use. A guest runs on one of them: its kernel and its programs take turns, and on several
# processors they wait for each other longer.
processors=()
for range in $(taskset -cp $$ | sed 's/.*: //; s/,/ /g'); do
    mapfile -t -O ${#processors[@]} processors < <(seq "${range%-*}" "${range#*-}")
done

started=$SECONDS
guests=() followers=()
for device in $devices; do
    taskset -c "${processors[${#guests[@]} % ${#processors[@]}]}" \
        "$here/run.sh" -t "$limit" "bash '$reports/$device.script'" > "$reports/$device.log" 2>&1 &
    guests+=($!)
    tail -n +1 -f --pid=$! "$reports/$device.log" | follow "$device" | tee "$reports/$device.followed" &
    followers+=($!)
done
trap 'kill "${guests[@]}" 2> /dev/null || true' EXIT
status=0
for guest in "${guests[@]}"; do
    guest_status=0
    wait "$guest" || guest_status=$?
    ((guest_status <= status)) || status=$guest_status
done
trap - EXIT
wait "${followers[@]}" || true
[ $status -eq 125 ] && exit 125

# The sum, from the reports: a run without one has not come to its end.
passed=0 failed=0 skipped=0
echo
for name in "${runs[@]}"; do
    ran=''
    for report in "$reports/$name"/TEST-*.xml; do
        [ -e "$report" ] || continue
        read -r tests skips failures errors < <(sed -n 's/.*<testsuite .* tests="\([0-9]*\)" skipped="\([0-9]*\)" failures="\([0-9]*\)" errors="\([0-9]*\)".*/\1 \2 \3 \4/p' "$report")
        ran=yes
        passed=$((passed + tests - skips - failures - errors))
        failed=$((failed + failures + errors))
        skipped=$((skipped + skips))
        awk -v run="$name" -F'"' '/<testcase /{test = $4 "." $2} /<(failure|error)[ >]/{print "FAILED  " run ": " test}' "$report"
        awk -v run="$name" -F'"' '/<testcase /{test = $4 "." $2} /<skipped[ >]/{print "skipped " run ": " test}' "$report"
    done
    if [ -z "$ran" ]; then
        echo "FAILED  $name: did not come to its end"
        failed=$((failed + 1))
    fi
done
for device in $devices; do
    # Begun and never ended; and if there is one, what came before it and what took longest.
    awk -v device="$device" '
        function tell(what, i) {
            printf "        %s: %s, %d s to %d s\n", what, test[i], began[i], ended[i]
        }
        match($0, /\| JUnit Jupiter > .* :: [A-Z]+$/) {
            split(substr($0, RSTART + 2), part, " :: ")
            if (part[2] == "STARTED") { begun[part[1]] = $2 + 0; next }
            test[++count] = part[1]; began[count] = begun[part[1]]; ended[count] = $2 + 0
            delete begun[part[1]]
        }
        END {
            for (name in begun) { print "BEGUN   " device ": " name ", at " begun[name] " s, and nothing further"; hung = 1 }
            if (!hung) exit
            for (i = count > 5 ? count - 4 : 1; i <= count; i++) tell("before", i)
            for (rank = 1; rank <= 5 && rank <= count; rank++) {
                longest = 0
                for (i = 1; i <= count; i++)
                    if (!(i in told) && (!longest || ended[i] - began[i] > ended[longest] - began[longest])) longest = i
                told[longest] = 1
                tell("slow", longest)
            }
        }' "$reports/$device.followed"
done
echo "$skipped skipped, $((SECONDS - started)) s in the lab"
echo "$passed passed, $failed failed"
[ $status -ne 124 ] || exit 124
[ $failed -eq 0 ] && [ $passed -gt 0 ]
