import { cc, dateAt, type HttpCase, type Outcome, type Reply, type Step } from './case.ts';

const wire = true as const;
/** First request, then one after so many seconds. */
const later = (
  title: string,
  reply: Reply,
  seconds: number,
  outcome: Outcome,
  more: HttpCase['steps'][0][2] = {},
): HttpCase => ({
  title,
  reply,
  steps: [
    [0, 'M'],
    [seconds, outcome, more],
  ],
});
const once = (title: string, reply: Reply, outcome: 'H' | 'M'): HttpCase => later(title, reply, 0, outcome);
const expires = (value: string, more: Record<string, string> = {}): Reply => ({
  headers: { expires: value, date: dateAt(0), ...more },
});

const varied = (headers: Record<string, string>, outcome: Outcome, more: object = {}): Step => [
  0,
  outcome,
  { headers, ...more },
];

/** RFC 9111, sections 4.1 to 4.2.4: selection, freshness, age, stale responses. */
export const freshnessCases: readonly HttpCase[] = [
  {
    title: '4 the query is part of the cache key',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M', { path: '/a?x=1' }],
      [0, 'M', { path: '/a?x=2' }],
      [0, 'H', { path: '/a?x=1', body: 1 }],
    ],
    isOnWire: wire,
  },
  {
    title: '4 HEAD is answered from a stored GET response',
    reply: cc('max-age=60', { 'x-own': 'x' }),
    steps: [
      [0, 'M'],
      [0, 'H', { method: 'HEAD', has: { 'x-own': 'x' } }],
    ],
    isOnWire: wire,
  },
  {
    title: '4.1 a response with Vary is selected by the request',
    reply: cc('max-age=60', { vary: 'Accept-Language' }),
    steps: [
      varied({ 'accept-language': 'de' }, 'M'),
      varied({ 'accept-language': 'en' }, 'M'),
      varied({ 'accept-language': 'de' }, 'H', { body: 1 }),
      varied({ 'accept-language': 'en' }, 'H', { body: 2 }),
      varied({}, 'M'),
      varied({}, 'H', { body: 3 }),
    ],
    isOnWire: wire,
  },
  {
    title: '4.1 all fields of Vary must match',
    reply: cc('max-age=60', { vary: 'Accept, Accept-Language' }),
    steps: [
      varied({ accept: 'a/b', 'accept-language': 'de' }, 'M'),
      varied({ accept: 'a/b', 'accept-language': 'en' }, 'M'),
      varied({ accept: 'a/c', 'accept-language': 'de' }, 'M'),
      varied({ accept: 'a/b', 'accept-language': 'de' }, 'H', { body: 1 }),
    ],
  },
  {
    title: '4.1 several Vary lines are one list',
    reply: cc('max-age=60', { vary: ['Accept', 'Accept-Language'] }),
    steps: [
      varied({ accept: 'a/b', 'accept-language': 'de' }, 'M'),
      varied({ accept: 'a/b', 'accept-language': 'en' }, 'M'),
      varied({ accept: 'a/b', 'accept-language': 'de' }, 'H', { body: 1 }),
    ],
  },
  once('4.1 Vary: * is never selected', cc('max-age=60', { vary: '*' }), 'M'),
  once('4.1 Vary with * among names is never selected', cc('max-age=60', { vary: 'Accept, *' }), 'M'),
  {
    title: '4.1 names of Vary are case-insensitive',
    reply: cc('max-age=60', { vary: 'ACCEPT' }),
    steps: [varied({ accept: 'a/b' }, 'M'), varied({ accept: 'a/c' }, 'M'), varied({ accept: 'a/b' }, 'H')],
  },
  {
    title: '4.1 a public response with Vary is selected among all clients',
    reply: cc('public, max-age=60', { vary: 'Accept' }),
    steps: [
      [0, 'M', { headers: { accept: 'a/b' }, address: '10.0.0.1' }],
      [0, 'H', { headers: { accept: 'a/b' }, address: '10.0.0.2', body: 1 }],
      [0, 'M', { headers: { accept: 'a/c' }, address: '10.0.0.2' }],
    ],
  },
  later('4.2 a response is fresh while its lifetime exceeds its age', cc('max-age=10'), 9, 'H'),
  later('4.2 a response whose age equals its lifetime is stale', cc('max-age=10'), 10, 'M'),
  later('4.2.1 s-maxage overrides max-age', cc('max-age=1, s-maxage=60'), 30, 'H'),
  later('4.2.1 a shorter s-maxage overrides max-age', cc('max-age=60, s-maxage=1'), 30, 'M'),
  later('4.2.1 max-age overrides Expires', cc('max-age=60', { expires: dateAt(1), date: dateAt(0) }), 30, 'H'),
  later('4.2.1 max-age overrides a later Expires', cc('max-age=1', { expires: dateAt(60), date: dateAt(0) }), 30, 'M'),
  later('4.2.1 Expires less Date is the lifetime', expires(dateAt(60)), 59, 'H'),
  later('4.2.1 Expires is over', expires(dateAt(60)), 60, 'M'),
  later(
    '4.2.1 the lifetime of Expires begins with Date, not with the receipt',
    expires(dateAt(60), { date: dateAt(-30) }),
    29,
    'H',
  ),
  later('4.2.1 Expires without Date begins with the receipt', { headers: { expires: dateAt(60) } }, 59, 'H'),
  later('4.2.1 the smaller of two max-age counts', cc('max-age=60, max-age=5'), 10, 'M'),
  once('4.2.1 max-age of 0 is not stored without a validator', cc('max-age=0'), 'M'),
  once('4.2.1 the case of directives does not matter', cc('Max-Age=60'), 'H'),
  once('4.2.1 white space around directives does not matter', cc(' , max-age=60 ,, '), 'H'),
  later('4.2.1 a quoted max-age is accepted', cc('max-age="60"'), 30, 'H'),
  once('4.2.1 max-age in a quoted extension does not count', cc('ext="max-age=60"'), 'M'),
  once('4.2.1 a comma in a quoted extension separates nothing', cc('ext="a, no-store", max-age=60'), 'H'),
  ...['-1', '1.5', 'abc', '', '0x10', '1e3'].map(value =>
    once(`4.2.1 max-age=${value || '(empty)'} is invalid, and stale`, cc(`max-age=${value}`), 'M'),
  ),
  later('1.2.2 a lifetime beyond all integers is long', cc('max-age=99999999999999999999'), 1_000_000, 'H'),
  ...[
    '0',
    '-1',
    'never',
    '2040-01-01',
    'Tue, 1 Jan 2040 00:00:00 GMT',
    'Sun, 01 Jan 2040 00:00:00 UTC',
    'Sun, 32 Jan 2040 00:00:00 GMT',
    'Sun, 01 Jan 2040 24:00:00 GMT',
  ].map(value => once(`5.3 Expires: ${value} is invalid, and stale`, expires(value), 'M')),
  once('5.3 Expires as an IMF-fixdate', expires('Sun, 01 Jan 2040 00:00:00 GMT'), 'H'),
  once('5.3 Expires as an RFC 850 date', expires('Sunday, 01-Jan-40 00:00:00 GMT'), 'H'),
  once('5.3 an RFC 850 year more than 50 years ahead is in the past', expires('Saturday, 01-Jan-94 00:00:00 GMT'), 'M'),
  once('5.3 Expires as an asctime date', expires('Sun Jan  1 00:00:00 2040'), 'H'),
  once('5.3 Expires in the past', expires(dateAt(-1)), 'M'),
  later(
    '4.2.2 a tenth of the time since the last change',
    { headers: { 'last-modified': dateAt(-1000), date: dateAt(0) } },
    99,
    'H',
  ),
  later(
    '4.2.2 after a tenth of the time since the last change it is validated',
    { headers: { 'last-modified': dateAt(-1000), date: dateAt(0) } },
    101,
    'V',
    { sent: { 'if-modified-since': dateAt(-1000) } },
  ),
  later(
    '4.2.2 heuristic freshness is at most a day',
    { headers: { 'last-modified': dateAt(-100_000_000), date: dateAt(0) } },
    86_399,
    'H',
  ),
  later('4.2.2 and not longer', { headers: { 'last-modified': dateAt(-100_000_000), date: dateAt(0) } }, 86_401, 'V'),
  later(
    '4.2.2 explicit freshness excludes a heuristic',
    cc('max-age=5', { 'last-modified': dateAt(-100_000), date: dateAt(0) }),
    10,
    'V',
  ),
  later(
    '4.2.2 a Last-Modified in the future gives no freshness',
    { headers: { 'last-modified': dateAt(1000), date: dateAt(0) } },
    0,
    'V',
  ),
  {
    title: '4.2.2 cache_timeout is the lifetime of responses without one',
    options: { cache_timeout: 30 },
    reply: {},
    steps: [
      [0, 'M'],
      [29, 'H'],
      [1, 'M'],
    ],
  },
  {
    title: '4.2.2 cache_timeout does not change an explicit lifetime',
    options: { cache_timeout: 30 },
    reply: cc('max-age=60'),
    steps: [
      [0, 'M'],
      [59, 'H'],
      [1, 'M'],
    ],
  },
  later('4.2.3 Age of the response counts', cc('max-age=60', { age: '50' }), 9, 'H', { has: { age: '59' } }),
  later('4.2.3 a response that is old when it arrives is stale sooner', cc('max-age=60', { age: '50' }), 10, 'M'),
  later('4.2.3 the time since Date counts', cc('max-age=60', { date: dateAt(-50) }), 9, 'H', { has: { age: '59' } }),
  later(
    '4.2.3 the larger of Age and the time since Date counts',
    cc('max-age=60', { age: '10', date: dateAt(-30) }),
    29,
    'H',
    { has: { age: '59' } },
  ),
  later('4.2.3 a Date in the future counts as now', cc('max-age=60', { date: dateAt(500) }), 59, 'H'),
  later('4.2.3 an invalid Date counts as now', cc('max-age=60', { date: 'yesterday' }), 59, 'H'),
  {
    title: '4.2.3 the time that the upstream takes counts',
    reply: cc('max-age=60', { age: '0' }),
    steps: [
      [0, 'M', { delay: 20 }],
      [39, 'H', { has: { age: '59' } }],
      [1, 'M'],
    ],
  },
  later('5.1 Age is sent with a stored response', cc('max-age=60'), 7, 'H', { has: { age: '7' } }),
  later('5.1 an invalid Age does not count', cc('max-age=60', { age: 'old' }), 59, 'H'),
  later('5.1 the first value of an Age list counts', cc('max-age=60', { age: '50, 0' }), 10, 'M'),
  later('5.1 an Age larger than the lifetime is stale at once', cc('max-age=60', { age: '61' }), 0, 'M'),
  later('4.2.4 without permission no stale response is sent', cc('max-age=10'), 11, 'M'),
  {
    title: '4.2.4 a stale response does not stand in for an error without permission',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [11, 'M', { reply: { status: 503 }, status: 503 }],
      [0, 'E', { reply: { fails: true } }],
    ],
  },
  {
    title: '5861-3 stale-while-revalidate sends the stale response and refreshes it',
    reply: cc('max-age=10, stale-while-revalidate=20'),
    steps: [
      [0, 'M'],
      [15, 'S', { requests: 1, body: 1, has: { age: '15' } }],
      [0, 'H', { body: 2, has: { age: '0' } }],
    ],
  },
  {
    title: '5861-3 with a validator the refresh is conditional',
    reply: cc('max-age=10, stale-while-revalidate=20', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [15, 'S', { requests: 1, sent: { 'if-none-match': '"a"' } }],
      [0, 'H', { body: 1, has: { age: '0' } }],
    ],
  },
  later('5861-3 after stale-while-revalidate it is fetched', cc('max-age=10, stale-while-revalidate=20'), 31, 'M'),
  later('5861-3 must-revalidate forbids it', cc('max-age=10, stale-while-revalidate=20, must-revalidate'), 15, 'M'),
  later('5861-3 s-maxage forbids it', cc('s-maxage=10, stale-while-revalidate=20'), 15, 'M'),
  later('5861-3 an invalid value counts as none', cc('max-age=10, stale-while-revalidate=x'), 11, 'M'),
  {
    title: '5861-3 a failed refresh leaves the stale response',
    reply: cc('max-age=10, stale-while-revalidate=20'),
    steps: [
      [0, 'M'],
      [11, 'S', { requests: 1, reply: { status: 500 } }],
      [1, 'S', { requests: 1, reply: { fails: true } }],
      [1, 'S', { requests: 1, body: 1 }],
    ],
  },
  ...[500, 502, 503, 504].map(
    (status): HttpCase => ({
      title: `5861-4 stale-if-error: a stale response stands in for ${status}`,
      reply: cc('max-age=10, stale-if-error=20'),
      steps: [
        [0, 'M'],
        [15, 'S', { reply: { status }, requests: 1, status: 200, body: 1 }],
        [16, 'M', { status }],
      ],
    }),
  ),
  {
    title: '5861-4 stale-if-error does not cover other errors',
    reply: cc('max-age=10, stale-if-error=20'),
    steps: [
      [0, 'M'],
      [15, 'M', { reply: { status: 404 }, status: 404 }],
    ],
  },
  {
    title: '5861-4 stale-if-error covers an upstream without a response',
    reply: cc('max-age=0, stale-if-error=60'),
    steps: [
      [0, 'M'],
      [0, 'S', { reply: { fails: true }, requests: 1, status: 200 }],
    ],
    isOnWire: wire,
  },
  {
    title: '5861-4 must-revalidate forbids stale-if-error',
    reply: cc('max-age=10, stale-if-error=20, must-revalidate'),
    steps: [
      [0, 'M'],
      [11, 'E', { reply: { fails: true } }],
    ],
  },
  {
    title: '5861-4 stale-if-error of the request',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [15, 'S', { headers: { 'cache-control': 'stale-if-error=30' }, reply: { status: 500 }, requests: 1 }],
      [0, 'M', { status: 500 }],
    ],
  },
];
