#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/main-job.sh [-n] [-d DEVICE] [-h]
Shows what the project is for, on any x86_64 Debian: an unmodified Jetty server and an unmodified java.net.http.HttpClient,
in two JVMs with nothing but their class path and the provider's flag, move real files both ways over the Linux kernel's
RDMA stack, and the report tells how fast, and how it is known that RDMA carried them. Installs missing packages, and
builds the lab's kernel the first time (8 to 10 minutes); after that it takes a minute or two.

  -n         build nothing; run what was built last
  -d DEVICE  rxe0 (RoCE, the default) or siw0 (iWARP)
Exit status: 0 if all files arrived unchanged and the proof holds.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source=lab/lib.sh
. "$here/lib.sh"

build=yes device=rxe0
while getopts nd:h option; do
    case $option in
        n) build='' ;;
        d) device=$OPTARG ;;
        h) usage && exit ;;
        *) usage >&2 && exit 125 ;;
    esac
done
[[ $device =~ ^(rxe0|siw0)$ ]] || lab_die 125 "-d wants rxe0 or siw0, not '$device'"

jdk=$("$here/find-jdk.sh")
"$here/build-kernel.sh" > /dev/null
if [ -n "$build" ]; then
    lab_say "building the project"
    (cd "$root" && mvn -q -B -ntp -DskipTests -pl lab -am package) || lab_die 125 "the build failed (its messages stand above)"
fi
[ -d "$here/target/lib" ] || lab_die 125 "nothing is built yet; run lab/main-job.sh without -n"

# Real files: what the JDK itself consists of, small and large, up to 32 MiB together.
work=$(mktemp -d "$(lab_cache)/main-job.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"
total=0
while read -r size file; do
    ((total + size <= 32 << 20)) || continue
    total=$((total + size))
    cp "$file" "$work/files/$(basename "$file")"
done < <(find "$jdk/lib" "$jdk/bin" -type f -size +0 -printf '%s %p\n' | sort -k2)

lab_say "starting the lab"
"$here/run.sh" -t 240 "$here/main-job-guest.sh" "$device" "$jdk" "$here/target" "$work/files"
