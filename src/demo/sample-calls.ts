import { apiIds } from './apis/demo-apis.ts';

/** A result of a sample call in the history; live calls have the results of the gateway. */
interface SampleOutcome {
  readonly status: number;
  readonly weight: number;
  /** Code of a refusal. */
  readonly refusal?: string;
  /** Typical duration. */
  readonly ms: number;
}

export interface SampleCall {
  readonly api: string;
  /** Below the gateway. */
  readonly listenPath: string;
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly body?: string;
  /** `key`: one of the keys; `user`: the user of Reports; `wrong`: a key that does not exist. */
  readonly credential: 'key' | 'user' | 'wrong' | 'none';
  readonly weight: number;
  /** Calls in a row: they exceed a small rate limit, or open a circuit breaker. */
  readonly burst?: number;
  /** Policy of the keys; any by default. */
  readonly policy?: string;
  readonly outcomes: readonly SampleOutcome[];
}

const ok = (ms: number, status = 200): SampleOutcome => ({ status, weight: 95, ms });
const tooFast: SampleOutcome = { status: 429, weight: 4, refusal: 'rate_exceeded', ms: 0.4 };
const orders = { api: apiIds.orders, listenPath: '/shop/', credential: 'key' } as const;
const catalogue = { api: apiIds.catalogue, listenPath: '/catalogue/', credential: 'none' } as const;
const bookshop = { api: apiIds.bookshop, listenPath: '/bookshop/', credential: 'key', method: 'POST' } as const;

const payments = { api: apiIds.payments, listenPath: '/payments/', credential: 'key', method: 'POST' } as const;

const toQuery = (query: string) => JSON.stringify({ query });

/** Kinds of calls by weight: most succeed, some are refused, some find nothing. */
export const sampleCalls: readonly SampleCall[] = [
  { ...orders, method: 'GET', path: 'orders', weight: 22, outcomes: [ok(14), tooFast] },
  { ...orders, method: 'GET', path: 'orders/1001', weight: 14, outcomes: [ok(9), tooFast] },
  {
    ...orders,
    method: 'POST',
    path: 'orders',
    body: '{"customer": "Ada", "total": 42.5}',
    weight: 8,
    outcomes: [ok(31, 201)],
  },
  {
    ...orders,
    method: 'POST',
    path: 'orders',
    body: '{"total": -1}',
    weight: 1,
    outcomes: [{ ...ok(1, 422), refusal: 'request_invalid' }],
  },
  { ...orders, method: 'GET', path: 'orders/9999', weight: 2, outcomes: [ok(8, 404)] },
  {
    ...orders,
    method: 'GET',
    path: 'orders',
    weight: 1,
    burst: 5,
    policy: 'demo-bronze',
    outcomes: [ok(11), { ...tooFast, weight: 60 }],
  },
  {
    ...orders,
    method: 'GET',
    path: 'orders',
    credential: 'none',
    weight: 2,
    outcomes: [{ status: 401, weight: 1, refusal: 'auth_field_missing', ms: 0.3 }],
  },
  {
    ...orders,
    method: 'GET',
    path: 'orders',
    credential: 'wrong',
    weight: 2,
    outcomes: [{ status: 403, weight: 1, refusal: 'key_not_found', ms: 0.4 }],
  },
  { ...catalogue, method: 'GET', path: 'products', weight: 18, outcomes: [ok(2), { ...ok(17), weight: 20 }] },
  { ...catalogue, method: 'GET', path: 'products/mug', weight: 8, outcomes: [ok(2)] },
  { ...catalogue, method: 'GET', path: 'products/sold-out', weight: 1, outcomes: [ok(7, 404)] },
  {
    api: apiIds.forecast,
    listenPath: '/weather/',
    credential: 'none',
    method: 'GET',
    path: 'forecast/oslo',
    weight: 7,
    outcomes: [ok(0.6)],
  },
  {
    ...bookshop,
    path: '',
    body: toQuery('{ books { title author { name } } }'),
    weight: 6,
    outcomes: [ok(12), tooFast],
  },
  { ...bookshop, path: '', body: toQuery('{ authors { name books { title year } } }'), weight: 3, outcomes: [ok(15)] },
  {
    ...payments,
    path: 'refunds',
    body: '{"charge": "ch_1"}',
    weight: 1,
    burst: 5,
    policy: 'demo-silver',
    outcomes: [
      { status: 503, weight: 3, ms: 25 },
      { status: 503, weight: 2, refusal: 'circuit_breaker_open', ms: 0.4 },
    ],
  },
  {
    ...payments,
    path: 'charges',
    body: '{"amount": 42.5}',
    weight: 12,
    outcomes: [
      { ...ok(48, 201), weight: 80 },
      { status: 503, weight: 10, ms: 30 },
      { status: 504, weight: 4, refusal: 'upstream_timeout', ms: 1001 },
      { status: 502, weight: 2, refusal: 'upstream_failed', ms: 12 },
    ],
  },
  {
    api: apiIds.reports,
    listenPath: '/reports/',
    credential: 'user',
    method: 'GET',
    path: 'sales',
    weight: 3,
    outcomes: [ok(64)],
  },
];
