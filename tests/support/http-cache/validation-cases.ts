import { cc, dateAt, type HttpCase } from './case.ts';

const wire = true as const;
const changedAt = dateAt(-1000);

/** RFC 9111, sections 4.3 and 4.4: validation, HEAD, invalidation. */
export const validationCases: readonly HttpCase[] = [
  {
    title: '4.3.1 a stale response is validated by its entity tag',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M', { sent: { 'if-none-match': null } }],
      [11, 'V', { sent: { 'if-none-match': '"a"', 'if-modified-since': null }, status: 200, body: 1 }],
      [0, 'H', { body: 1, has: { age: '0' } }],
    ],
  },
  {
    title: '4.3.1 a stale response is validated by its time of change',
    reply: cc('max-age=10', { 'last-modified': changedAt }),
    steps: [
      [0, 'M'],
      [11, 'V', { sent: { 'if-none-match': null, 'if-modified-since': changedAt }, body: 1 }],
    ],
  },
  {
    title: '4.3.1 both validators are sent',
    reply: cc('max-age=0', { etag: '"a"', 'last-modified': changedAt }),
    steps: [
      [0, 'M'],
      [0, 'V', { sent: { 'if-none-match': '"a"', 'if-modified-since': changedAt } }],
    ],
    isOnWire: wire,
  },
  {
    title: '4.3.1 a weak entity tag validates too',
    reply: cc('max-age=0', { etag: 'W/"a"' }),
    steps: [
      [0, 'M'],
      [0, 'V', { sent: { 'if-none-match': 'W/"a"' } }],
    ],
  },
  {
    title: '4.3.1 without a validator a stale response is fetched without conditions',
    reply: cc('max-age=10'),
    steps: [
      [0, 'M'],
      [11, 'M', { sent: { 'if-none-match': null, 'if-modified-since': null } }],
    ],
  },
  {
    title: '4.3.1 the conditions of the client are replaced by those of the cache, and evaluated afterwards',
    reply: cc('max-age=0', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [0, 'V', { headers: { 'if-none-match': '"old"' }, sent: { 'if-none-match': '"a"' }, status: 200, body: 1 }],
      [0, 'V', { headers: { 'if-none-match': '"a"' }, sent: { 'if-none-match': '"a"' }, status: 304 }],
    ],
    isOnWire: wire,
  },
  {
    title: '4.3.1 the conditions of a client without a stored response are forwarded, and the 304 is not stored',
    reply: cc('max-age=60', { etag: '"a"' }),
    steps: [
      [0, 'M', { headers: { 'if-none-match': '"a"' }, sent: { 'if-none-match': '"a"' }, status: 304 }],
      [0, 'M', { status: 200 }],
      [0, 'H'],
    ],
    isOnWire: wire,
  },
  {
    title: '4.3.2 If-None-Match of a client gets 304 from a fresh stored response',
    reply: cc('max-age=60', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [0, 'H', { headers: { 'if-none-match': '"a"' }, status: 304 }],
      [0, 'H', { headers: { 'if-none-match': 'W/"a"' }, status: 304 }],
      [0, 'H', { headers: { 'if-none-match': '"b", "a"' }, status: 304 }],
      [0, 'H', { headers: { 'if-none-match': '"b"' }, status: 200 }],
      [0, 'H', { headers: { 'if-none-match': '*' }, status: 304 }],
    ],
    isOnWire: wire,
  },
  {
    title: '4.3.2 If-Modified-Since of a client gets 304 from a fresh stored response',
    reply: cc('max-age=60', { 'last-modified': changedAt }),
    steps: [
      [0, 'M'],
      [0, 'H', { headers: { 'if-modified-since': changedAt }, status: 304 }],
      [0, 'H', { headers: { 'if-modified-since': dateAt(-2000) }, status: 200 }],
    ],
  },
  {
    title: '4.3.2 If-None-Match has precedence over If-Modified-Since',
    reply: cc('max-age=60', { etag: '"a"', 'last-modified': changedAt }),
    steps: [
      [0, 'M'],
      [0, 'H', { headers: { 'if-none-match': '"b"', 'if-modified-since': changedAt }, status: 200 }],
    ],
  },
  ...['if-match', 'if-unmodified-since', 'if-range'].map(
    (name): HttpCase => ({
      title: `4.3.2 a request with ${name} is forwarded`,
      reply: cc('max-age=60', { etag: '"a"' }),
      steps: [
        [0, 'M'],
        [0, 'M', { headers: { [name]: '"a"' } }],
        [0, 'H', { body: 1 }],
      ],
    }),
  ),
  {
    title: '4.3.3 a full response to a validation replaces the stored one',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [11, 'M', { reply: cc('max-age=10', { etag: '"b"' }), sent: { 'if-none-match': '"a"' }, body: 2 }],
      [0, 'H', { body: 2, has: { etag: '"b"' } }],
    ],
  },
  {
    title: '4.3.3 a full response that is not stored removes the stored one',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [11, 'M', { reply: cc('no-store', { etag: '"b"' }) }],
      [0, 'M', { sent: { 'if-none-match': null } }],
    ],
  },
  {
    title: '4.3.3 an error of the server leaves the stored response',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [11, 'M', { reply: { status: 500 }, status: 500 }],
      [0, 'V', { reply: cc('max-age=10', { etag: '"a"' }), body: 1 }],
    ],
  },
  {
    title: '4.3.3 404 replaces the stored response',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [11, 'M', { reply: { status: 404, ...cc('max-age=10') }, status: 404 }],
      [0, 'H', { status: 404 }],
    ],
  },
  {
    title: '4.3.4 a 304 begins a new lifetime',
    reply: { ...cc('max-age=10', { etag: '"a"' }), notModified: { 'cache-control': 'max-age=100' } },
    steps: [
      [0, 'M'],
      [11, 'V'],
      [99, 'H'],
      [1, 'V'],
    ],
  },
  {
    title: '4.3.4 Age of a 304 counts',
    reply: { ...cc('max-age=10', { etag: '"a"' }), notModified: { age: '9' } },
    steps: [
      [0, 'M'],
      [11, 'V', { has: { age: '9' } }],
      [1, 'V'],
    ],
  },
  {
    title: '4.3.4 a 304 with another strong entity tag does not update the stored response, which is removed',
    reply: { ...cc('max-age=10', { etag: '"a"' }), notModified: { etag: '"b"' } },
    steps: [
      [0, 'M'],
      [11, 'V', { body: 1, has: { etag: '"a"' } }],
      [0, 'M', { sent: { 'if-none-match': null } }],
    ],
  },
  {
    title: '4.3.4 a 304 with the weak form of the entity tag updates the stored response',
    reply: { ...cc('max-age=10', { etag: '"a"' }), notModified: { etag: 'W/"a"', 'x-own': 'n' } },
    steps: [
      [0, 'M'],
      [11, 'V', { has: { 'x-own': 'n' } }],
      [0, 'H', { has: { 'x-own': 'n' } }],
    ],
  },
  {
    title: '4.3.5 a HEAD response with the same validators freshens the stored response',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [11, 'M', { method: 'HEAD', sent: { 'if-none-match': null } }],
      [9, 'H', { body: 1 }],
    ],
  },
  {
    title: '4.3.5 a HEAD response with another entity tag removes the stored response',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [0, 'M', { method: 'HEAD', headers: { 'cache-control': 'no-cache' }, reply: cc('max-age=10', { etag: '"b"' }) }],
      [0, 'M', { sent: { 'if-none-match': null } }],
    ],
  },
  {
    title: '4.3.5 a HEAD response with another length removes the stored response',
    reply: cc('max-age=10', { etag: '"a"', 'content-length': '6' }),
    steps: [
      [0, 'M'],
      [11, 'M', { method: 'HEAD', reply: cc('max-age=10', { etag: '"a"', 'content-length': '7' }) }],
      [0, 'M', { sent: { 'if-none-match': null }, reply: cc('max-age=10', { etag: '"a"' }) }],
    ],
  },
  {
    title: '4.3.5 a HEAD response without validators leaves the stored response',
    reply: cc('max-age=10', { etag: '"a"' }),
    steps: [
      [0, 'M'],
      [0, 'M', { method: 'HEAD', headers: { 'cache-control': 'no-cache' }, reply: cc('max-age=99') }],
      [9, 'H', { body: 1 }],
      [1, 'V', { reply: cc('max-age=10', { etag: '"a"' }) }],
    ],
  },
  ...['POST', 'PUT', 'DELETE', 'PATCH', 'FROB'].map(
    (method): HttpCase => ({
      title: `4.4 a successful ${method} invalidates its target`,
      reply: cc('max-age=60'),
      steps: [
        [0, 'M'],
        [0, 'M', { method }],
        [0, 'M', { body: 3 }],
      ],
      ...(method === 'PUT' && { isOnWire: wire }),
    }),
  ),
  {
    title: '4.4 a redirect to an unsafe request invalidates its target',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M'],
      [0, 'M', { method: 'POST', reply: { status: 303, headers: { location: '/elsewhere' } } }],
      [0, 'M', { reply: cc('max-age=60') }],
    ],
  },
  ...[400, 403, 404, 500].map(
    (status): HttpCase => ({
      title: `4.4 a ${status} to an unsafe request invalidates nothing`,
      reply: cc('max-age=60'),
      steps: [
        [0, 'M'],
        [0, 'M', { method: 'POST', reply: { status } }],
        [0, 'H', { body: 1 }],
      ],
    }),
  ),
  {
    title: '4.4 a public response is invalidated for all clients',
    reply: cc('public, max-age=60'),
    steps: [
      [0, 'M', { address: '10.0.0.1' }],
      [0, 'M', { address: '10.0.0.2', method: 'PUT' }],
      [0, 'M', { address: '10.0.0.1', body: 3 }],
    ],
  },
  {
    title: '4.4 a public response is invalidated by a client with a key',
    reply: cc('public, max-age=60'),
    steps: [
      [0, 'M'],
      [0, 'M', { key: 'one', method: 'PUT' }],
      [0, 'M', { body: 3 }],
    ],
  },
  ...(['location', 'content-location'] as const).flatMap((name): HttpCase[] => [
    {
      title: `4.4 ${name} of the same origin is invalidated`,
      reply: cc('max-age=60'),
      steps: [
        [0, 'M', { path: '/b?x=1' }],
        [0, 'M', { method: 'POST', path: '/a', reply: { status: 201, headers: { [name]: '/api/b?x=1' } } }],
        [0, 'M', { path: '/b?x=1', reply: cc('max-age=60') }],
      ],
    },
    {
      title: `4.4 a relative ${name} is invalidated`,
      reply: cc('max-age=60'),
      steps: [
        [0, 'M', { path: '/b' }],
        [0, 'M', { method: 'POST', path: '/a', reply: { status: 201, headers: { [name]: 'b' } } }],
        [0, 'M', { path: '/b', reply: cc('max-age=60') }],
      ],
    },
    {
      title: `4.4 ${name} of another origin is not invalidated`,
      reply: cc('max-age=60'),
      steps: [
        [0, 'M', { path: '/b' }],
        [
          0,
          'M',
          { method: 'POST', path: '/a', reply: { status: 201, headers: { [name]: 'http://other.example/api/b' } } },
        ],
        [0, 'H', { path: '/b' }],
      ],
    },
  ]),
  {
    title: '4.4 an invalid Location invalidates the target alone',
    reply: cc('max-age=60'),
    steps: [
      [0, 'M', { path: '/a' }],
      [0, 'M', { path: '/b' }],
      [0, 'M', { method: 'POST', path: '/a', reply: { status: 201, headers: { location: 'http://[' } } }],
      [0, 'H', { path: '/b' }],
      [0, 'M', { path: '/a', reply: cc('max-age=60') }],
    ],
  },
];
