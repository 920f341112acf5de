import { ChunkDecoder } from '#gateway/http/http1/chunk-decoder.ts';
import { connectionUpgrade } from '#gateway/http/http1/field-block.ts';
import { isPersistent, readRequestFraming } from '#gateway/http/http1/framing.ts';
import { HeadParser } from '#gateway/http/http1/head-parser.ts';
import { Http1ParseError } from '#gateway/http/http1/parse-error.ts';
import { type FuzzCase, type FuzzResult, runFuzz } from './differential-fuzz.ts';
import { createMutations } from './http1-mutations.ts';
import { HTTPParser, methods } from './node-http-parser.ts';

/** Refusals of the gateway's parser for what Node's parser accepts, with the reason. */
export const stricterRefusals: ReadonlyMap<string, string> = new Map([
  ['only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported', 'Node reads HTTP/0.9 and HTTP/2.0 in lines too'],
  ['the request line does not end in a version', 'Node skips spaces before the version, and reads RTSP and ICE'],
  ['the method is not a token', 'Node skips bare line ends before a request'],
  ['the method is not supported', 'Node reads methods of RTSP'],
  [
    'the request target is invalid',
    'Node skips spaces before a target, and accepts user names, and text behind an asterisk',
  ],
  ['the Host header is repeated', 'two readers could each take another one (RFC 9112, 3.2)'],
  ['the Content-Length header is repeated', 'two readings of where the body ends; Node refuses most of them'],
  ['the Transfer-Encoding is not chunked', 'readers disagree about other codings (RFC 9112, 6.1)'],
  ['HTTP/1.0 has no Transfer-Encoding', 'HTTP/1.0 readers do not decode transfer codings (RFC 9112, 6.1)'],
  ['the Content-Length is not a number', 'more digits than every reader counts the same way'],
  ['a chunk size is too large', 'more digits than a safe integer needs'],
  ['a chunk extension is invalid', 'Node accepts empty names and values (RFC 9112, 7.1.1)'],
  ['host is not allowed as a trailer', 'routing after the body (RFC 9110, 6.5.1)'],
]);

interface Message {
  readonly head: string;
  body: string;
  isComplete: boolean;
}

interface Reading {
  readonly messages: Message[];
  /** `ended`: nothing after the last message belongs to HTTP/1.1 requests. */
  state: 'open' | 'refused' | 'ended';
  reason: string;
}

const limits = { maxHeaderBytes: 65_536, maxHeaders: 2000 };

/**
 * Differential fuzzing of HTTP/1.1 requests: mutated requests in segments of random size, read by the gateway's parser
 * and by Node's. Both must read the same requests, or both must refuse; stricter refusals are listed with their reason.
 */
export function fuzzRequests(count: number, seed: number): FuzzResult {
  const mutations = createMutations(seed);
  const nodeReader = new NodeReader();
  return runFuzz(count, () => {
    const segments = mutations.split(Buffer.from(mutations.nextRequest(), 'latin1'));
    const expected = nodeReader.read(segments);
    const native = readNative(segments, expected.state === 'refused');
    const isStricter = native.state === 'refused' && expected.state !== 'refused';
    return {
      segments,
      outcome: readOutcome(native),
      stricterReason: isStricter ? native.reason : undefined,
      why: compare(native, expected),
    };
  });
}

function readOutcome({ state, messages }: Reading): FuzzCase['outcome'] {
  if (state === 'refused') return 'refused';
  return messages[0]?.isComplete ? 'accepted' : 'incomplete';
}

/** The reason of a disagreement; empty without one. */
function compare(native: Reading, expected: Reading): string {
  const isPrefix = native.state !== 'open' || expected.state === 'refused';
  const length = Math.min(native.messages.length, expected.messages.length);
  for (let i = 0; i < length; i++) {
    const one = native.messages[i]!;
    const other = expected.messages[i]!;
    const isLast = i === length - 1;
    if (one.head !== other.head) return `heads differ: ${one.head} | ${other.head}`;
    if (isLast && isPrefix && !(one.isComplete && other.isComplete)) continue;
    if (one.body !== other.body || one.isComplete !== other.isComplete)
      return `bodies differ: ${JSON.stringify(one)} | ${JSON.stringify(other)}`;
  }
  if (native.state === 'refused' && expected.state !== 'refused')
    return stricterRefusals.has(native.reason) ? '' : `refused by the gateway alone: ${native.reason}`;
  if (native.state === 'open' && expected.state === 'refused')
    return `accepted by the gateway alone: ${expected.reason}`;
  if (native.state === 'open' && native.messages.length !== expected.messages.length)
    return 'numbers of requests differ';
  return '';
}

/** `isRefused`: Node has refused the bytes; lines that never end are then ended, so that they are scanned. */
function readNative(segments: readonly Buffer[], isRefused: boolean): Reading {
  const reading = createReading();
  const reader = new RequestReader(reading);
  try {
    for (const segment of segments) reader.read(segment);
    if (isRefused) reader.endLines();
  } catch (error) {
    if (!(error instanceof Http1ParseError)) throw error;
    reading.state = 'refused';
    reading.reason = error.message;
  }
  return reading;
}

/** Reads requests as a server connection does, without a socket. */
class RequestReader {
  readonly #reading: Reading;
  readonly #parser = new HeadParser('request', limits);
  #message: Message | undefined;
  #decoder: ChunkDecoder | undefined;
  #remainingBytes = 0;
  /** Lines that the decoder read since the last data. */
  #lastLines = '';
  #endsAfterMessage = false;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  read(bytes: Buffer): void {
    let at = 0;
    while (at >= 0 && at < bytes.length && this.#reading.state === 'open')
      at = this.#message === undefined ? this.#readHead(bytes, at) : this.#readBody(bytes, at, this.#message);
  }

  endLines(): void {
    for (const end of ['\n', '\r\n']) {
      const isInLines =
        this.#message === undefined
          ? this.#parser.hasBegun
          : this.#decoder !== undefined && lastChunk.test(this.#lastLines);
      if (isInLines) this.read(Buffer.from(end));
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const parser = this.#parser;
    const end = parser.parse(bytes, at);
    if (end < 0) return -1;
    const framing = readRequestFraming(parser);
    const { method, target, minorVersion, fields } = parser;
    const isUpgrade = fields.upgrade !== '' && (fields.connection & connectionUpgrade) !== 0;
    this.#endsAfterMessage = isUpgrade || method === 'CONNECT' || !isPersistent(parser);
    const message: Message = {
      head: formatHead(method, target, minorVersion, fields.flat),
      body: '',
      isComplete: false,
    };
    this.#reading.messages.push(message);
    this.#message = message;
    this.#lastLines = '';
    this.#decoder = framing === 'chunked' ? new ChunkDecoder(limits) : undefined;
    this.#remainingBytes = framing === 'length' ? fields.contentLength : 0;
    parser.reset();
    if (framing === 'none' || isUpgrade || method === 'CONNECT') this.#complete(message);
    return end;
  }

  #readBody(bytes: Buffer, at: number, message: Message): number {
    const decoder = this.#decoder;
    if (decoder === undefined) {
      const end = Math.min(bytes.length, at + this.#remainingBytes);
      message.body += bytes.toString('latin1', at, end);
      this.#remainingBytes -= end - at;
      if (this.#remainingBytes === 0) this.#complete(message);
      return end;
    }
    const end = decoder.read(bytes, at);
    const data = bytes.toString('latin1', decoder.dataStart, decoder.dataEnd);
    message.body += data;
    this.#lastLines = data === '' ? this.#lastLines + bytes.toString('latin1', at, end) : '';
    if (decoder.isDone) this.#complete(message);
    return end;
  }

  #complete(message: Message): void {
    message.isComplete = true;
    this.#message = undefined;
    if (this.#endsAfterMessage) this.#reading.state = 'ended';
  }
}

/** Last chunk: trailers follow. */
const lastChunk = /^(?:\r\n)?0+(?:;[^\r\n]*)?\r\n/;

const formatHead = (method: string, target: string, minorVersion: number, headers: readonly string[]) =>
  JSON.stringify([method, target, minorVersion, headers]);

/** Node's parser with its callbacks, used for all cases: to create one takes longer than to parse. */
class NodeReader {
  readonly #parser = new HTTPParser();
  #reading: Reading = createReading();
  #headers: string[] = [];
  #url = '';

  constructor() {
    const parser = this.#parser;
    parser[HTTPParser.kOnHeaders] = (headers: string[], url: string) => {
      this.#headers.push(...headers);
      this.#url += url;
    };
    parser[HTTPParser.kOnHeadersComplete] = (
      major: number,
      minor: number,
      headers: string[] | undefined,
      method: number,
      url: string | undefined,
      _status: unknown,
      _reason: unknown,
      isUpgrade: boolean,
    ) => {
      const version = major === 1 ? minor : -1;
      const head = formatHead(methods[method]!, url ?? this.#url, version, headers ?? this.#headers);
      this.#reading.messages.push({ head, body: '', isComplete: false });
      this.#clear();
      return isUpgrade ? 2 : 0;
    };
    parser[HTTPParser.kOnBody] = (bytes: Buffer) => {
      this.#reading.messages.at(-1)!.body += bytes.toString('latin1');
    };
    parser[HTTPParser.kOnMessageComplete] = () => {
      this.#clear();
      this.#reading.messages.at(-1)!.isComplete = true;
    };
  }

  #clear(): void {
    this.#headers = [];
    this.#url = '';
  }

  read(segments: readonly Buffer[]): Reading {
    const reading = createReading();
    this.#reading = reading;
    this.#clear();
    this.#parser.initialize(HTTPParser.REQUEST, {}, limits.maxHeaderBytes, 0);
    for (const segment of segments) {
      const result = this.#parser.execute(segment);
      if (typeof result !== 'number') {
        reading.state = 'refused';
        reading.reason = (result as NodeJS.ErrnoException).code ?? result.message;
        break;
      }
      // After an upgrade the rest is not HTTP.
      if (result < segment.length) break;
    }
    return reading;
  }
}

const createReading = (): Reading => ({ messages: [], state: 'open', reason: '' });
