package io.rdmanio.verbs.soft;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntPredicate;

/**
 * The ports that this process gives out by itself, in blocks that it takes from the other processes by name, as many as
 * it needs: one descriptor for {@value #PORTS} ports. They lie outside the range of TCP's own automatic ports
 * (net.ipv4.ip_local_port_range), because programs know their connections by the peer's address, whatever carries them.
 *
 * <p>Not thread-safe: {@link Ports} calls it under its lock.
 */
final class PortBlocks {
    static final int PORTS = 64;
    private static final Path TCP_RANGE = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
    // What Linux has when nobody changed it.
    private static final int DEFAULT_LOW = 32_768;
    private static final int DEFAULT_HIGH = 60_999;
    // Below are the ports that servers are known by.
    private static final int LOWEST = 10_000;
    private static final int PORT_NUMBERS = 65_536;
    // Processes begin at different blocks, so that they seldom ask for one that is taken.
    private static final int FIRST_CHOICES = 64;
    private static final int MAX_RANGE_BYTES = 64;
    private static final System.Logger LOGGER = System.getLogger(PortBlocks.class.getName());

    private static final class Block {
        final Runnable name;
        int uses;

        Block(Runnable name) {
            this.name = name;
        }
    }

    private final PortNames.Directory directory;
    private final List<Integer> usable;
    private final Map<Integer, Block> held = new LinkedHashMap<>();
    private int nextBlock;
    // A port is not given out again while there are others, since the peer of a closed connection may not know yet.
    private int lastOffset;

    PortBlocks(PortNames.Directory directory) {
        this(directory, usableBlocks(tcpRange()));
    }

    PortBlocks(PortNames.Directory directory, List<Integer> usable) {
        this.directory = directory;
        this.usable = usable;
        this.nextBlock = ThreadLocalRandom.current().nextInt(Math.clamp(usable.size(), 1, FIRST_CHOICES));
        this.lastOffset = ThreadLocalRandom.current().nextInt(PORTS);
    }

    static int[] tcpRange() {
        try (InputStream in = Files.newInputStream(TCP_RANGE)) {
            // In one piece: a second read would find the end, whatever the first has left.
            byte[] text = new byte[MAX_RANGE_BYTES];
            int length = in.read(text);
            String[] limits = new String(text, 0, Math.max(length, 0), StandardCharsets.US_ASCII)
                    .strip()
                    .split("\\s+", -1);
            if (limits.length == 2) {
                return new int[] {Integer.parseInt(limits[0]), Integer.parseInt(limits[1])};
            }
        } catch (IOException | NumberFormatException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "can't read " + TCP_RANGE, e);
        }
        return new int[] {DEFAULT_LOW, DEFAULT_HIGH};
    }

    /**
     * The blocks of which no port is TCP's, the high ones first, since servers are known by low ones. When TCP has nearly
     * all ports, those above its default range.
     */
    static List<Integer> usableBlocks(int[] tcpRange) {
        List<Integer> blocks = new ArrayList<>();
        for (int block = PORT_NUMBERS / PORTS - 1; block * PORTS >= LOWEST; block--) {
            int first = block * PORTS;
            if (first + PORTS - 1 < tcpRange[0] || first > tcpRange[1]) {
                blocks.add(block);
            }
        }
        return blocks.isEmpty() ? usableBlocks(new int[] {LOWEST, DEFAULT_HIGH}) : List.copyOf(blocks);
    }

    /**
     * Takes a port.
     *
     * @param isFree whether nobody in this process has it
     * @return the port; 0 when there is none
     * @throws IOException when another block is needed and can't be taken
     */
    int take(IntPredicate isFree) throws IOException {
        for (Map.Entry<Integer, Block> entry : held.entrySet()) {
            int port = entry.getValue().uses < PORTS ? take(entry.getKey(), entry.getValue(), isFree) : 0;
            if (port != 0) {
                return port;
            }
        }
        for (int i = 0; i < usable.size(); i++) {
            int number = usable.get((nextBlock + i) % usable.size());
            int port = held.containsKey(number) ? 0 : takeFromAnother(number, isFree);
            if (port != 0) {
                nextBlock = (nextBlock + i) % usable.size();
                return port;
            }
        }
        return 0;
    }

    private int takeFromAnother(int number, IntPredicate isFree) throws IOException {
        Runnable name = directory.take(PortNames.block(number));
        if (name == null) {
            return 0;
        }
        Block block = new Block(name);
        int port = take(number, block, isFree);
        if (port == 0) {
            name.run();
        } else {
            held.put(number, block);
        }
        return port;
    }

    private int take(int number, Block block, IntPredicate isFree) {
        for (int i = 1; i <= PORTS; i++) {
            int offset = (lastOffset + i) % PORTS;
            int port = number * PORTS + offset;
            if (isFree.test(port)) {
                lastOffset = offset;
                block.uses++;
                return port;
            }
        }
        return 0;
    }

    /**
     * Takes a port of the blocks held that is in use already.
     *
     * @param isFit whether it can be shared
     * @return the port; 0 when there is none
     */
    int share(IntPredicate isFit) {
        for (Map.Entry<Integer, Block> entry : held.entrySet()) {
            int port = take(entry.getKey(), entry.getValue(), isFit);
            if (port != 0) {
                return port;
            }
        }
        return 0;
    }

    /**
     * Gives a port back, and with the last one its block.
     *
     * @param port the port, once for each time it was taken
     */
    void giveBack(int port) {
        int number = port / PORTS;
        Block block = held.get(number);
        if (--block.uses == 0) {
            held.remove(number);
            block.name.run();
        }
    }
}
