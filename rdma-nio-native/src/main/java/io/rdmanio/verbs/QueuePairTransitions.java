package io.rdmanio.verbs;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which changes of a queue pair's state there are, and which attributes each needs and takes, by transport service:
 * ibv_modify_qp(3) and the InfiniBand specification's chapter on queue pair transitions. It explains what a device
 * refuses and says beforehand what it will want; it forbids nothing itself. Devices of iWARP don't follow it: there the
 * connection manager changes the states. Immutable, so thread-safe.
 */
public final class QueuePairTransitions {
    private static final Set<QueuePairType> CONNECTED = EnumSet.of(
            QueuePairType.RELIABLE_CONNECTED,
            QueuePairType.UNRELIABLE_CONNECTED,
            QueuePairType.XRC_SEND,
            QueuePairType.XRC_RECEIVE);
    private static final Set<QueuePairType> RELIABLE =
            EnumSet.of(QueuePairType.RELIABLE_CONNECTED, QueuePairType.XRC_SEND, QueuePairType.XRC_RECEIVE);
    private static final Set<QueuePairType> REQUESTERS =
            EnumSet.of(QueuePairType.RELIABLE_CONNECTED, QueuePairType.XRC_SEND);
    private static final Set<QueuePairType> RESPONDERS =
            EnumSet.of(QueuePairType.RELIABLE_CONNECTED, QueuePairType.XRC_RECEIVE);
    private static final Set<QueuePairType> DATAGRAM = EnumSet.of(QueuePairType.UNRELIABLE_DATAGRAM);
    private static final Set<QueuePairType> UNRELIABLE = EnumSet.of(QueuePairType.UNRELIABLE_CONNECTED);
    private static final Set<QueuePairType> RAW = EnumSet.of(QueuePairType.RAW_PACKET);

    private static final Map<QueuePairState, Map<QueuePairState, Rule>> RULES = rules();

    private QueuePairTransitions() {}

    /** What one transition needs and takes. */
    private static final class Rule {
        private final Map<QueuePairType, Set<QueuePairAttribute>> required = new EnumMap<>(QueuePairType.class);
        private final Map<QueuePairType, Set<QueuePairAttribute>> optional = new EnumMap<>(QueuePairType.class);

        Rule needs(Set<QueuePairType> types, QueuePairAttribute... attributes) {
            add(required, types, attributes);
            return this;
        }

        Rule takes(Set<QueuePairType> types, QueuePairAttribute... attributes) {
            add(optional, types, attributes);
            return this;
        }

        private static void add(
                Map<QueuePairType, Set<QueuePairAttribute>> to,
                Set<QueuePairType> types,
                QueuePairAttribute... attributes) {
            for (QueuePairType type : types) {
                to.computeIfAbsent(type, key -> EnumSet.noneOf(QueuePairAttribute.class))
                        .addAll(List.of(attributes));
            }
        }
    }

    private static Map<QueuePairState, Map<QueuePairState, Rule>> rules() {
        Map<QueuePairState, Map<QueuePairState, Rule>> rules = new EnumMap<>(QueuePairState.class);
        for (QueuePairState from : QueuePairState.values()) {
            if (from != QueuePairState.UNKNOWN) {
                rule(rules, from, QueuePairState.RESET);
                if (from != QueuePairState.RESET) {
                    rule(rules, from, QueuePairState.ERROR);
                }
            }
        }
        upToReceiving(rules);
        sending(rules);
        draining(rules);
        return rules;
    }

    private static Rule rule(
            Map<QueuePairState, Map<QueuePairState, Rule>> rules, QueuePairState from, QueuePairState to) {
        return rules.computeIfAbsent(from, key -> new EnumMap<>(QueuePairState.class))
                .computeIfAbsent(to, key -> new Rule());
    }

    private static void upToReceiving(Map<QueuePairState, Map<QueuePairState, Rule>> rules) {
        rule(rules, QueuePairState.RESET, QueuePairState.INITIALIZED)
                .needs(
                        CONNECTED,
                        QueuePairAttribute.PARTITION_KEY_INDEX,
                        QueuePairAttribute.PORT,
                        QueuePairAttribute.ACCESS_FLAGS)
                .needs(
                        DATAGRAM,
                        QueuePairAttribute.PARTITION_KEY_INDEX,
                        QueuePairAttribute.PORT,
                        QueuePairAttribute.QUEUE_KEY)
                .needs(RAW, QueuePairAttribute.PORT);
        rule(rules, QueuePairState.INITIALIZED, QueuePairState.INITIALIZED)
                .takes(
                        CONNECTED,
                        QueuePairAttribute.PARTITION_KEY_INDEX,
                        QueuePairAttribute.PORT,
                        QueuePairAttribute.ACCESS_FLAGS)
                .takes(
                        DATAGRAM,
                        QueuePairAttribute.PARTITION_KEY_INDEX,
                        QueuePairAttribute.PORT,
                        QueuePairAttribute.QUEUE_KEY);
        rule(rules, QueuePairState.INITIALIZED, QueuePairState.READY_TO_RECEIVE)
                .needs(
                        CONNECTED,
                        QueuePairAttribute.ADDRESS_VECTOR,
                        QueuePairAttribute.PATH_MTU,
                        QueuePairAttribute.DESTINATION_NUMBER,
                        QueuePairAttribute.RECEIVE_PACKET_NUMBER)
                .needs(RESPONDERS, QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC, QueuePairAttribute.MIN_RNR_TIMER)
                .takes(
                        CONNECTED,
                        QueuePairAttribute.ALTERNATE_PATH,
                        QueuePairAttribute.ACCESS_FLAGS,
                        QueuePairAttribute.PARTITION_KEY_INDEX)
                .takes(DATAGRAM, QueuePairAttribute.PARTITION_KEY_INDEX, QueuePairAttribute.QUEUE_KEY);
    }

    private static void sending(Map<QueuePairState, Map<QueuePairState, Rule>> rules) {
        Rule begin = rule(rules, QueuePairState.READY_TO_RECEIVE, QueuePairState.READY_TO_SEND)
                .needs(CONNECTED, QueuePairAttribute.SEND_PACKET_NUMBER)
                .needs(DATAGRAM, QueuePairAttribute.SEND_PACKET_NUMBER)
                .needs(RELIABLE, QueuePairAttribute.TIMEOUT)
                .needs(
                        REQUESTERS,
                        QueuePairAttribute.RETRY_COUNT,
                        QueuePairAttribute.RNR_RETRY_COUNT,
                        QueuePairAttribute.MAX_READ_ATOMIC);
        Rule remain = rule(rules, QueuePairState.READY_TO_SEND, QueuePairState.READY_TO_SEND);
        Rule resume = rule(rules, QueuePairState.SEND_QUEUE_DRAINED, QueuePairState.READY_TO_SEND);
        for (Rule rule : List.of(begin, remain, resume)) {
            rule.takes(
                            CONNECTED,
                            QueuePairAttribute.CURRENT_STATE,
                            QueuePairAttribute.ALTERNATE_PATH,
                            QueuePairAttribute.ACCESS_FLAGS,
                            QueuePairAttribute.PATH_MIGRATION_STATE)
                    .takes(RESPONDERS, QueuePairAttribute.MIN_RNR_TIMER)
                    .takes(DATAGRAM, QueuePairAttribute.CURRENT_STATE, QueuePairAttribute.QUEUE_KEY);
        }
        begin.takes(RAW, QueuePairAttribute.RATE_LIMIT);
        remain.takes(RAW, QueuePairAttribute.RATE_LIMIT);
        rule(rules, QueuePairState.SEND_QUEUE_ERROR, QueuePairState.READY_TO_SEND)
                .takes(DATAGRAM, QueuePairAttribute.CURRENT_STATE, QueuePairAttribute.QUEUE_KEY)
                .takes(UNRELIABLE, QueuePairAttribute.CURRENT_STATE, QueuePairAttribute.ACCESS_FLAGS);
    }

    private static void draining(Map<QueuePairState, Map<QueuePairState, Rule>> rules) {
        rule(rules, QueuePairState.READY_TO_SEND, QueuePairState.SEND_QUEUE_DRAINED)
                .takes(CONNECTED, QueuePairAttribute.DRAINED_NOTIFICATION)
                .takes(DATAGRAM, QueuePairAttribute.DRAINED_NOTIFICATION);
        rule(rules, QueuePairState.SEND_QUEUE_DRAINED, QueuePairState.SEND_QUEUE_DRAINED)
                .takes(DATAGRAM, QueuePairAttribute.PARTITION_KEY_INDEX, QueuePairAttribute.QUEUE_KEY)
                .takes(
                        CONNECTED,
                        QueuePairAttribute.ADDRESS_VECTOR,
                        QueuePairAttribute.ALTERNATE_PATH,
                        QueuePairAttribute.ACCESS_FLAGS,
                        QueuePairAttribute.PARTITION_KEY_INDEX,
                        QueuePairAttribute.PATH_MIGRATION_STATE)
                .takes(RELIABLE, QueuePairAttribute.PORT, QueuePairAttribute.TIMEOUT)
                .takes(
                        REQUESTERS,
                        QueuePairAttribute.RETRY_COUNT,
                        QueuePairAttribute.RNR_RETRY_COUNT,
                        QueuePairAttribute.MAX_READ_ATOMIC)
                .takes(RESPONDERS, QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC, QueuePairAttribute.MIN_RNR_TIMER);
    }

    private static Rule find(QueuePairState from, QueuePairState to) {
        return RULES.getOrDefault(from, Map.of()).get(to);
    }

    private static Set<QueuePairAttribute> copy(Set<QueuePairAttribute> attributes) {
        Set<QueuePairAttribute> copy = EnumSet.noneOf(QueuePairAttribute.class);
        if (attributes != null) {
            copy.addAll(attributes);
        }
        return copy;
    }

    /**
     * Tells whether a state can follow another, or be kept while attributes change.
     *
     * @param from the state before
     * @param to the state afterwards
     * @return true when there is such a transition
     */
    public static boolean exists(QueuePairState from, QueuePairState to) {
        return find(from, to) != null;
    }

    /**
     * The attributes that a transition needs, besides the state itself.
     *
     * @param type the transport service
     * @param from the state before
     * @param to the state afterwards
     * @return a new set; empty when there is no such transition
     */
    public static Set<QueuePairAttribute> required(QueuePairType type, QueuePairState from, QueuePairState to) {
        Rule rule = find(from, to);
        return copy(rule == null ? null : rule.required.get(type));
    }

    /**
     * The attributes that a transition takes though it does not need them.
     *
     * @param type the transport service
     * @param from the state before
     * @param to the state afterwards
     * @return a new set; empty when there is no such transition
     */
    public static Set<QueuePairAttribute> optional(QueuePairType type, QueuePairState from, QueuePairState to) {
        Rule rule = find(from, to);
        return copy(rule == null ? null : rule.optional.get(type));
    }

    /**
     * Says what is wrong with a change.
     *
     * @param type the queue pair's transport service
     * @param from its state
     * @param attributes what shall be changed: the marked ones
     * @return sentences: that there is no such transition; or what is missing and what does not belong there; or that
     *     the attributes are those of the transition, so that one of the values must be wrong; empty when type or state
     *     is not known here
     */
    public static String explain(QueuePairType type, QueuePairState from, QueuePairAttributes attributes) {
        if (from == QueuePairState.UNKNOWN || type == QueuePairType.UNKNOWN || type == QueuePairType.DRIVER) {
            return "";
        }
        Set<QueuePairAttribute> given = attributes.marked();
        QueuePairState to = given.contains(QueuePairAttribute.STATE) ? attributes.state() : from;
        given.remove(QueuePairAttribute.STATE);
        if (!exists(from, to)) {
            return "No change leads from " + named(from) + " to " + named(to) + "; from there one can go to "
                    + RULES.get(from).keySet().stream()
                            .map(QueuePairTransitions::named)
                            .collect(Collectors.joining(", "))
                    + ".";
        }
        Set<QueuePairAttribute> required = required(type, from, to);
        Set<QueuePairAttribute> missing = copy(required);
        missing.removeAll(given);
        Set<QueuePairAttribute> alien = copy(given);
        alien.removeAll(required);
        alien.removeAll(optional(type, from, to));
        String change = named(from) + " to " + named(to) + " of " + type + " (" + type.nativeName() + ")";
        if (missing.isEmpty() && alien.isEmpty()) {
            return "These are the attributes of " + change
                    + ", so one of the values does not suit the device: see its attributes and those of its port, and"
                    + " the entry of its GID table."
                    + (from == QueuePairState.SEND_QUEUE_DRAINED
                            ? " Or the send queue is draining still, which a query tells."
                            : "");
        }
        List<String> parts = new ArrayList<>();
        parts.add(change + " needs " + (required.isEmpty() ? "no attribute" : named(required)));
        if (!missing.isEmpty()) {
            parts.add("missing: " + named(missing));
        }
        if (!alien.isEmpty()) {
            parts.add("not allowed: " + named(alien));
        }
        return String.join("; ", parts) + ".";
    }

    private static String named(QueuePairState state) {
        return state + " (" + state.nativeName() + ")";
    }

    private static String named(Collection<QueuePairAttribute> attributes) {
        return attributes.stream()
                .map(attribute -> attribute + " (" + attribute.nativeName() + ")")
                .collect(Collectors.joining(", "));
    }
}
