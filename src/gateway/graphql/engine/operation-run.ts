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
    call.onDisconnect = () => this.stop('the client disconnected');
  }

  /** Ends the operation: requests in progress are abandoned, waiting ones are not sent. */
  stop(reason: string): void {
    if (this.stopReason !== '') return;
    this.stopReason = reason;
    for (const request of this.#running) request.abandon();
    for (const start of this.#waiting.splice(0)) start();
  }

  finish(): void {
    clearTimeout(this.#timer);
    this.call.onDisconnect = undefined;
  }

  /** Counts a value of the result, against the multiplication of one response by many selections of it. */
  charge(value: unknown): void {
    if (this.stopReason !== '') throw new SourceError(this.stopReason);
    if (Array.isArray(value)) this.#values += value.length;
    this.#values++;
    if (typeof value === 'string') this.#bytes += value.length;
    if (this.#values > this.#bounds.maxResultValues) this.#exceed(`${this.#bounds.maxResultValues} values`);
    if (this.#bytes > this.#bounds.maxResultBytes) this.#exceed(`${this.#bounds.maxResultBytes} bytes`);
  }

  #exceed(bound: string): never {
    this.stop(`the result is larger than ${bound}`);
    throw new SourceError(this.stopReason);
  }

  /** Text that a leaf of objects, such as JSON, adds to the result. */
  chargeLeaf(value: unknown): void {
    if (typeof value === 'object' && value !== null) this.charge(JSON.stringify(value));
  }

  /** A mutation may change what was read before. */
  forgetResponses(): void {
    this.#known.clear();
  }

  /** Request coalescing: equal requests of one operation have one response, which is read once. */
  fetch<T>(request: SourceRequest, read: (response: SourceResponse) => Promise<T> | T, isShared: boolean): Promise<T> {
    if (!isShared) return this.#request(request, read);
    const { sourceName, method, path, query, headers, body } = request;
    const key = JSON.stringify([sourceName, method, path, query, headers, body?.toString() ?? '']);
    const known = this.#known.get(key) as Promise<T> | undefined;
    if (known) return known;
    const pending = this.#request(request, read);
    this.#known.set(key, pending);
    return pending;
  }

  async #request<T>(request: SourceRequest, read: (response: SourceResponse) => Promise<T> | T): Promise<T> {
    const { maxRequests } = this.#bounds;
    if (++this.#counter.count > maxRequests)
      throw new SourceError(`the operation needs more than ${maxRequests} requests`);
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
