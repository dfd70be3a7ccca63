#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/main-job.sh [-n] [-d DEVICE] [-h]
Shows what the project is for: an unmodified Jetty server and an unmodified java.net.http.HttpClient, in two JVMs with
nothing but their class path and the provider's flag, move real files both ways, and the report tells how fast, and how it
is known what carried them.

  -d DEVICE  soft0, the default: the provider's own software device, on this host as it is; takes seconds
             rxe0 (RoCE) or siw0 (iWARP): the Linux kernel's RDMA stack, in the lab, on any x86_64 Debian; installs missing
             packages, and builds the lab's kernel the first time (8 to 10 minutes); after that takes a minute or two
  -n         build nothing; run what was built last
Exit status: 0 if all files arrived unchanged and the proof holds.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# shellcheck source=lab/lib.sh
. "$here/lib.sh"

build=yes device=soft0
while getopts nd:h option; do
    case $option in
        n) build='' ;;
        d) device=$OPTARG ;;
        h) usage && exit ;;
        *) usage >&2 && exit 125 ;;
    esac
done
[[ $device =~ ^(soft0|rxe0|siw0)$ ]] || lab_die 125 "-d wants soft0, rxe0 or siw0, not '$device'"

jdk=$("$here/find-jdk.sh")
[ "$device" = soft0 ] || "$here/build-kernel.sh" > /dev/null
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

job=("$here/main-job-run.sh" "$device" "$jdk" "$here/target" "$work/files")
if [ "$device" = soft0 ]; then
    timeout 240 "${job[@]}"
else
    lab_say "starting the lab"
    "$here/run.sh" -t 240 "${job[@]}"
fi
