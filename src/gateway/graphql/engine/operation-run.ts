import type { Exchange } from '../../pipeline/exchange.ts';
import type { RunningSourceRequest, SendToSource, SourceRequest, SourceResponse } from '../data-graph.ts';
import { SourceError } from './source-error.ts';

/** Bounds of one operation. */
export interface RunBounds {
  readonly maxRequests: number;
  readonly maxConcurrent: number;
  readonly maxResultValues: number;
  readonly maxResultBytes: number;
  readonly timeoutMs: number;
}

/** An error of a source that belongs to no null: it is added to the errors of the result. */
export interface AddedError {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** Quotes, colon and comma of a name. */
export const nameOverhead = 4;

const writeExcess = (maxRequests: number): string => `the operation needs more than ${maxRequests} requests`;

/**
 * One execution: requests to sources in parallel up to a bound, equal requests as one, and the bounds of the operation.
 * A class: one is created per operation.
 */
export class OperationRun {
  readonly call: Exchange;
  readonly addedErrors: AddedError[] = [];
  /** Why the operation ended early; empty while it may go on. */
  stopReason = '';
  readonly #send: SendToSource;
  readonly #bounds: RunBounds;
  readonly #known = new Map<string, Promise<unknown>>();
  readonly #running = new Set<RunningSourceRequest>();
  readonly #waiting: (() => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  /** Of the outermost graph: one whose source is another graph could multiply requests at each level. */
  readonly #counter: { count: number };
  #abort: AbortController | undefined;
  #active = 0;
  #values = 0;
  #bytes = 0;

  constructor(call: Exchange, send: SendToSource, bounds: RunBounds) {
    this.call = call;
    this.#send = send;
    this.#bounds = bounds;
    this.#counter = call.sourceRequests ?? { count: 0 };
    const timeoutMs = call.enforcedTimeout?.timeoutMs ?? bounds.timeoutMs;
    this.#timer = setTimeout(() => this.stop(`the operation took longer than ${timeoutMs} ms`), timeoutMs);
    const leave = () => this.stop('the client disconnected');
    call.onDisconnect = leave;
    if (call.isClientDisconnected) leave();
  }

  /** Aborted when the operation ends early. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  /** Ends the operation: requests in progress are abandoned, waiting ones are not sent. */
  stop(reason: string): void {
    if (this.stopReason !== '') return;
    this.stopReason = reason;
    this.#abort?.abort();
    for (const request of this.#running) request.abandon();
    for (const start of this.#waiting.splice(0)) start();
  }

  finish(): void {
    clearTimeout(this.#timer);
    this.call.onDisconnect = undefined;
  }

  /** Counts a value of the result, against the multiplication of one response by many selections of it. */
  charge(value: unknown): void {
    const items = Array.isArray(value) ? value.length : 0;
    this.#charge(items + 1, typeof value === 'string' ? value.length : 0);
  }

  /** Counts names that the result repeats, with their punctuation. `values`: those of the gateway's own. */
  chargeNames(length: number, values = 0): void {
    this.#charge(values, length);
  }

  #charge(values: number, bytes: number): void {
    if (this.stopReason !== '') throw new SourceError(this.stopReason);
    this.#values += values;
    this.#bytes += bytes;
    if (this.#values > this.#bounds.maxResultValues) this.#exceed(`${this.#bounds.maxResultValues} values`);
    if (this.#bytes > this.#bounds.maxResultBytes) this.#exceed(`${this.#bounds.maxResultBytes} bytes`);
  }

  #exceed(bound: string): never {
    this.fail(`the result is larger than ${bound}`);
  }

  /** Ends the operation from within one of its fields. */
  fail(reason: string): never {
    this.stop(reason);
    throw new SourceError(this.stopReason);
  }

  /** Counts an error of the result: one response may be the value of many fields, and its errors are repeated. */
  chargeError({ message, path }: AddedError): void {
    let length = message.length;
    for (const step of path) length += String(step).length + nameOverhead;
    this.#charge(1, length);
  }

  addError(error: AddedError): void {
    this.chargeError(error);
    this.addedErrors.push(error);
  }

  /** Text that a leaf of objects, such as JSON, adds to the result. */
  chargeLeaf(value: unknown): void {
    if (typeof value === 'object' && value !== null) this.charge(JSON.stringify(value));
  }

  /** Why the operation may not send so many requests more; undefined where it may. */
  findRequestExcess(count: number): string | undefined {
    const { maxRequests } = this.#bounds;
    return this.#counter.count + count > maxRequests ? writeExcess(maxRequests) : undefined;
  }

  /** A mutation may change what was read before. */
  forgetResponses(): void {
    this.#known.clear();
  }

  /** Request coalescing: equal requests of one operation have one response, which is read once. */
  fetch<T>(request: SourceRequest, read: (response: SourceResponse) => Promise<T> | T, isShared: boolean): Promise<T> {
    if (!isShared) return this.#request(request, read);
    const { sourcePlace, method, path, query, headers, body } = request;
    const key = JSON.stringify([sourcePlace, method, path, query, headers, body?.toString() ?? '']);
    const known = this.#known.get(key) as Promise<T> | undefined;
    if (known) return known;
    const pending = this.#request(request, read);
    this.#known.set(key, pending);
    return pending;
  }

  async #request<T>(request: SourceRequest, read: (response: SourceResponse) => Promise<T> | T): Promise<T> {
    const { maxRequests } = this.#bounds;
    if (++this.#counter.count > maxRequests) throw new SourceError(writeExcess(maxRequests));
    await this.#waitForTurn();
    try {
      if (this.stopReason !== '') throw new SourceError(this.stopReason);
      return await read(await this.#receive(request));
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#active--;
    }
  }

  /** One that ends hands its place to the first that waits. */
  #waitForTurn(): Promise<void> | undefined {
    if (this.#active >= this.#bounds.maxConcurrent) return new Promise(resolve => this.#waiting.push(resolve));
    this.#active++;
    return undefined;
  }

  async #receive(request: SourceRequest): Promise<SourceResponse> {
    const running = this.#send(request, this.#counter);
    this.#running.add(running);
    const response = await running.response;
    this.#running.delete(running);
    if (this.stopReason !== '') throw new SourceError(this.stopReason);
    const { sourceName } = request;
    if (!response) throw new SourceError(`the response of the data source ${sourceName} is incomplete or too large`);
    if (response.isFailed) throw new SourceError(`the data source ${sourceName} is unavailable`);
    return response;
  }
}
