# shellcheck shell=bash
# What the lab's scripts share: messages, the cache directory, Debian packages. To be sourced.

lab_say() { printf 'lab: %s\n' "$*" >&2; }

# lab_die STATUS MESSAGE...
lab_die() {
    local status=$1
    shift
    lab_say "$@"
    exit "$status"
}

# Prints the directory that keeps the kernel and the running jobs. The guest has a /tmp and a /run of its own and gets
# paths on its kernel's command line, so neither a directory below those nor one with a space will do.
lab_cache() {
    local cache=${RDMA_LAB_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/rdma-nio-lab}
    case $cache in
        *[[:space:]]*) lab_die 125 "the cache directory '$cache' has a space in its name; set RDMA_LAB_CACHE to another" ;;
        /tmp/* | /run/* | /dev/shm/*) lab_die 125 "the cache directory $cache is hidden inside the guest; set RDMA_LAB_CACHE to one outside /tmp, /run and /dev/shm" ;;
        /*) ;;
        *) lab_die 125 "the cache directory '$cache' is not an absolute path; set RDMA_LAB_CACHE" ;;
    esac
    mkdir -p "$cache" || lab_die 125 "cannot create the cache directory $cache; set RDMA_LAB_CACHE to one that you can write"
    printf '%s\n' "$cache"
}

# lab_packages PACKAGE... : makes sure that these Debian packages are there, installing what is missing.
lab_packages() {
    local package missing=() as_root=()
    command -v dpkg-query > /dev/null || lab_die 125 "this is no Debian system (no dpkg); the lab needs these packages or their like: $*"
    for package in "$@"; do
        case $(dpkg-query -W -f '${Status}' "$package" 2> /dev/null) in
            *' installed') ;;
            *) missing+=("$package") ;;
        esac
    done
    [ ${#missing[@]} -eq 0 ] && return
    if [ "$(id -u)" -ne 0 ]; then
        sudo -n true 2> /dev/null || lab_die 125 "missing packages, and no right to install them; as root: apt-get install ${missing[*]}"
        as_root=(sudo -n)
    fi
    lab_say "installing ${missing[*]}"
    {
        "${as_root[@]}" apt-get update -qq
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${missing[@]}"
    } > /dev/null || lab_die 125 "apt-get could not install ${missing[*]} (its messages stand above)"
}
