/*
 * The C side of the comparison of speed that lab/verbs-speed.sh makes: the same loops as io.rdmanio.lab.verbs.VerbsSpeed,
 * line by line, so that what differs is the language. A baseline, part of no product.
 *
 *   verbs_speed loop ADDRESS            two connected queue pairs in one thread, which polls
 *   verbs_speed serve ADDRESS           one end in this process, waiting by events; prints READY PORT
 *   verbs_speed connect ADDRESS PORT    the other
 *
 * Commands come by standard input, one a line. "ping N" makes N round trips, "poll N" polls an empty queue N times; both
 * print nanoseconds, and the bytes that were allocated for it, which are none.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/rdma_cma.h>

enum {
    DEPTH = 8,
    MESSAGE_BYTES = 64,
    ACKNOWLEDGE_BATCH = 32,
    PATIENCE_MILLIS = 60000,
    RECEIVE = 1,
    SEND = 2,
};

struct end {
    struct rdma_cm_id *id;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    struct ibv_sge send_sge;
    struct ibv_sge receive_sge;
    struct ibv_send_wr send;
    struct ibv_recv_wr receive;
    struct ibv_wc completion;
    int watched;
    int received;
    int sending;
    unsigned int unacknowledged;
    bool by_events;
    bool over;
    char memory[2 * MESSAGE_BYTES] __attribute__((aligned(4096)));
};

static void check(bool good, const char *what) {
    if (!good) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static void post_receive(struct end *end) {
    struct ibv_recv_wr *bad;
    check(ibv_post_recv(end->id->qp, &end->receive, &bad) == 0, "ibv_post_recv");
}

static void create(struct end *end, struct rdma_cm_id *id, bool by_events, int watched) {
    struct ibv_qp_init_attr attributes = {
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };
    end->id = id;
    end->by_events = by_events;
    end->watched = watched;
    end->pd = ibv_alloc_pd(id->verbs);
    check(end->pd != NULL, "ibv_alloc_pd");
    end->channel = ibv_create_comp_channel(id->verbs);
    check(end->channel != NULL, "ibv_create_comp_channel");
    end->cq = ibv_create_cq(id->verbs, 2 * DEPTH, NULL, end->channel, 0);
    check(end->cq != NULL, "ibv_create_cq");
    attributes.send_cq = end->cq;
    attributes.recv_cq = end->cq;
    check(rdma_create_qp(id, end->pd, &attributes) == 0, "rdma_create_qp");
    end->mr = ibv_reg_mr(end->pd, end->memory, sizeof end->memory, IBV_ACCESS_LOCAL_WRITE);
    check(end->mr != NULL, "ibv_reg_mr");
    end->send_sge = (struct ibv_sge) {(uintptr_t) end->memory, MESSAGE_BYTES, end->mr->lkey};
    end->receive_sge = (struct ibv_sge) {(uintptr_t) end->memory + MESSAGE_BYTES, MESSAGE_BYTES, end->mr->lkey};
    end->send = (struct ibv_send_wr) {
        .wr_id = SEND,
        .sg_list = &end->send_sge,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED,
    };
    end->receive = (struct ibv_recv_wr) {.wr_id = RECEIVE, .sg_list = &end->receive_sge, .num_sge = 1};
    post_receive(end);
}

static void await_completion(struct end *end) {
    while (ibv_poll_cq(end->cq, 1, &end->completion) == 0) {
        if (!end->by_events) {
            continue;
        }
        check(ibv_req_notify_cq(end->cq, 0) == 0, "ibv_req_notify_cq");
        if (ibv_poll_cq(end->cq, 1, &end->completion) > 0) {
            return;
        }
        struct pollfd entries[2] = {{.fd = end->channel->fd, .events = POLLIN}, {.fd = end->watched, .events = POLLIN}};
        check(poll(entries, 2, PATIENCE_MILLIS) > 0, "poll");
        if (entries[0].revents != 0) {
            struct ibv_cq *cq;
            void *context;
            check(ibv_get_cq_event(end->channel, &cq, &context) == 0, "ibv_get_cq_event");
            if (++end->unacknowledged == ACKNOWLEDGE_BATCH) {
                ibv_ack_cq_events(cq, end->unacknowledged);
                end->unacknowledged = 0;
            }
        } else {
            end->over = true;
            return;
        }
    }
}

static void next(struct end *end) {
    await_completion(end);
    if (end->over) {
        return;
    }
    if (end->completion.status != IBV_WC_SUCCESS) {
        fprintf(stderr, "%s\n", ibv_wc_status_str(end->completion.status));
        exit(1);
    }
    if (end->completion.wr_id == RECEIVE) {
        end->received++;
    } else {
        end->sending--;
    }
}

static void send_message(struct end *end) {
    struct ibv_send_wr *bad;
    while (end->sending == DEPTH) {
        next(end);
    }
    end->send_sge.addr = (uintptr_t) end->memory;
    end->send.wr_id = SEND;
    check(ibv_post_send(end->id->qp, &end->send, &bad) == 0, "ibv_post_send");
    end->sending++;
}

static void receive_message(struct end *end) {
    while (end->received == 0 && !end->over) {
        next(end);
    }
    if (!end->over) {
        end->received--;
        post_receive(end);
    }
}

static long nanos(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* Round trips: with two ends in this thread both halves of each, else the half of this process. */
static void ping(struct end *client, struct end *server, int count) {
    for (int i = 0; i < count; i++) {
        send_message(client);
        if (server != NULL) {
            receive_message(server);
            send_message(server);
        }
        receive_message(client);
    }
}

static void poll_empty(struct end *end, int count) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        found += ibv_poll_cq(end->cq, 1, &end->completion);
    }
    check(found == 0, "a completion in an empty queue");
}

static void obey(struct end *client, struct end *server) {
    char line[64];
    printf("STARTED\n");
    while (fgets(line, sizeof line, stdin) != NULL) {
        int count = atoi(line + 5);
        long start = nanos();
        if (strncmp(line, "ping ", 5) == 0) {
            ping(client, server, count);
        } else if (strncmp(line, "poll ", 5) == 0) {
            while (server != NULL && client->sending + server->sending > 0) {
                next(client->sending > 0 ? client : server);
                start = nanos();
            }
            poll_empty(client, count);
        } else {
            fprintf(stderr, "unknown command %s", line);
            exit(1);
        }
        printf("TOOK %ld 0\n", nanos() - start);
    }
}

static struct rdma_cm_event *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type) {
    struct rdma_cm_event *event;
    struct pollfd entry = {.fd = channel->fd, .events = POLLIN};
    check(poll(&entry, 1, PATIENCE_MILLIS) > 0, "poll");
    check(rdma_get_cm_event(channel, &event) == 0, "rdma_get_cm_event");
    if (event->event != type) {
        fprintf(stderr, "expected %s, got %s\n", rdma_event_str(type), rdma_event_str(event->event));
        exit(1);
    }
    return event;
}

static struct rdma_conn_param parameters(void) {
    return (struct rdma_conn_param) {
        .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
}

static struct rdma_cm_id *listen_at(struct rdma_event_channel *channel, struct sockaddr_in *address) {
    struct rdma_cm_id *id;
    check(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
    check(rdma_bind_addr(id, (struct sockaddr *) address) == 0, "rdma_bind_addr");
    check(rdma_listen(id, 1) == 0, "rdma_listen");
    address->sin_port = rdma_get_src_port(id);
    return id;
}

static void begin_connect(
    struct end *end, struct rdma_event_channel *channel, struct sockaddr_in *address, bool by_events, int watched) {
    struct rdma_conn_param how = parameters();
    struct rdma_cm_id *id;
    check(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0, "rdma_create_id");
    check(rdma_resolve_addr(id, NULL, (struct sockaddr *) address, PATIENCE_MILLIS) == 0, "rdma_resolve_addr");
    rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED));
    check(rdma_resolve_route(id, PATIENCE_MILLIS) == 0, "rdma_resolve_route");
    rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
    create(end, id, by_events, watched);
    check(rdma_connect(id, &how) == 0, "rdma_connect");
}

static void begin_accept(struct end *end, struct rdma_event_channel *channel, bool by_events, int watched) {
    struct rdma_conn_param how = parameters();
    struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    create(end, event->id, by_events, watched);
    rdma_ack_cm_event(event);
    check(rdma_accept(end->id, &how) == 0, "rdma_accept");
}

int main(int argc, char **argv) {
    static struct end client;
    static struct end server;
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *role = argc > 2 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    check(channel != NULL, "rdma_create_event_channel");
    if (argc < 3 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
        fprintf(stderr, "verbs_speed loop ADDRESS | serve ADDRESS | connect ADDRESS PORT\n");
        return 2;
    }
    if (strcmp(role, "loop") == 0) {
        listen_at(channel, &address);
        begin_connect(&client, channel, &address, false, -1);
        begin_accept(&server, channel, false, -1);
        rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ESTABLISHED));
        rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ESTABLISHED));
        obey(&client, &server);
    } else if (strcmp(role, "serve") == 0) {
        listen_at(channel, &address);
        printf("READY %d\n", ntohs(address.sin_port));
        begin_accept(&server, channel, true, channel->fd);
        rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ESTABLISHED));
        while (!server.over) {
            receive_message(&server);
            if (!server.over) {
                send_message(&server);
            }
        }
    } else if (strcmp(role, "connect") == 0 && argc == 4) {
        address.sin_port = htons(atoi(argv[3]));
        begin_connect(&client, channel, &address, true, channel->fd);
        rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ESTABLISHED));
        obey(&client, NULL);
        check(rdma_disconnect(client.id) == 0, "rdma_disconnect");
    } else {
        fprintf(stderr, "unknown role %s\n", role);
        return 2;
    }
    return 0;
}
