/** Seeded generator of mutated HTTP/1.1 requests. */
export interface Mutations {
  /** One or more requests as latin-1 text. */
  nextRequest(): string;
  /** Cuts bytes into segments of random size. */
  split(bytes: Buffer): Buffer[];
}

const requestLines = [
  ...['GET / HTTP/1.1', 'POST /a/b?c=d HTTP/1.1', 'HEAD /x HTTP/1.0', 'OPTIONS * HTTP/1.1', 'DELETE /%2e HTTP/1.1'],
  ...['GET http://x/y HTTP/1.1', 'CONNECT x:1 HTTP/1.1', 'M-SEARCH / HTTP/1.1', 'PATCH /\xe9 HTTP/1.1'],
];

const plainLines = [
  ...['Host: x', 'X-A: 1', 'x-b:2', 'X-C:  \t three \t', 'Accept: */*', 'Empty:', 'X-Odd: caf\xe9', 'Cookie: a=b; c=d'],
  ...['TE: trailers', 'Expect: 100-continue', 'User-Agent: test', 'Trailer: X-Sum', 'Connection: keep-alive'],
];

/** Lines that frame the message or concern the connection. */
const framingLines = [
  ...['Content-Length: 5', 'Content-Length: 0', 'content-length: 11', 'Content-Length: 005', 'Host: example.org:80'],
  ...['Transfer-Encoding: chunked', 'transfer-encoding: Chunked', 'Transfer-Encoding: gzip, chunked'],
  ...['Connection: close', 'Connection: x, keep-alive', 'Connection: Upgrade', 'Upgrade: websocket'],
];

const bodies = [
  ...[
    '',
    'hello',
    'hello world',
    '5\r\nhello\r\n0\r\n\r\n',
    '0\r\n\r\n',
    '3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 1\r\n\r\n',
  ],
  ...[
    'A\r\n0123456789\r\n00\r\n\r\n',
    '1;q="a\\"b"\r\nx\r\n0;z\r\n\r\n',
    '0\r\nContent-Length: 1\r\n\r\n',
    'f\r\nabc\r\n',
  ],
];

const chunkedBodies = bodies.filter(body => body.endsWith('0\r\n\r\n') || body.includes('\r\n0'));

const fragments = [
  ...[
    '\r\n',
    '\r',
    '\n',
    '\r\n\r\n',
    ' ',
    '\t',
    ':',
    ',',
    ';',
    '=',
    '"',
    '\\',
    '\0',
    '\x7f',
    '\x0b',
    '\x0c',
    '\x80',
    '\xff',
  ],
  ...[
    '+',
    '-',
    '0x',
    '0',
    '5',
    'f',
    'chunked',
    ' chunked',
    'chunked, ',
    'identity',
    '18446744073709551616',
    '9007199254740993',
  ],
  ...[
    'HTTP/1.1',
    'HTTP/1.0',
    'HTTP/2.0',
    'HTTP/0.9',
    'http/1.1',
    'GET ',
    '\r\n ',
    '\r\n\t',
    '\r\nHost: y',
    '\r\nContent-Length: 7',
  ],
  ...['\r\nTransfer-Encoding: chunked', '\r\n: x', '\r\nX', '(', ')', '/', '_', '%', '#', '?', '{', 'a'.repeat(40)],
];

/** Mutations of one request; most stay close to a valid one. */
const maxMutations = 3;

export function createMutations(seed: number): Mutations {
  const random = createRandom(seed);
  const below = (bound: number) => Math.floor(random() * bound);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;

  function buildRequest(): string {
    const lines = [pick(requestLines)];
    for (let n = below(4); n > 0; n--) lines.push(pick(below(6) === 0 ? framingLines : plainLines));
    const body = pick(bodies);
    switch (below(4)) {
      case 0:
        return [...lines, 'Transfer-Encoding: chunked', '', pick(chunkedBodies)].join('\r\n');
      case 1:
        return [...lines, `Content-Length: ${body.length}`, '', body].join('\r\n');
      case 2:
        return [...lines, '', body].join('\r\n');
      default:
        return [...lines, '', ''].join('\r\n');
    }
  }

  function mutate(text: string): string {
    const at = below(text.length + 1);
    const end = Math.min(text.length, at + 1 + below(4));
    switch (below(8)) {
      case 0:
        return text.slice(0, at) + text.slice(end);
      case 1:
        return text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at);
      case 2:
        return text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1);
      case 3:
        return text.slice(0, end) + text.slice(at);
      case 4:
        return text.slice(0, at) + pick(fragments) + text.slice(end);
      case 5:
        return text.slice(0, at);
      case 6:
        return insertBeforeLineEnd(text, pick(fragments), below);
      default:
        return text.slice(0, at) + pick(fragments) + text.slice(at);
    }
  }

  return {
    nextRequest() {
      let text = buildRequest();
      for (let n = below(5) === 0 ? 2 : below(2); n > 0; n--) text += buildRequest();
      for (let n = below(maxMutations + 1); n > 0; n--) text = mutate(text);
      return text;
    },
    split(bytes) {
      if (below(4) === 0) return [bytes];
      const maxBytes = pick([1, 3, 10, 60]);
      const segments: Buffer[] = [];
      for (let at = 0; at < bytes.length; ) {
        const end = Math.min(bytes.length, at + 1 + below(maxBytes));
        segments.push(bytes.subarray(at, end));
        at = end;
      }
      return segments;
    },
  };
}

function insertBeforeLineEnd(text: string, fragment: string, below: (bound: number) => number): string {
  const at = text.indexOf('\r\n', below(text.length + 1));
  return at < 0 ? text + fragment : text.slice(0, at) + fragment + text.slice(at);
}

/** Mulberry32: a small generator whose sequence the seed repeats. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
