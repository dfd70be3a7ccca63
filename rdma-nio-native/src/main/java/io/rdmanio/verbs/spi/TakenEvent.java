package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.ConnectionParameters;

/**
 * What an engine read from an event before anybody acknowledged it.
 *
 * @param key the engine's name for the event
 * @param type what happened
 * @param status as delivered: 0, a negative error number, or a reject reason
 * @param idToken the token of the id it is for; of the listener when a peer wants to connect
 * @param newId the id of a peer that wants to connect; null for any other event
 * @param privateData what the peer sent along, never null
 * @param connectionParameters as delivered; null for datagram port spaces
 */
@SuppressWarnings("ArrayRecordComponent") // Nobody compares events; whoever hands the array out copies it.
public record TakenEvent(
        long key,
        CommunicationEventType type,
        int status,
        long idToken,
        CommunicationIdHandle newId,
        byte[] privateData,
        ConnectionParameters connectionParameters) {}
