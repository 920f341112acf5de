import { isObject } from '#base/json-tree.ts';
import { parseStrictJson } from '#base/strict-json.ts';

const maxIdLength = 256;
/** Ids whose last message of the upstream may still arrive; the oldest are evicted. */
const maxStoppedIds = 1000;

export const isOperationId = (id: unknown): id is string =>
  typeof id === 'string' && id !== '' && id.length <= maxIdLength;

/** Error of an operation beyond the bound of a WebSocket. */
export const createExcessError = (maxOperations: number): object => ({
  message: `a WebSocket has at most ${maxOperations} operations in progress`,
  extensions: { code: 'operation_limit_exceeded' },
});

/** Operations in progress of a WebSocket that is proxied, by id. A class: one is created per connection. */
export class SocketOperations {
  readonly #maxOperations: number;
  readonly #inProgress = new Set<string>();
  /** A server may confirm the end of an operation whose id is in use again: that message ends the earlier one. */
  readonly #stopped = new Set<string>();

  constructor(maxOperations: number) {
    this.#maxOperations = maxOperations;
  }

  hasPlace(id: string): boolean {
    return this.#inProgress.has(id) || this.#inProgress.size < this.#maxOperations;
  }

  start(id: string): void {
    this.#inProgress.add(id);
  }

  /** The client ends an operation. */
  stop(id: string): void {
    if (!this.#inProgress.delete(id)) return;
    this.#stopped.add(id);
    const [oldest] = this.#stopped;
    if (this.#stopped.size > maxStoppedIds) this.#stopped.delete(oldest!);
  }

  /** The upstream has ended an operation. */
  end(id: string): void {
    if (!this.#stopped.delete(id)) this.#inProgress.delete(id);
  }
}

/** Reads `complete` and `error` messages of an upstream; any other is not parsed. */
export function endOperation(operations: SocketOperations, payload: Buffer): void {
  if (!payload.includes('"complete"') && !payload.includes('"error"')) return;
  const read = parseStrictJson(payload);
  if ('fault' in read || !isObject(read.value)) return;
  const { type, id } = read.value;
  if ((type === 'complete' || type === 'error') && typeof id === 'string') operations.end(id);
}
