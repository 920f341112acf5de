import { cc, dateAt, type HttpCase, type Reply } from './case.ts';

const twice = (title: string, reply: Reply, second: 'H' | 'M', isOnWire?: true): HttpCase => ({
  title,
  reply,
  steps: [
    [0, 'M'],
    [0, second],
  ],
  ...(isOnWire && { isOnWire }),
});

const heuristic = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501];
const explicitOnly = [201, 202, 302, 303, 307, 400, 403, 409, 418, 429, 500, 503];
const changed = { 'last-modified': dateAt(-10_000_000), date: dateAt(0) };
const wire = true as const;

/** RFC 9111, section 3: which responses are stored. */
export const storageCases: readonly HttpCase[] = [
  ...heuristic.map(status =>
    twice(`3 ${status} is stored without explicit freshness`, { status, headers: changed }, 'H'),
  ),
  ...explicitOnly.map(status =>
    twice(`3 ${status} is not stored without explicit freshness`, { status, headers: changed }, 'M'),
  ),
  ...explicitOnly.map(status => twice(`3 ${status} is stored with max-age`, { status, ...cc('max-age=60') }, 'H')),
  twice('3 no-store is not stored', cc('no-store, max-age=60'), 'M', wire),
  twice('3 private is not stored', cc('private, max-age=60'), 'M', wire),
  twice('3 max-age is stored', cc('max-age=60'), 'H', wire),
  twice('3 s-maxage is stored', cc('s-maxage=60'), 'H', wire),
  twice('3 Expires in the future is stored', { headers: { expires: dateAt(60), date: dateAt(0) } }, 'H'),
  twice('3 public without freshness and without Last-Modified is not reusable', cc('public'), 'M'),
  twice('3 public allows heuristic freshness of any status', { status: 201, ...cc('public', changed) }, 'H'),
  twice('3 a response without any header is not stored', {}, 'M', wire),
  {
    title: '3 a response with an ETag alone is stored, and validated each time',
    reply: { headers: { etag: '"a"' } },
    steps: [
      [0, 'M'],
      [0, 'V', { sent: { 'if-none-match': '"a"' }, body: 1, status: 200 }],
      [5, 'V', { body: 1 }],
    ],
    isOnWire: wire,
  },
  {
    title: '3 only GET is stored: POST with max-age is not',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M', { method: 'POST' }],
      [0, 'M', { method: 'POST' }],
      [0, 'M'],
    ],
    isOnWire: wire,
  },
  {
    title: '3 OPTIONS is not stored',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M', { method: 'OPTIONS' }],
      [0, 'M', { method: 'OPTIONS' }],
    ],
  },
  {
    title: '3 a HEAD response is not stored as a GET response',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M', { method: 'HEAD' }],
      [0, 'M'],
      [0, 'H'],
    ],
  },
  {
    title: '3.1 headers of a single response are not stored',
    reply: cc('max-age=60, no-cache="set-cookie"', { 'set-cookie': 'a=b', 'x-own': 'x' }),
    steps: [
      [0, 'M', { has: { 'set-cookie': 'a=b' } }],
      [0, 'H', { has: { 'set-cookie': null, 'x-own': 'x' } }],
    ],
    isOnWire: wire,
  },
  twice('3.1 a response with Set-Cookie is not stored', cc('max-age=60', { 'set-cookie': 'a=b' }), 'M', wire),
  twice('3.1 nor with public', cc('public, max-age=60', { 'set-cookie': 'a=b' }), 'M'),
  {
    title: '3.2 a 304 updates stored fields, and not those of the body',
    reply: {
      ...cc('max-age=10', { etag: '"a"', 'content-type': 'text/plain', 'x-own': '1' }),
      notModified: { 'x-own': '2', 'content-type': 'text/html', 'x-new': 'n' },
    },
    steps: [
      [0, 'M', { has: { 'x-own': '1' } }],
      [11, 'V', { has: { 'x-own': '2', 'x-new': 'n', 'content-type': 'text/plain' }, body: 1 }],
      [0, 'H', { has: { 'x-own': '2', 'x-new': 'n', 'content-type': 'text/plain' }, body: 1 }],
      [11, 'V'],
    ],
  },
  {
    title: '3.2 a 304 with several lines of a field replaces all stored ones',
    reply: { ...cc('max-age=1', { etag: '"a"', 'x-list': ['a', 'b'] }), notModified: { 'x-list': ['c', 'd', 'e'] } },
    steps: [
      [0, 'M'],
      [2, 'V', { has: { 'x-list': 'c, d, e' } }],
      [0, 'H', { has: { 'x-list': 'c, d, e' } }],
    ],
  },
  {
    title: '3.2 a 304 with no-store removes the stored response',
    reply: { ...cc('max-age=1', { etag: '"a"' }), notModified: { 'cache-control': 'no-store' } },
    steps: [
      [0, 'M'],
      [2, 'V', { body: 1 }],
      [0, 'M', { sent: { 'if-none-match': null } }],
    ],
  },
  {
    title: '3.2 a 304 with Vary: * removes the stored response',
    reply: { ...cc('max-age=1', { etag: '"a"' }), notModified: { vary: '*' } },
    steps: [
      [0, 'M'],
      [2, 'V'],
      [0, 'M', { sent: { 'if-none-match': null } }],
    ],
  },
  {
    title: '3.3 a partial response is not stored',
    reply: { status: 206, ...cc('max-age=60', { 'content-range': 'bytes 0-1/6' }) },
    steps: [
      [0, 'M', { headers: { range: 'bytes=0-1' } }],
      [0, 'M', { headers: { range: 'bytes=0-1' } }],
      [0, 'M'],
    ],
    isOnWire: wire,
  },
  {
    title: '3.4 a range request is forwarded, although the whole is stored',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M'],
      [0, 'M', { headers: { range: 'bytes=0-1' } }],
      [0, 'H', { body: 1 }],
    ],
  },
  twice('3.4 an unexpected 206 is not stored', { status: 206, ...cc('max-age=60') }, 'M'),
  twice('3.4 a 200 with Content-Range is not stored', cc('max-age=60', { 'content-range': 'bytes 0-1/6' }), 'M'),
  ...(['public, max-age=60', 's-maxage=60', 'max-age=60, must-revalidate'] as const).map(
    (value): HttpCase => ({
      title: `3.5 a response to a request with Authorization is stored with ${value}, for the same credentials`,
      reply: cc(value),
      steps: [
        [0, 'M', { headers: { authorization: 'Bearer a' } }],
        [0, 'H', { headers: { authorization: 'Bearer a' } }],
        [0, 'M', { headers: { authorization: 'Bearer b' } }],
        [0, 'M'],
      ],
    }),
  ),
  {
    title: '3.5 a response to a request with Authorization is not stored with max-age alone',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M', { headers: { authorization: 'Bearer a' } }],
      [0, 'M', { headers: { authorization: 'Bearer a' } }],
    ],
    isOnWire: wire,
  },
  {
    title: '3.5 nor with proxy-revalidate, nor with Expires',
    reply: cc('max-age=60, proxy-revalidate', { expires: dateAt(60) }),
    steps: [
      [0, 'M', { headers: { authorization: 'Bearer a' } }],
      [0, 'M', { headers: { authorization: 'Bearer a' } }],
    ],
  },
  {
    title: '3 a public response is stored once for clients that nothing identifies',
    reply: cc('public, max-age=60'),
    steps: [
      [0, 'M', { address: '10.0.0.1' }],
      [0, 'H', { address: '10.0.0.2', body: 1 }],
    ],
  },
  {
    title: '3 a response with s-maxage is stored once for clients that nothing identifies',
    reply: cc('s-maxage=60'),
    steps: [
      [0, 'M', { address: '10.0.0.1' }],
      [0, 'H', { address: '10.0.0.2' }],
    ],
  },
  {
    title: '3 a response that is not public is stored for each client',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M', { address: '10.0.0.1' }],
      [0, 'M', { address: '10.0.0.2' }],
      [0, 'H', { address: '10.0.0.1', body: 1 }],
    ],
  },
  {
    title: '3 clients with keys never share a response, public or not',
    reply: cc('public, max-age=60'),
    steps: [
      [0, 'M', { key: 'one' }],
      [0, 'M', { key: 'two' }],
      [0, 'M'],
      [0, 'H', { key: 'one', body: 1 }],
      [0, 'H', { key: 'two', body: 2 }],
    ],
  },
  ...([{ cookie: 'a=b' }, { 'x-api-key': 'k' }] as const).map(
    (headers): HttpCase => ({
      title: `3 a request with ${Object.keys(headers)[0]} neither gets nor makes a response for all`,
      reply: cc('public, max-age=60'),
      steps: [
        [0, 'M', { headers }],
        [0, 'M', { address: '10.0.0.2' }],
        [0, 'H', { headers, body: 1 }],
      ],
    }),
  ),
  {
    title: '3 a response that is no longer public is removed for all clients',
    reply: cc('public, max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M', { address: '10.0.0.1' }],
      [11, 'M', { address: '10.0.0.1', reply: cc('max-age=10', { etag: '"b"' }) }],
      [0, 'H', { address: '10.0.0.1', body: 2 }],
      [0, 'M', { address: '10.0.0.2' }],
    ],
  },
];
