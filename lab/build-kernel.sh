#!/usr/bin/env bash
usage() {
    cat << 'END'
Usage: lab/build-kernel.sh [-h]
Builds the lab's User-Mode Linux kernel (rdma_rxe and siw inside) from Debian's linux-source package, unless the cache
has it, and prints its path. Takes 8 to 10 minutes on two processors, once; a second caller waits for the first.

  RDMA_LAB_CACHE  where the kernel is kept (default: rdma-nio-lab below $XDG_CACHE_HOME or ~/.cache). The name holds
                  the version of the source package and a digest of kernel.fragment and of the change to the source.
Needs root, or sudo without a password, only if packages are missing.
END
}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lab/lib.sh
. "$here/lib.sh"
while getopts h option; do
    case $option in h) usage && exit ;; *) usage >&2 && exit 125 ;; esac
done

# The one change to the source. Linux 6.1 keeps a process's floating-point state in 2,696 bytes, the size of AVX-512;
# a processor with AMX has 11,008, the host refuses to restore less than all of it, and init dies at its first
# instruction. The fragment's CONFIG_KERNEL_STACK_ORDER makes room for it, since 6.1 has that state on kernel stacks.
size_file=arch/x86/um/user-offsets.c
size_old='DEFINE_LONGS(HOST_FP_SIZE, 2696);'
size_new='DEFINE_LONGS(HOST_FP_SIZE, 12288);'

cache=$(lab_cache)
lab_packages linux-source-6.1 gcc make flex bison bc xz-utils libc6-dev
version=$(dpkg-query -W -f '${Version}' linux-source-6.1)
digest=$({ cat "$here/kernel.fragment" && echo "$size_new"; } | sha256sum | cut -c1-12)
kernel=$cache/linux-$version-$digest
[ -x "$kernel" ] && echo "$kernel" && exit

exec 9> "$cache/build.lock"
if ! flock -n 9; then
    lab_say "another process is building the kernel; waiting for it"
    flock 9
fi
if [ ! -x "$kernel" ]; then
    lab_say "building the kernel, once: 8 to 10 minutes on two processors"
    build=$(mktemp -d "$cache/build.XXXXXX")
    trap 'rm -rf "$build"' EXIT
    tar xf /usr/src/linux-source-6.1.tar.xz -C "$build" --strip-components=1
    cd "$build"
    grep -qF "$size_old" $size_file || lab_die 125 "linux-source-6.1 $version has another $size_file than this script knows"
    sed -i "s/$size_old/$size_new/" $size_file
    # 9>&-: a compiler that outlives this script must not hold the lock.
    make ARCH=um tinyconfig > /dev/null 9>&-
    cat "$here/kernel.fragment" >> .config
    make ARCH=um olddefconfig > /dev/null 9>&-
    while read -r line; do
        grep -qxF "$line" .config || lab_die 125 "kernel option not taken: $line"
    done < "$here/kernel.fragment"
    if ! make ARCH=um -j"$(nproc)" linux > build.log 2>&1 9>&-; then
        tail -30 build.log >&2
        lab_die 125 "the kernel did not build (the end of its log stands above)"
    fi
    strip -o "$kernel.tmp" linux
    mv "$kernel.tmp" "$kernel"
fi
echo "$kernel"
