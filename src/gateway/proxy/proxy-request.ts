import type { Dispatcher } from 'undici';
import { bodyOf, problem as bodyProblem, noBody } from '../http/body.ts';
import { BodyBuffer } from '../http/body-buffer.ts';
import { dropNamed, HeaderList, hopByHop } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { RefusalCode } from '../pipeline/refusals.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import type { BodyCapture } from '../pipeline/step.ts';
import type { Admission, Admittable, Holder } from './admission.ts';
import type { LetGo } from './body-preread.ts';
import type { Deadlines, Timed } from './timeout-queue.ts';

/** What happens around an answer of the upstream; the engine supplies it. */
export interface Receiver {
  /** Bytes of a body that are taken of an upstream. */
  readonly answerBytes: number;
  /** Bytes of a body that are held back for steps that need the whole of it. */
  readonly heldBytes: number;
  /** Whether a step needs the whole body: the answer is then complete when `onHead` gets it. */
  needsBody(call: Exchange, response: GatewayResponse): boolean;
  /** Whoever wants a copy of the body, once the head is settled. */
  copies(call: Exchange, response: GatewayResponse): BodyCapture[] | undefined;
  /** May change the answer's head; a promise holds the body back until it is kept. */
  onHead(call: Exchange, response: GatewayResponse): Promise<void> | void;
  /** The answer has gone out completely, or can no longer. */
  onEnd(call: Exchange, complete: boolean): void;
  /** The upstream gave no answer. */
  onFailure(call: Exchange, writer: ResponseWriter, code: RefusalCode, error: Error): void;
}

/** Methods that may be sent again when a kept connection turned out to be closed. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Heads that say that the answer is still to come; each begins the time for it anew. */
const mostHints = 16;

type Handler = Dispatcher.DispatchHandler;

/** A connection pool, with the admission in front of it where it has one. */
export type AdmittingPool = Pick<Dispatcher, 'dispatch'> & { readonly admission?: Admission };

/**
 * Carries one call to the upstream and its answer back. An object per call, no closures: chunk by chunk from one socket
 * to the other, at the speed of the slower one.
 */
export class Forwarding implements Handler, Timed, Admittable {
  dueAt = 0;
  place: Admittable['place'] = 'none';
  client: Holder | undefined = undefined;
  key: Holder | undefined = undefined;
  organisation: Holder | undefined = undefined;
  blocker: Holder | undefined = undefined;
  wait: Timed | undefined = undefined;
  readonly #call: Exchange;
  readonly #writer: ResponseWriter;
  readonly #receiver: Receiver;
  readonly #pool: AdmittingPool;
  readonly #options: Dispatcher.DispatchOptions;
  /** The time the upstream has, where it is not the usual one. */
  #deadlines: Deadlines | undefined;
  /** The time it has for the whole of an answer that is held back until then. */
  readonly #heldWithin: Deadlines;
  /** Set while the bytes that were read ahead of its body wait for a connection. */
  #letGo: LetGo | undefined;
  /** Its body came as a stream, and all or some of it was read ahead. */
  #wasRead = false;
  #hints = 0;
  #abort: ((error?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  /** Body bytes still to come; below zero when the upstream did not say how many. */
  #left = -1;
  #started = false;
  #ended = false;
  #retried = false;
  #held: Promise<void> | undefined;
  /** Set while the whole body is collected before anything goes out. */
  #whole: { readonly given: GatewayResponse; readonly gathered: BodyBuffer } | undefined;
  #copying: { readonly copies: BodyCapture[]; readonly gathered: BodyBuffer } | undefined;

  constructor(
    call: Exchange,
    writer: ResponseWriter,
    receiver: Receiver,
    pool: AdmittingPool,
    options: Dispatcher.DispatchOptions,
    heldWithin: Deadlines,
  ) {
    this.#call = call;
    this.#writer = writer;
    this.#receiver = receiver;
    this.#pool = pool;
    this.#options = options;
    this.#deadlines = call.enforcedTimeout;
    this.#heldWithin = heldWithin;
  }

  /** `orgId` is the organisation the request counts for at the upstream; empty where there is one alone. */
  send(orgId = '', letGo?: LetGo): void {
    this.#letGo = letGo;
    this.#wasRead = letGo !== undefined;
    this.#deadlines?.watch(this);
    const { admission } = this.#pool;
    const call = this.#call;
    const place = admission?.admit(this, call, orgId) ?? 'active';
    if (place === 'active') this.#dispatch();
    else if (place === 'refused') this.onError(new UpstreamBusy('too many requests wait for the upstream'));
    else call.onDisconnect = () => this.onError(new Error('the client left while its request waited for the upstream'));
  }

  onAdmitted(): void {
    this.#dispatch();
  }

  onWaitTimeout(): void {
    this.onError(new UpstreamBusy('no connection to the upstream was free in time'));
  }

  #dispatch(): void {
    this.#call.upstreamStartedAt = performance.now();
    this.#letGo?.(true);
    this.#letGo = undefined;
    try {
      this.#pool.dispatch(this.#options, this);
    } catch (error) {
      // Its place must not be lost with it.
      this.onError(error as Error);
    }
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    const call = this.#call;
    if (call.isClientDisconnected || this.#ended) {
      abort();
      return;
    }
    call.onDisconnect = () => this.#abort?.();
  }

  /**
   * The upstream has used up its time: for its head, or for the whole answer where that is held; and once it goes out, for
   * any part of it. A caller that is slow to take it is not the upstream's fault.
   */
  late(): void {
    const abort = this.#abort;
    this.onError(Object.assign(new Error('the upstream used up its time'), { code: 'GW_UPSTREAM_LATE' }));
    abort?.();
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    if (status < 200) {
      if (++this.#hints > mostHints) this.#abort?.(new Error('the upstream announces an answer and gives none'));
      return true;
    }
    const call = this.#call;
    call.upstreamMs = performance.now() - call.upstreamStartedAt;
    this.#resume = resume;
    const response = new GatewayResponse(status, this.#headersOf(raw), noBody());
    if (this.#left > this.#receiver.answerBytes && this.#options.method !== 'HEAD' && status !== 304) {
      this.#abort?.(new AnswerTooLarge());
      return true;
    }
    const hasBody = this.#options.method !== 'HEAD' && status !== 204 && status !== 304;
    if (hasBody && this.#receiver.needsBody(call, response)) {
      this.#whole = { given: response, gathered: new BodyBuffer() };
      if (!this.#deadlines) {
        this.#deadlines = this.#heldWithin;
        this.#deadlines.watch(this);
      }
      return true;
    }
    this.#deadlines?.forget(this);
    const waiting = this.#receiver.onHead(call, response);
    if (waiting instanceof Promise) {
      this.#held = waiting.then(
        () => {
          this.#start(response);
          resume();
        },
        error => this.onError(error as Error),
      );
      return false;
    }
    this.#start(response);
    return true;
  }

  #headersOf(raw: Buffer[]): HeaderList {
    const headers = new HeaderList();
    let named = '';
    for (let at = 0; at < raw.length; at += 2) {
      const name = raw[at]!.toString('latin1');
      const lower = name.toLowerCase();
      const value = raw[at + 1]!.toString('latin1');
      if (lower === 'connection') named = named ? `${named},${value}` : value;
      if (hopByHop.has(lower)) continue;
      if (lower === 'content-length') this.#left = Number(value);
      headers.flat.push(name, value);
    }
    if (named !== '') dropNamed(headers, named);
    return headers;
  }

  #start(response: GatewayResponse): void {
    if (this.#ended) return;
    this.#started = true;
    this.#framed(response);
    const copies = this.#receiver.copies(this.#call, response);
    if (copies) this.#copying = { copies, gathered: new BodyBuffer() };
    this.#writer.onDrain = this.#deadlines ? () => this.#goOn() : this.#resume;
    this.#deadlines?.watch(this);
    this.#writer.writeHead(response.status, response.headers.flat);
  }

  #goOn(): void {
    if (!this.#ended) this.#deadlines?.watch(this);
    this.#resume?.();
  }

  /** Where a step changed the method, the body is not what the caller waits for. */
  #framed(response: GatewayResponse): void {
    const { receivedMethod } = this.#call;
    if (receivedMethod === 'HEAD' || this.#options.method === 'HEAD') this.#left = -1;
    if (receivedMethod !== 'HEAD' && this.#options.method === 'HEAD') response.headers.set('Content-Length', '0');
  }

  onData(chunk: Buffer): boolean {
    const call = this.#call;
    call.responseBytes += chunk.length;
    if (call.responseBytes > (this.#whole ? this.#receiver.heldBytes : this.#receiver.answerBytes)) {
      this.#abort?.(new AnswerTooLarge());
      return true;
    }
    if (this.#whole) {
      this.#whole.gathered.add(chunk);
      return true;
    }
    if (call.receivedMethod === 'HEAD') return true;
    if (this.#copying) this.#copy(chunk);
    if (this.#left >= 0) {
      this.#left -= chunk.length;
      if (this.#left === 0) {
        // The last bytes go out together with the end: a small answer is one write.
        this.#end(chunk);
        return true;
      }
    }
    const more = this.#writer.write(chunk);
    if (this.#deadlines) {
      if (more) this.#deadlines.watch(this);
      else this.#deadlines.forget(this);
    }
    return more;
  }

  onComplete(trailers?: readonly (string | Buffer)[] | null): void {
    const after = trailersOf(trailers);
    if (this.#whole) return this.#complete(this.#whole.given, this.#whole.gathered.bytes());
    if (this.#held && !this.#started) this.#held.then(() => this.#end(undefined, after));
    else this.#end(undefined, after);
  }

  /** The whole answer is here: steps may change it before any of it goes out. */
  #complete(response: GatewayResponse, whole: Buffer): void {
    response.body = bodyOf(whole);
    this.#deadlines?.forget(this);
    const send = () => {
      if (this.#ended) return;
      const bytes = response.body.bytes!;
      response.headers.set('Content-Length', String(bytes.length));
      this.#left = -1;
      this.#call.responseBytes = bytes.length;
      this.#start(response);
      if (this.#copying) this.#copy(bytes);
      this.#end(this.#call.receivedMethod === 'HEAD' ? undefined : bytes);
    };
    const waiting = this.#receiver.onHead(this.#call, response);
    if (waiting instanceof Promise) this.#held = waiting.then(send, error => this.onError(error as Error));
    else send();
  }

  #copy(chunk: Buffer): void {
    this.#copying!.gathered.add(chunk);
    if (this.#copying!.copies.every(({ maxBytes }) => this.#call.responseBytes > maxBytes)) this.#copied(undefined);
  }

  #copied(bytes: Buffer | undefined): void {
    const copying = this.#copying;
    this.#copying = undefined;
    if (copying) handOut(copying.copies, bytes);
  }

  #end(last?: Buffer, trailers?: string[]): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deadlines?.forget(this);
    this.#call.onDisconnect = undefined;
    if (this.#copying) this.#copied(this.#copying.gathered.bytes());
    this.#writer.end(last, trailers);
    this.#pool.admission?.release(this);
    this.#receiver.onEnd(this.#call, true);
  }

  onError(error: Error): void {
    if (this.#ended) return;
    const call = this.#call;
    if (!this.#started && !this.#retried && this.#mayRepeat(error)) {
      this.#retried = true;
      this.#dispatch();
      return;
    }
    this.#ended = true;
    this.#pool.admission?.release(this);
    this.#letGo?.(false);
    this.#deadlines?.forget(this);
    call.onDisconnect = undefined;
    this.#copied(undefined);
    if (!this.#started) {
      this.#receiver.onFailure(call, this.#writer, refusalOf(call, error), error);
      return;
    }
    // The head is out: only a broken connection tells the caller that the rest will not come.
    this.#writer.abort();
    this.#receiver.onEnd(call, false);
  }

  /**
   * Only when a kept connection was closed under a call that has no effect or no second effect, no body to lose, and no
   * answer yet: on one that never brought anything the upstream itself broke off.
   */
  #mayRepeat(error: Error): boolean {
    const { code, socket } = error as { code?: string; socket?: { bytesRead?: number } };
    return (
      (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET') &&
      (socket?.bytesRead ?? 0) > 0 &&
      this.#resume === undefined &&
      !this.#call.isClientDisconnected &&
      !this.#wasRead &&
      this.#call.body.stream === undefined &&
      repeatable.has(this.#options.method as string)
    );
  }
}

export function handOut(copies: readonly BodyCapture[], bytes: Buffer | undefined): void {
  for (const { maxBytes, complete } of copies) complete(bytes && bytes.length <= maxBytes ? bytes : undefined);
}

/** Said after the body, they must not change how it was to be read. */
const neverTrailers = /^(?:content-(?:length|type|encoding|range)|host|authorization|cookie|set-cookie|cache-control)$/;

function trailersOf(raw: readonly (string | Buffer)[] | null | undefined): string[] | undefined {
  if (!raw || raw.length === 0) return undefined;
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toString('latin1').toLowerCase();
    if (!hopByHop.has(name) && !neverTrailers.test(name))
      kept.push(raw[at]!.toString('latin1'), raw[at + 1]!.toString('latin1'));
  }
  return kept;
}

class AnswerTooLarge extends Error {}

class UpstreamBusy extends Error {}

const timeouts = new Set([
  'GW_UPSTREAM_LATE',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const lookups = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME']);

export function refusalOf(call: Exchange, error: Error): RefusalCode {
  if (call.isClientDisconnected) return 'client_gone';
  if (error instanceof AnswerTooLarge) return 'answer_too_large';
  if (error instanceof UpstreamBusy) return 'upstream_busy';
  const { code = '' } = error as { code?: string };
  if (code === bodyProblem.too_large.code) return 'body_too_large';
  if (code === bodyProblem.too_slow.code) return 'body_too_slow';
  if (timeouts.has(code)) return 'upstream_timeout';
  if (code === 'GW_ADDRESS_REFUSED') return 'upstream_address_refused';
  return lookups.has(code) ? 'upstream_lookup' : 'upstream_failed';
}
