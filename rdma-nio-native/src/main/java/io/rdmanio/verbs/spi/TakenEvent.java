package io.rdmanio.verbs.spi;

import io.rdmanio.verbs.cm.CommunicationEventType;
import io.rdmanio.verbs.cm.ConnectionParameters;
import io.rdmanio.verbs.cm.DatagramParameters;

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
 * @param datagramParameters as delivered; null for others
 * @param membershipToken the token of the multicast membership it is for; 0 for any other event
 */
@SuppressWarnings("ArrayRecordComponent") // Nobody compares events; whoever hands the array out copies it.
public record TakenEvent(
        long key,
        CommunicationEventType type,
        int status,
        long idToken,
        CommunicationIdHandle newId,
        byte[] privateData,
        ConnectionParameters connectionParameters,
        DatagramParameters datagramParameters,
        long membershipToken) {
    /**
     * An event about connections.
     *
     * @param key the engine's name for the event
     * @param type what happened
     * @param status as delivered
     * @param idToken the token of the id it is for; of the listener when a peer wants to connect
     * @param newId the id of a peer that wants to connect; null for any other event
     * @param privateData what the peer sent along, never null
     * @param connectionParameters as delivered
     */
    public TakenEvent(
            long key,
            CommunicationEventType type,
            int status,
            long idToken,
            CommunicationIdHandle newId,
            byte[] privateData,
            ConnectionParameters connectionParameters) {
        this(key, type, status, idToken, newId, privateData, connectionParameters, null, 0);
    }
}
