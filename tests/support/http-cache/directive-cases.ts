import { cc, dateAt, type HttpCase, type Outcome, type Reply, type StepOptions } from './case.ts';

const wire = true as const;
/** First request; then one with `Cache-Control`, after so many seconds. */
const asking = (
  title: string,
  reply: Reply,
  seconds: number,
  directive: string,
  outcome: Outcome,
  more: StepOptions = {},
): HttpCase => ({
  title,
  reply,
  steps: [
    [0, 'M'],
    [seconds, outcome, { headers: { 'cache-control': directive }, ...more }],
  ],
});
const once = (title: string, reply: Reply, outcome: Outcome, more: StepOptions = {}): HttpCase => ({
  title,
  reply,
  steps: [
    [0, 'M'],
    [0, outcome, more],
  ],
});
const targeted = (value: string, more: Record<string, string> = {}): Reply => ({
  headers: { 'cdn-cache-control': value, ...more },
});

/** RFC 9111, section 5, and RFC 9213: directives of requests and responses. */
export const directiveCases: readonly HttpCase[] = [
  asking('5.2.1.1 max-age of a request refuses an older response', cc('max-age=60'), 10, 'max-age=5', 'M'),
  asking('5.2.1.1 max-age of a request accepts a younger response', cc('max-age=60'), 4, 'max-age=5', 'H'),
  asking('5.2.1.1 max-age=0 of a request requires validation', cc('max-age=60', { etag: '"a"' }), 0, 'max-age=0', 'V'),
  asking('5.2.1.2 max-stale accepts a stale response', cc('max-age=10, stale-if-error=60'), 15, 'max-stale=10', 'S', {
    has: { age: '15' },
  }),
  asking('5.2.1.2 max-stale refuses one that is staler', cc('max-age=10, stale-if-error=60'), 25, 'max-stale=10', 'M'),
  asking('5.2.1.2 max-stale without a value accepts any', cc('max-age=10, stale-if-error=60'), 60, 'max-stale', 'S'),
  asking(
    '5.2.1.2 must-revalidate has precedence over max-stale',
    cc('max-age=10, must-revalidate', { etag: '"a"' }),
    15,
    'max-stale',
    'V',
  ),
  asking(
    '5.2.1.2 proxy-revalidate has precedence over max-stale',
    cc('max-age=10, proxy-revalidate', { etag: '"a"' }),
    15,
    'max-stale',
    'V',
  ),
  asking('5.2.1.2 s-maxage has precedence over max-stale', cc('s-maxage=10', { etag: '"a"' }), 15, 'max-stale', 'V'),
  asking('5.2.1.3 min-fresh refuses a response that expires sooner', cc('max-age=60'), 50, 'min-fresh=20', 'M'),
  asking('5.2.1.3 min-fresh accepts a response that lasts', cc('max-age=60'), 30, 'min-fresh=20', 'H'),
  {
    ...asking(
      '5.2.1.4 no-cache of a request requires validation',
      cc('max-age=60', { etag: '"a"' }),
      0,
      'no-cache',
      'V',
    ),
    isOnWire: wire,
  },
  asking('5.2.1.4 no-cache without a validator fetches', cc('max-age=60'), 0, 'no-cache', 'M'),
  {
    title: '5.2.1.5 no-store of a request stores nothing',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M', { headers: { 'cache-control': 'no-store' } }],
      [0, 'M'],
      [0, 'H'],
    ],
    isOnWire: wire,
  },
  {
    ...asking('5.2.1.6 no-transform of a request changes nothing', cc('max-age=60'), 0, 'no-transform', 'H'),
    isOnWire: wire,
  },
  asking('5.2.1.7 only-if-cached gets a stored response', cc('max-age=60'), 0, 'only-if-cached', 'H'),
  {
    title: '5.2.1.7 only-if-cached without a stored response is refused with 504',
    reply: cc('max-age=60'),
    steps: [[0, 'X', { headers: { 'cache-control': 'only-if-cached' } }]],
    isOnWire: wire,
  },
  asking('5.2.1.7 only-if-cached refuses a stale response', cc('max-age=10'), 11, 'only-if-cached', 'X'),
  asking('5.2.3 unknown directives of a request are ignored', cc('max-age=60'), 0, 'frob, x-y="z, no-cache"', 'H'),
  asking('5.2.1.1 an invalid max-age of a request counts as 0', cc('max-age=60'), 0, 'max-age=x', 'M'),
  once('5.4 Pragma: no-cache of a request requires a new response', cc('max-age=60'), 'M', {
    headers: { pragma: 'no-cache' },
  }),
  once('5.4 Pragma is ignored beside Cache-Control', cc('max-age=60'), 'H', {
    headers: { pragma: 'no-cache', 'cache-control': 'max-age=99' },
  }),
  once('5.4 another Pragma is ignored', cc('max-age=60'), 'H', { headers: { pragma: 'x-no-cache' } }),
  once('5.4 Pragma of a response is ignored', cc('max-age=60', { pragma: 'no-cache' }), 'H'),
  once('5.2.2.2 must-revalidate: a fresh response is used', cc('max-age=60, must-revalidate'), 'H'),
  once(
    '5.2.2.3 must-understand with a known status overrides no-store',
    cc('must-understand, no-store, max-age=60'),
    'H',
  ),
  once(
    '5.2.2.3 must-understand with an unknown status is not stored',
    { status: 299, ...cc('must-understand, max-age=60') },
    'M',
  ),
  {
    ...once('5.2.2.4 no-cache is validated each time', cc('no-cache, max-age=60', { etag: '"a"' }), 'V'),
    isOnWire: wire,
  },
  once('5.2.2.4 no-cache without a validator is not stored', cc('no-cache, max-age=60'), 'M'),
  {
    title: '5.2.2.4 a qualified no-cache stores the response without the fields',
    reply: cc('no-cache="X-One, x-two", max-age=60', { 'x-one': '1', 'x-two': '2', 'x-three': '3' }),
    steps: [
      [0, 'M', { has: { 'x-one': '1', 'x-two': '2' } }],
      [0, 'H', { has: { 'x-one': null, 'x-two': null, 'x-three': '3' } }],
    ],
    isOnWire: wire,
  },
  once(
    '5.2.2.4 beside a qualified no-cache the unqualified one counts',
    cc('no-cache="x-one", no-cache, max-age=60', { etag: '"a"' }),
    'V',
  ),
  {
    title: '5.2.2.4 fields of several qualified no-cache are all left out',
    reply: cc('no-cache="x-one", max-age=60, no-cache="x-two"', { 'x-one': '1', 'x-two': '2' }),
    steps: [
      [0, 'M'],
      [0, 'H', { has: { 'x-one': null, 'x-two': null } }],
    ],
  },
  once('5.2.2.5 no-store beside max-age', cc('max-age=60, no-store'), 'M'),
  once('5.2.2.5 no-store with a value still counts', cc('max-age=60, no-store="x"'), 'M'),
  once('5.2.2.6 no-transform changes nothing', cc('max-age=60, no-transform'), 'H'),
  {
    title: '5.2.2.7 a qualified private stores the response without the fields',
    reply: cc('private="X-User", max-age=60', { 'x-user': 'ann', 'x-other': 'o' }),
    steps: [
      [0, 'M', { has: { 'x-user': 'ann' } }],
      [0, 'H', { has: { 'x-user': null, 'x-other': 'o' } }],
    ],
  },
  once('5.2.2.7 private with an empty value is about the whole response', cc('private="", max-age=60'), 'M'),
  once('5.2.2.7 an unterminated private is about the whole response', cc('max-age=60, private="x-user'), 'M'),
  once('5.2.2.8 proxy-revalidate: a fresh response is used', cc('max-age=60, proxy-revalidate'), 'H'),
  once('5.2.2.9 public with max-age is stored', cc('public, max-age=60'), 'H'),
  once('5.2.2.10 s-maxage=0 has precedence over max-age', cc('s-maxage=0, max-age=60'), 'M'),
  once('8246 immutable changes nothing for a fresh response', cc('max-age=60, immutable'), 'H'),
  asking('8246 immutable does not prevent a reload', cc('max-age=60, immutable', { etag: '"a"' }), 0, 'no-cache', 'V'),
  once('5.2.3 unknown directives of a response are ignored', cc('frob=1, max-age=60, x-y'), 'H'),
  once(
    '5.2.3 several Cache-Control lines are one list',
    { headers: { 'cache-control': ['max-age=60', 'no-store'] } },
    'M',
  ),
  once(
    '9213-2.2 CDN-Cache-Control has precedence over Cache-Control',
    targeted('max-age=60', { 'cache-control': 'no-store' }),
    'H',
  ),
  once('9213-2.2 and forbids what Cache-Control allows', targeted('no-store', { 'cache-control': 'max-age=60' }), 'M'),
  once('9213-2.2 and over Expires', targeted('max-age=0', { expires: dateAt(60), date: dateAt(0) }), 'M'),
  once(
    '9213-2.2 Expires is ignored beside it',
    targeted('must-revalidate', { expires: dateAt(60), date: dateAt(0) }),
    'M',
  ),
  ...[
    'max-age',
    'max-age=',
    'max-age=60,',
    'max-age=6 0',
    'MAX-AGE=60',
    'max-age=60; =',
    '"max-age"',
    ',',
    'max-age=60 no-store',
  ].map(value =>
    once(
      `9213-2.2 a malformed or empty field is ignored: ${value}`,
      targeted(value, { 'cache-control': 'max-age=60' }),
      value === 'max-age' ? 'M' : 'H',
    ),
  ),
  once('9213-2.1 parameters are ignored', targeted('max-age=60;x=1;y', { 'cache-control': 'no-store' }), 'H'),
  once('9213-2.1 a decimal lifetime is invalid', targeted('max-age=60.5', { 'cache-control': 'max-age=60' }), 'M'),
  once('9213-2.1 a false directive is not set', targeted('no-store=?0, max-age=60'), 'H'),
  once(
    '9213-2.1 a field of several lines is one dictionary',
    { headers: { 'cdn-cache-control': ['max-age=60', 'no-store'] } },
    'M',
  ),
  once('9213-2.1 the last of a repeated directive counts', targeted('max-age=0, max-age=60'), 'H'),
  once('9213-2.1 a qualified directive is a string', targeted('private="x-user", max-age=60'), 'H'),
];
