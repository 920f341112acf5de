import { setTimeout as wait } from 'node:timers/promises';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { Random } from './random.ts';

/** Responses of the upstream. */

interface UpstreamRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: string;
}

/** `reset` closes the connection without a response. */
type UpstreamResult = { readonly status: number; readonly value?: unknown } | 'reset';

const orders = [
  { id: '1001', customer: 'Ada', status: 'paid', total: 42.5 },
  { id: '1002', customer: 'Grace', status: 'open', total: 17 },
  { id: '1003', customer: 'Alan', status: 'shipped', total: 230.9 },
];
const products = [
  { sku: 'mug', name: 'Mug', price: 9.5 },
  { sku: 'lamp', name: 'Desk lamp', price: 39 },
  { sku: 'chair', name: 'Chair', price: 129 },
];

const bankDown: UpstreamResult = { status: 503, value: { error: 'the bank does not respond' } };
const notFound = { status: 404, value: { error: 'not found' } };
const toResult = (value: unknown): UpstreamResult => (value === undefined ? notFound : { status: 200, value });

/** Single failures of charges: in turn an error, a connection that is reset, and a slow response. */
const chargesPerFailure = 8;
/** Of the refunds one in four succeeds: a few in a row open the circuit breaker. */
const refundsPerSuccess = 4;
/** Beyond the timeout of the API. */
const slowChargeMs = 1500;
const maxWorkMs = 40;

export function createUpstreamRoutes(random: Random) {
  let charges = 0;
  let refunds = 0;
  let created = orders.length;

  async function charge(body: string): Promise<UpstreamResult> {
    charges++;
    if (charges % chargesPerFailure !== 0) return { status: 201, value: { id: `ch_${charges}`, ...parseObject(body) } };
    const turn = (charges / chargesPerFailure) % 3;
    if (turn === 1) return bankDown;
    if (turn === 2) return 'reset';
    await wait(slowChargeMs, undefined, { ref: false });
    return { status: 201, value: { id: `ch_${charges}` } };
  }

  function refund(): UpstreamResult {
    refunds++;
    return refunds % refundsPerSuccess === 0 ? { status: 201, value: { id: `re_${refunds}` } } : bankDown;
  }

  function createOrder(body: string): UpstreamResult {
    created++;
    return { status: 201, value: { id: String(1000 + created), status: 'open', ...parseObject(body) } };
  }

  return async ({ method, path, body }: UpstreamRequest): Promise<UpstreamResult> => {
    const [route = ''] = path.split('?');
    if (route === '/health') return { status: 200, value: { status: 'pass' } };
    if (route === '/webhooks') return { status: 204 };
    await wait(random() * maxWorkMs, undefined, { ref: false });
    const [, area, kind, id] = route.split('/');
    const call = `${method} ${area}/${kind ?? ''}`;
    if (call === 'GET shop/orders') return toResult(id ? orders.find(it => it.id === id) : orders);
    if (call === 'POST shop/orders') return createOrder(body);
    if (call === 'GET catalogue/products') return toResult(id ? products.find(it => it.sku === id) : products);
    if (call === 'POST payments/charges') return charge(body);
    if (call === 'POST payments/refunds') return refund();
    if (method === 'GET' && area === 'reports' && kind) return toResult({ report: kind, orders: created, charges });
    if (area === 'graphql') return (await import('./bookshop.ts')).runBookshopQuery(body);
    return notFound;
  };
}

/** Members of a JSON object; none for another text. */
function parseObject(text: string): Record<string, unknown> {
  const value = tryParseJson(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
