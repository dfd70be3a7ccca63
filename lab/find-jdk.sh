#!/usr/bin/env bash
# Prints the home of a JDK of the given major version or later (25 if none is given).
# Looks in JAVA_HOME, JDK_HOME, the JAVA_HOME_<version>_X64 of hosted CI, beside the java and javac in PATH, and in the
# usual folders; of those in a folder the newest wins. Says on stderr why it found none, and exits with 1.
set -euo pipefail

wanted=${1:-25}

# The major version in a JDK's release file, which every vendor ships; 0 if this is no JDK.
majorOf() {
    local home=$1 version
    [[ -x $home/bin/javac && -x $home/bin/java && -r $home/release ]] || { echo 0; return; }
    version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
    echo "${version:-0}"
}

seen=()
best='' bestMajor=0

consider() {
    local home=$1 major
    [[ -d $home ]] || return 0
    major=$(majorOf "$home")
    [[ $major -gt 0 ]] && seen+=("$home ($major)")
    if ((major >= wanted && major > bestMajor)); then
        best=$home bestMajor=$major
    fi
}

found() {
    if [[ -n $best ]]; then
        echo "$best"
        exit 0
    fi
}

# What somebody named explicitly comes before what merely lies around.
for home in "${JAVA_HOME:-}" "${JDK_HOME:-}" "$(printenv "JAVA_HOME_${wanted}_X64" || true)"; do
    [[ -n $home ]] && consider "$home"
    found
done
for tool in java javac; do
    path=$(command -v "$tool" || true)
    [[ -n $path ]] && consider "$(dirname "$(dirname "$(readlink -f "$path")")")"
    found
done
shopt -s nullglob
for home in /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* "${HOME:-/root}"/.sdkman/candidates/java/* "${HOME:-/root}"/.jdks/*; do
    consider "$home"
done
found

{
    echo "find-jdk: no JDK $wanted or later found."
    if ((${#seen[@]} > 0)); then
        echo "Only these were:"
        printf '  %s\n' "${seen[@]}"
    fi
    echo "Install one (Temurin $wanted, say) or point JAVA_HOME at it."
} >&2
exit 1
