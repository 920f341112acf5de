import type { Socket } from 'node:net';
import type { RequestBody } from './request-body.ts';

/** Bytes that are discarded after the response, so that it arrives: more than a body that may be buffered has. */
const maxLingerBytes = 33_554_432;

/**
 * Lingering close (RFC 9112, 9.6): discards what still arrives after the response, within bounds. Closing with unread
 * bytes would send a TCP reset, and the client would lose the response.
 */
export class LingeringClose {
  readonly #body: RequestBody | undefined;
  #discardedBytes = 0;

  /** `body`: the request body that is still arriving. */
  constructor(socket: Socket, body: RequestBody | undefined) {
    this.#body = body;
    void body?.return();
    socket.end();
  }

  /** `complete`: the body has ended, and nothing more is expected. `exceeded`: the client sends too much. */
  discard(bytes: Buffer): 'incomplete' | 'complete' | 'exceeded' {
    this.#discardedBytes += bytes.length;
    if (this.#discardedBytes > maxLingerBytes) return 'exceeded';
    return this.#body?.discard(bytes) ? 'complete' : 'incomplete';
  }
}
