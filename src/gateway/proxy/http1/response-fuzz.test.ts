import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { Http1ParseError } from '../../http/http1/parse-error.ts';
import { ResponseReader } from './response-reader.ts';

/**
 * Differential fuzzing: mutated responses in segments of random size, read by this engine and by Node's own parser. Both
 * must see the same response, or both must refuse it; stricter refusals are listed with their reason.
 * FUZZ_CASES and FUZZ_SEED choose a longer run and repeat one.
 */
const cases = Number(process.env.FUZZ_CASES ?? 20_000);
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000_000);

/** Refusals of this engine for what Node's parser accepts, by the text of the error. */
const stricter: ReadonlyMap<string, string> = new Map([
  [
    'a Transfer-Encoding other than chunked',
    'Node reads other codings as a body until close; a proxy must not forward them',
  ],
  ['a Transfer-Encoding in HTTP/1.0', 'HTTP/1.0 has none (RFC 9112, 6.1): an older reader would see another end'],
  ['more than one transfer-encoding', 'readers disagree about repeated codings'],
  ['the upstream switches protocols without being asked to', 'an upgrade that was not offered'],
  ['the status line is not one', 'Node accepts other versions and statuses of fewer than three digits'],
  ['a Content-Length that is not a number', 'more digits than a number that every reader counts the same way'],
  ['a chunk extension that is not one', 'Node accepts empty names and values (RFC 9112, 7.1.1 has none)'],
  ['the response is not HTTP', 'Node skips line ends before the status line'],
  ['transfer-encoding as a trailer', 'framing after the body (RFC 9110, 6.5.1)'],
  ['content-length as a trailer', 'framing after the body (RFC 9110, 6.5.1)'],
  ['host as a trailer', 'routing after the body (RFC 9110, 6.5.1)'],
  ['a chunk size that is too large', 'more digits than a safe integer has'],
]);

interface Seen {
  outcome: 'complete' | 'refused' | 'truncated';
  reason: string;
  status: number;
  headers: string[];
  body: string;
}

const createSeen = (): Seen => ({ outcome: 'truncated', reason: '', status: 0, headers: [], body: '' });

function readNative(segments: readonly Buffer[], method: string): Seen {
  const seen = createSeen();
  const reader = new ResponseReader(
    { maxHeaderBytes: 65_536, maxHeaders: 1000 },
    () => undefined,
    () => undefined,
  );
  reader.begin(
    {
      onHead(status: number, headers: string[]) {
        if (status < 200) return true;
        seen.status = status;
        seen.headers = headers;
        return true;
      },
      onData(chunk: Buffer) {
        seen.body += chunk.toString('latin1');
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
    return { ...seen, outcome: 'refused', reason: error.message };
  }
  if (reader.state === 'complete' || reader.state === 'close') seen.outcome = 'complete';
  return seen;
}

type RawParser = Record<number, unknown> & {
  initialize(type: number, resource: object, maxHeaderSize?: number): void;
  execute(bytes: Buffer): number | Error;
  finish(): number | Error | undefined;
};

const { HTTPParser } = createRequire(import.meta.url)('_http_common') as {
  HTTPParser: (new () => RawParser) & Record<string, number>;
};

function readNode(segments: readonly Buffer[], method: string): Seen {
  const seen = createSeen();
  let isComplete = false;
  let isInterim = false;
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.RESPONSE!, {}, 65_536);
  let pending: string[] = [];
  parser[HTTPParser.kOnHeaders! | 0] = (headers: string[]) => {
    if (seen.status === 0) pending.push(...headers);
  };
  parser[HTTPParser.kOnHeadersComplete! | 0] = (
    ...[, , headers, , , status, , isUpgrade]: [
      number,
      number,
      string[] | undefined,
      number,
      string,
      number,
      string,
      boolean,
    ]
  ) => {
    if (isComplete) return 0;
    isInterim = status < 200;
    const all = [...pending, ...(headers ?? [])];
    pending = [];
    if (isInterim) return isUpgrade ? 2 : 1;
    seen.status = status;
    seen.headers = all;
    return method === 'HEAD' ? 1 : 0;
  };
  parser[HTTPParser.kOnBody! | 0] = (chunk: Buffer) => {
    if (!isComplete) seen.body += chunk.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete! | 0] = () => {
    if (!isInterim) isComplete = true;
    isInterim = false;
  };
  for (const segment of segments) {
    const result = parser.execute(segment);
    if (isComplete) break;
    if (result instanceof Error) return { ...seen, outcome: 'refused', reason: result.message };
  }
  if (!isComplete) parser.finish();
  if (isComplete) seen.outcome = 'complete';
  return seen;
}

/** Mulberry32: small, seeded, good enough to choose mutations. */
function createRandom(start: number): (below: number) => number {
  let state = start >>> 0;
  return below => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

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

function mutate(random: (below: number) => number): Buffer {
  let text = corpus[random(corpus.length)]!;
  for (let count = random(4); count > 0; count--) {
    const at = random(text.length + 1);
    switch (random(5)) {
      case 0:
        text = text.slice(0, at) + tokens[random(tokens.length)]! + text.slice(at);
        break;
      case 1:
        text = text.slice(0, at) + text.slice(at + 1 + random(4));
        break;
      case 2:
        text = text.slice(0, at) + String.fromCharCode(random(256)) + text.slice(at + 1);
        break;
      case 3: {
        const other = corpus[random(corpus.length)]!;
        text = text.slice(0, at) + other.slice(random(other.length));
        break;
      }
      default:
        text = text.slice(0, at) + text.slice(random(text.length + 1));
    }
  }
  return Buffer.from(text, 'latin1');
}

function split(bytes: Buffer, random: (below: number) => number): Buffer[] {
  const segments: Buffer[] = [];
  const size = [1, 3, 16, 1000][random(4)]!;
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + random(size);
    segments.push(bytes.subarray(at, end));
    at = end;
  }
  return segments;
}

/** A response that is refused, and one that may still go on until its connection ends, are both none. */
const describeSeen = ({ outcome, status, headers, body }: Seen) =>
  outcome === 'complete' ? { outcome, status, headers, body } : { outcome: 'none' };

test(`mutated responses are read as Node's parser reads them, or refused (seed ${seed}, ${cases} cases)`, () => {
  const random = createRandom(seed);
  /** Refusals without a reason in the list, with the last response of each. */
  const unlisted = new Map<string, string>();
  let accepted = 0;
  for (let i = 0; i < cases; i++) {
    const bytes = mutate(random);
    const method = random(8) === 0 ? 'HEAD' : 'GET';
    const segments = split(bytes, random);
    const ours = readNative(segments, method);
    const nodes = readNode(segments, method);
    if (ours.outcome === 'refused' && nodes.outcome === 'complete') {
      if (!stricter.has(ours.reason))
        unlisted.set(ours.reason, `${method}: ${JSON.stringify(bytes.toString('latin1'))}`);
      continue;
    }
    if (ours.outcome === 'complete') accepted++;
    assert.deepEqual(
      describeSeen(ours),
      describeSeen(nodes),
      `case ${i}, ${method}: ${JSON.stringify(bytes.toString('latin1'))}, Node: ${nodes.reason}, ours: ${ours.reason}`,
    );
  }
  assert.deepEqual(Object.fromEntries(unlisted), {});
  assert.ok(accepted > cases / 10, `only ${accepted} responses were complete`);
});
