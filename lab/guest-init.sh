#!/bin/bash
# The guest's first process, started by the kernel that lab/run.sh boots: brings up one RoCE and one iWARP device, runs
# the job's command with its output on the two lines that run.sh reads, records its exit status and powers off.
# LAB_JOB (from the kernel's command line) is the job's directory on the host's file system.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LANG=C.UTF-8
limit=$(cat "$LAB_JOB/limit")

# Directories that the job needs and that a /tmp of the guest's own would hide are carried over it.
carry=()
while read -r path; do
    case $path in /tmp/*) carry+=("$path") ;; esac
done < "$LAB_JOB/paths"
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
for i in "${!carry[@]}"; do
    mkdir -p "/run/carried/$i" && mount --bind "${carry[i]}" "/run/carried/$i"
done
mount -t tmpfs -o mode=1777 tmpfs /tmp
for i in "${!carry[@]}"; do
    mkdir -p "${carry[i]}" && mount --bind "/run/carried/$i" "${carry[i]}"
done
mount -t devtmpfs dev /dev 2> /dev/null
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t devpts devpts /dev/pts 2> /dev/null
ln -sfn /proc/self/fd /dev/fd
ulimit -l unlimited
ulimit -n 65536
ulimit -c 0

ip link set lo up
for side in roce:77:rxe iwarp:78:siw; do
    IFS=: read -r name net driver <<< "$side"
    ip link add "${name}0" mtu 9000 type veth peer name "${name}0p" mtu 9000
    ip addr add "10.$net.0.1/24" dev "${name}0"
    ip -6 addr add "fd$net::1/64" dev "${name}0" nodad
    ip link set "${name}0" up
    ip link set "${name}0p" up
    rdma link add "${driver}0" type "$driver" netdev "${name}0" || echo "lab: no ${driver}0" > "$LAB_JOB/status"
done

stty -F /dev/tty1 raw -echo
stty -F /dev/tty2 raw -echo
exec 5> >(exec cat > /dev/tty1)
out=$!
exec 6> >(exec cat > /dev/tty2)
err=$!

# Past the limit the running processes are listed, JVMs are asked for their stacks, and the command is ended with 124.
watch_limit() {
    sleep "$limit"
    echo 124 > "$LAB_JOB/status"
    {
        echo "lab: the limit of $limit s is over; still running:"
        # shellcheck disable=SC2009 # a table to read, not a process to find
        ps -eo pid,ppid,stat,etimes,args | grep -v -e ' \[.*\]$' -e ' ps -eo' -e ' cut -c1-' -e ' cat$' | cut -c1-200
    } >&6
    pkill -QUIT -x java && sleep 3
    # A process that the kernel itself holds up shows here and in no stack of a JVM.
    dmesg --clear
    echo w > /proc/sysrq-trigger
    dmesg --notime | grep -A 30 'state:D' | head -n 120 >&6
    kill -9 "$1"
}

cd "$(cat "$LAB_JOB/cwd")" || exit
bash "$LAB_JOB/command" < /dev/null >&5 2>&6 5>&- 6>&- &
job=$!
watch_limit $job 5>&- &
watch=$!
disown $watch
wait $job
status=$?
[ "$(cat "$LAB_JOB/status")" = 124 ] || { kill $watch && echo $status > "$LAB_JOB/status"; }

# What the command left running must not hold its output open.
exec 5>&- 6>&-
for _ in {1..20}; do
    kill -0 $out 2> /dev/null || kill -0 $err 2> /dev/null || break
    sleep 0.1
done
stty -F /dev/tty1 raw -echo
stty -F /dev/tty2 raw -echo
sync
echo o > /proc/sysrq-trigger
sleep 10
