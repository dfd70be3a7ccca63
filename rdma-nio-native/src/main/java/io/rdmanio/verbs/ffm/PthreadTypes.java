package io.rdmanio.verbs.ffm;

/** Sizes of glibc's pthread types, which lie inside the structs of libibverbs and differ between architectures. */
final class PthreadTypes {
    static final long MUTEX_BYTES = System.getProperty("os.arch").equals("aarch64") ? 48 : 40;
    static final long COND_BYTES = 48;

    private PthreadTypes() {}
}
