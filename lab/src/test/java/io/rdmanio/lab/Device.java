package io.rdmanio.lab;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** The guest's two RDMA devices, which is what the lab's tests are parameterised over. */
enum Device {
    ROCE("rxe0", "rxe", "roce0", "10.77.0"),
    IWARP("siw0", "siw", "iwarp0", "10.78.0");

    /** The device's name in the verbs, its driver, and the network device below it. */
    final String link;

    final String driver;
    final String netdev;
    private final String subnet;

    Device(String link, String driver, String netdev, String subnet) {
        this.link = link;
        this.driver = driver;
        this.netdev = netdev;
        this.subnet = subnet;
    }

    /** The devices that this run is about: all, or those that {@code io.rdmanio.lab.devices} names by their links. */
    static Stream<Device> selected() {
        List<String> names = List.of(
                System.getProperty("io.rdmanio.lab.devices", "rxe0,siw0").split(",", -1));
        return Arrays.stream(values()).filter(device -> names.contains(device.link));
    }

    /** The address of the device. */
    String address() {
        return subnet + ".1";
    }

    /** An address in the device's subnet that nobody has. */
    String addressOfNobody() {
        return subnet + ".99";
    }

    @Override
    public String toString() {
        return link;
    }
}
