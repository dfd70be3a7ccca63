/*
 * What two processes of one host can do over shared memory in C: the baseline for the software device that
 * lab/soft-speed.sh makes, part of no product. The work is that of a reliable connection, no more and no less: to send is to
 * see that the peer has a receive posted, to copy the payload into the peer's memory, and to write a completion entry of a
 * cache line; to receive is to read the entry, to consume the receive, and to post another. One send in 32 has a
 * completion of its own. io.rdmanio.lab.verbs.SoftSpeed does the same by verbs.
 *
 *   soft_speed CPU CPU    the process for the first, its child for the second processor
 *
 * Commands come by standard input, one a line; each says "TOOK nanoseconds 0":
 *   ping N      round trips of 64 bytes; who waits polls
 *   events N    the same; who waits arms, looks once more, and sleeps in epoll(7) for an eventfd(2)
 *   stream N    copies of 64 KiB from this process's mapping of shared memory to that which the child has too
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
    RING_ENTRIES = 64,
    MESSAGE_BYTES = 64,
    RECEIVE_DEPTH = 16,
    SIGNAL_INTERVAL = 32,
    BLOCK_BYTES = 64 * 1024,
    BLOCKS = 256,
    PATIENCE_MILLIS = 60000,
};

/* A completion, as the peer writes it. */
struct entry {
    alignas(64) _Atomic uint32_t sequence;
    uint32_t immediate;
    uint32_t length;
    uint32_t status;
};

/* What one end owns and the other writes, but for the two words that have lines of their own. */
struct inbound {
    struct entry ring[RING_ENTRIES];
    alignas(64) char memory[MESSAGE_BYTES];
    alignas(64) _Atomic uint32_t posted; /* by the owner: receives, ever */
    alignas(64) _Atomic uint32_t armed;  /* by both */
};

struct completion {
    uint64_t work_request;
    uint32_t status;
    uint32_t length;
    uint32_t immediate;
};

struct end {
    struct inbound *own;
    struct inbound *peer;
    int own_event;
    int peer_event;
    int epoll;
    uint32_t sent;
    uint32_t received;
    uint32_t posted;
    uint64_t receives[RECEIVE_DEPTH];
    struct completion sends[RING_ENTRIES];
    uint32_t sends_written;
    uint32_t sends_read;
    char message[MESSAGE_BYTES];
};

static void check(bool good, const char *what) {
    if (!good) {
        fprintf(stderr, "soft_speed: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static void *share(size_t bytes) {
    int file = memfd_create("soft_speed", MFD_CLOEXEC);
    check(file >= 0 && ftruncate(file, bytes) == 0, "memfd_create");
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    check(memory != MAP_FAILED, "mmap");
    close(file);
    memset(memory, 1, bytes);
    return memory;
}

static void post_receive(struct end *end) {
    end->receives[end->posted % RECEIVE_DEPTH] = end->posted;
    atomic_store_explicit(&end->own->posted, ++end->posted, memory_order_release);
}

static void create(struct end *end, struct inbound *own, struct inbound *peer, int own_event, int peer_event) {
    struct epoll_event interest = {.events = EPOLLIN};
    end->own = own;
    end->peer = peer;
    end->own_event = own_event;
    end->peer_event = peer_event;
    end->epoll = epoll_create1(EPOLL_CLOEXEC);
    check(end->epoll >= 0 && epoll_ctl(end->epoll, EPOLL_CTL_ADD, own_event, &interest) == 0, "epoll");
    for (int i = 0; i < RECEIVE_DEPTH; i++) {
        post_receive(end);
    }
}

/* Wakes the peer if it is armed. */
static void ring(struct end *end) {
    uint64_t one = 1;
    uint32_t armed = 1;
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&end->peer->armed, memory_order_relaxed) == 1
        && atomic_compare_exchange_strong(&end->peer->armed, &armed, 0)) {
        check(write(end->peer_event, &one, sizeof one) == sizeof one, "write");
    }
}

/* Writes the payload and the completion. */
static void send_message(struct end *end, uint64_t number, bool by_events) {
    memcpy(end->message, &number, sizeof number);
    check(end->sent < atomic_load_explicit(&end->peer->posted, memory_order_acquire), "no receive posted");
    memcpy(end->peer->memory, end->message, MESSAGE_BYTES);
    struct entry *entry = &end->peer->ring[end->sent % RING_ENTRIES];
    entry->immediate = number;
    entry->length = MESSAGE_BYTES;
    entry->status = 0;
    atomic_store_explicit(&entry->sequence, ++end->sent, memory_order_release);
    if (end->sent % SIGNAL_INTERVAL == 0) {
        end->sends[end->sends_written++ % RING_ENTRIES] = (struct completion) {.work_request = number};
    }
    if (by_events) {
        ring(end);
    }
}

static bool poll_receive(struct end *end, struct completion *into) {
    struct entry *entry = &end->own->ring[end->received % RING_ENTRIES];
    if (atomic_load_explicit(&entry->sequence, memory_order_acquire) != end->received + 1) {
        return false;
    }
    *into = (struct completion) {
        .work_request = end->receives[end->received % RECEIVE_DEPTH],
        .status = entry->status,
        .length = entry->length,
        .immediate = entry->immediate,
    };
    end->received++;
    return true;
}

static bool poll_any(struct end *end, struct completion *into) {
    if (poll_receive(end, into)) {
        return true;
    }
    while (end->sends_read != end->sends_written) {
        check(end->sends[end->sends_read++ % RING_ENTRIES].status == 0, "send failed");
    }
    return false;
}

static void receive_message(struct end *end, uint64_t number, bool by_events) {
    struct completion completion;
    while (!poll_any(end, &completion)) {
        if (!by_events) {
            continue;
        }
        atomic_store(&end->own->armed, 1);
        if (poll_any(end, &completion)) {
            break;
        }
        struct epoll_event event;
        uint64_t count;
        check(epoll_wait(end->epoll, &event, 1, PATIENCE_MILLIS) == 1, "epoll_wait");
        check(read(end->own_event, &count, sizeof count) == sizeof count, "read");
    }
    uint64_t found;
    memcpy(&found, end->own->memory, sizeof found);
    check(completion.status == 0 && completion.length == MESSAGE_BYTES, "wrong completion");
    check(completion.immediate == (uint32_t) number && found == number, "wrong message");
    post_receive(end);
}

static long nanos(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* Round trips, and one before them that waits until the other is awake. */
static long ping(struct end *end, int count, bool by_events) {
    long start = 0;
    for (int i = 0; i <= count; i++) {
        send_message(end, i, by_events);
        receive_message(end, i, by_events);
        if (i == 0) {
            start = nanos();
        }
    }
    return nanos() - start;
}

struct command {
    int count;
    bool by_events;
};

/* The child: waits for commands, and echoes. */
static void echo(struct end *end, int commands) {
    struct command command;
    while (read(commands, &command, sizeof command) == sizeof command) {
        for (int i = 0; i <= command.count; i++) {
            receive_message(end, i, command.by_events);
            send_message(end, i, command.by_events);
        }
    }
}

static long stream(char *target, const char *source, int count) {
    long start = nanos();
    for (int i = 0; i < count; i++) {
        size_t offset = (size_t) (i % BLOCKS) * BLOCK_BYTES;
        memcpy(target + offset, source + offset, BLOCK_BYTES);
        atomic_signal_fence(memory_order_seq_cst);
    }
    return nanos() - start;
}

static void stay_on(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    check(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

static void obey(struct end *end, int commands, char *target, char *source) {
    char line[64];
    printf("STARTED\n");
    while (fgets(line, sizeof line, stdin) != NULL) {
        char word[16];
        int count;
        long took;
        check(sscanf(line, "%15s %d", word, &count) == 2, "a command is a word and a number");
        if (strcmp(word, "stream") == 0) {
            took = stream(target, source, count);
        } else {
            struct command command = {count, strcmp(word, "events") == 0};
            check(command.by_events || strcmp(word, "ping") == 0, "unknown command");
            check(write(commands, &command, sizeof command) == sizeof command, "write");
            took = ping(end, count, command.by_events);
        }
        printf("TOOK %ld 0\n", took);
    }
}

int main(int argc, char **argv) {
    static struct end end;
    if (argc != 3) {
        fprintf(stderr, "soft_speed CPU CPU\n");
        return 2;
    }
    struct inbound *inbounds = share(2 * sizeof *inbounds);
    memset(inbounds, 0, 2 * sizeof *inbounds);
    char *target = share((size_t) BLOCKS * BLOCK_BYTES);
    int events[2] = {eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    int commands[2];
    check(events[0] >= 0 && events[1] >= 0 && pipe(commands) == 0, "eventfd or pipe");
    setvbuf(stdout, NULL, _IOLBF, 0);

    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(commands[1]);
        stay_on(atoi(argv[2]));
        create(&end, &inbounds[1], &inbounds[0], events[1], events[0]);
        echo(&end, commands[0]);
        return 0;
    }
    close(commands[0]);
    stay_on(atoi(argv[1]));
    create(&end, &inbounds[0], &inbounds[1], events[0], events[1]);
    while (atomic_load(&inbounds[1].posted) < RECEIVE_DEPTH) {
        sched_yield();
    }
    obey(&end, commands[1], target, share((size_t) BLOCKS * BLOCK_BYTES));
    return 0;
}
