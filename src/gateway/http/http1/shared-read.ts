/**
 * Bytes of one read from an upstream. All sockets of a thread read into one buffer, whose bytes are overwritten by the
 * next read.
 */
export const sharedReadBytes = 65_536;
