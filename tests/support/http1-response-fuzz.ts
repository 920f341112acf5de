import { Http1ParseError } from '#gateway/http/http1/parse-error.ts';
import { ResponseReader } from '#gateway/proxy/http1/response-reader.ts';
import { type FuzzResult, runFuzz } from './differential-fuzz.ts';
import { createRandom } from './http1-mutations.ts';
import { HTTPParser } from './node-http-parser.ts';

/**
 * Differential fuzzing of HTTP/1.1 responses: mutated responses in segments of random size, read by the gateway's parser
 * and by Node's. Both must read the same response, or both must refuse it; stricter refusals are listed with their reason.
 */
export function fuzzResponses(count: number, seed: number): FuzzResult {
  const random = createRandom(seed);
  const below: Below = bound => Math.floor(random() * bound);
  const nodeReader = new NodeReader();
  return runFuzz(count, () => {
    const bytes = mutate(below);
    const method = below(8) === 0 ? 'HEAD' : 'GET';
    const segments = split(bytes, below);
    const native = readNative(segments, method);
    const expected = nodeReader.read(segments, method);
    const isStricter = native.outcome === 'refused' && expected.outcome === 'complete';
    const why = compare(native, expected);
    return {
      segments,
      outcome: outcomes[native.outcome],
      stricterReason: isStricter ? native.reason : undefined,
      why: why === '' ? '' : `${method}: ${why}`,
    };
  });
}

const outcomes = { complete: 'accepted', refused: 'refused', truncated: 'incomplete' } as const;

/** The reason of a disagreement; empty without one. */
function compare(native: Reading, expected: Reading): string {
  if (native.outcome === 'refused' && expected.outcome === 'complete')
    return stricterResponseRefusals.has(native.reason) ? '' : `refused by the gateway alone: ${native.reason}`;
  const one = formatReading(native);
  const other = formatReading(expected);
  return one === other ? '' : `${one} (${native.reason}) | ${other} (${expected.reason})`;
}

type Below = (bound: number) => number;

/** Refusals of the gateway's parser for what Node's parser accepts, with the reason. */
export const stricterResponseRefusals: ReadonlyMap<string, string> = new Map([
  [
    'the Transfer-Encoding is not chunked',
    'Node reads other codings as a body until close; a proxy must not forward them',
  ],
  ['HTTP/1.0 has no Transfer-Encoding', 'HTTP/1.0 has none (RFC 9112, 6.1): an older reader would find another end'],
  ['the Transfer-Encoding header is repeated', 'readers disagree about repeated codings'],
  ['the upstream switches protocols without being asked to', 'an upgrade that was not offered'],
  ['the status line is invalid', 'Node accepts other versions and statuses of fewer than three digits'],
  ['the Content-Length is not a number', 'more digits than a number that every reader counts the same way'],
  ['a chunk extension is invalid', 'Node accepts empty names and values (RFC 9112, 7.1.1 has none)'],
  ['the response is not HTTP', 'Node skips line ends before the status line'],
  ['transfer-encoding is not allowed as a trailer', 'framing after the body (RFC 9110, 6.5.1)'],
  ['content-length is not allowed as a trailer', 'framing after the body (RFC 9110, 6.5.1)'],
  ['host is not allowed as a trailer', 'routing after the body (RFC 9110, 6.5.1)'],
  ['a chunk size is too large', 'more digits than a safe integer has'],
]);

const limits = { maxHeaderBytes: 65_536, maxHeaders: 1000 };

interface Reading {
  outcome: 'complete' | 'refused' | 'truncated';
  reason: string;
  status: number;
  headers: string[];
  body: string;
}

const createReading = (): Reading => ({ outcome: 'truncated', reason: '', status: 0, headers: [], body: '' });

function readNative(segments: readonly Buffer[], method: string): Reading {
  const reading = createReading();
  const reader = new ResponseReader(
    limits,
    () => undefined,
    () => undefined,
  );
  reader.begin(
    {
      onHead(status: number, headers: string[]) {
        if (status < 200) return true;
        reading.status = status;
        reading.headers = headers;
        return true;
      },
      onData(chunk: Buffer) {
        reading.body += chunk.toString('latin1');
        return true;
      },
    } as never,
    method,
  );
  try {
    for (const segment of segments) {
      let at = 0;
      while (at < segment.length && reader.state !== 'complete') at = reader.read(segment, at, false);
      if (reader.state === 'complete') break;
    }
  } catch (error) {
    if (!(error instanceof Http1ParseError)) throw error;
    return { ...reading, outcome: 'refused', reason: error.message };
  }
  if (reader.state === 'complete' || reader.state === 'close') reading.outcome = 'complete';
  return reading;
}

/** Node's parser with its callbacks, used for all cases: to create one takes longer than to parse. */
class NodeReader {
  readonly #parser = new HTTPParser();
  #reading = createReading();
  #headers: string[] = [];
  #isHead = false;
  #isComplete = false;
  #isInterim = false;

  constructor() {
    const parser = this.#parser;
    parser[HTTPParser.kOnHeaders] = (headers: string[]) => {
      if (this.#reading.status === 0) this.#headers.push(...headers);
    };
    parser[HTTPParser.kOnHeadersComplete] = (...[, , headers, , , status, , isUpgrade]: HeadersComplete) =>
      this.#onHead(headers, status, isUpgrade);
    parser[HTTPParser.kOnBody] = (chunk: Buffer) => {
      if (!this.#isComplete) this.#reading.body += chunk.toString('latin1');
    };
    parser[HTTPParser.kOnMessageComplete] = () => {
      if (!this.#isInterim) this.#isComplete = true;
      this.#isInterim = false;
    };
  }

  /** Returns 1 for a response without a body, 2 after an upgrade. */
  #onHead(headers: string[] | undefined, status: number, isUpgrade: boolean): number {
    if (this.#isComplete) return 0;
    this.#isInterim = status < 200;
    const all = [...this.#headers, ...(headers ?? [])];
    this.#headers = [];
    if (this.#isInterim) return isUpgrade ? 2 : 1;
    this.#reading.status = status;
    this.#reading.headers = all;
    return this.#isHead ? 1 : 0;
  }

  read(segments: readonly Buffer[], method: string): Reading {
    const reading = createReading();
    const parser = this.#parser;
    this.#reading = reading;
    this.#headers = [];
    this.#isHead = method === 'HEAD';
    this.#isComplete = false;
    this.#isInterim = false;
    parser.initialize(HTTPParser.RESPONSE, {}, limits.maxHeaderBytes);
    for (const segment of segments) {
      const result = parser.execute(segment);
      if (this.#isComplete) break;
      if (result instanceof Error) return { ...reading, outcome: 'refused', reason: result.message };
    }
    if (!this.#isComplete) parser.finish();
    if (this.#isComplete) reading.outcome = 'complete';
    return reading;
  }
}

/** Arguments of the callback: versions, headers, method, target, status, reason, upgrade. */
type HeadersComplete = [number, number, string[] | undefined, number, string, number, string, boolean];

const corpus: readonly string[] = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;a=b\r\nabc\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n',
  'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil close',
  'HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 9\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 500 Fault\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nKeep-Alive: timeout=5\r\nContent-Length: 3\r\n\r\nbad',
];

const tokens: readonly string[] = [
  ...['\r', '\n', '\r\n', ' ', '\t', ':', ';', '=', ',', '\0', '\x7f', '\x80', '"', '\\', '-', '+', '0', '9', 'f', 'x'],
  ...['Content-Length: 3\r\n', 'Content-Length:', 'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip\r\n'],
  ...[
    'Connection: close\r\n',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.0',
    '0x',
    '\r\n\r\n',
    '0\r\n\r\n',
    'Upgrade: x\r\n',
    ' folded\r\n',
  ],
];

function mutate(below: Below): Buffer {
  let text = corpus[below(corpus.length)]!;
  for (let count = below(4); count > 0; count--) {
    const at = below(text.length + 1);
    switch (below(5)) {
      case 0:
        text = text.slice(0, at) + tokens[below(tokens.length)]! + text.slice(at);
        break;
      case 1:
        text = text.slice(0, at) + text.slice(at + 1 + below(4));
        break;
      case 2:
        text = text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1);
        break;
      case 3: {
        const other = corpus[below(corpus.length)]!;
        text = text.slice(0, at) + other.slice(below(other.length));
        break;
      }
      default:
        text = text.slice(0, at) + text.slice(below(text.length + 1));
    }
  }
  return Buffer.from(text, 'latin1');
}

function split(bytes: Buffer, below: Below): Buffer[] {
  const segments: Buffer[] = [];
  const size = [1, 3, 16, 1000][below(4)]!;
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + below(size);
    segments.push(bytes.subarray(at, end));
    at = end;
  }
  return segments;
}

/** Neither a refused response nor one that is incomplete at the end of the bytes is one. */
const formatReading = ({ outcome, status, headers, body }: Reading) =>
  outcome === 'complete' ? JSON.stringify({ status, headers, body }) : 'none';
