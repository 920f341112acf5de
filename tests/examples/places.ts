import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { callerOn } from '../hostile/raw.ts';
import { eventually } from '../support/upstream.ts';
import type { Example } from './example.ts';
import type { Place } from './place.ts';

/** Listen paths, domains, versions, and events. */

interface Logged {
  readonly path: string;
  readonly tags: readonly string[];
  readonly raw_request: string;
}
const listLogs = async ({ app }: Place, apiId: string): Promise<Logged[]> =>
  (await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${apiId}`)).body.data;

export const places: Readonly<Record<string, Example>> = {
  'versions-inside': {
    shows: 'Two versions inside one definition, selected by a header: one that expires, one with another upstream.',
    calls: [
      { ask: 'GET /stations/oslo', status: 200, reaches: 'GET /oslo', tells: { 'x-gw-api-expires': /2099/ } },
      { ask: 'GET /stations/oslo', headers: { 'X-Version': 'v2' }, status: 200, reaches: 'GET /v2/oslo' },
      { ask: 'GET /stations/old', headers: { 'X-Version': 'v2' }, status: 403, reaches: null },
      { ask: 'GET /stations/oslo', headers: { 'X-Version': 'v3' }, status: 403, reaches: null },
    ],
  },
  versions: {
    needs: ['versions-v2'],
    calls: [
      { ask: 'GET /flights/7', status: 200, reaches: 'GET /7' },
      { ask: 'GET /flights/v2/7', status: 200, reaches: 'GET /v2/7' },
      { ask: 'GET /flights-v2/7', status: 404, reaches: null },
    ],
  },
  'versions-v2': {
    needs: ['versions'],
    calls: [{ ask: 'GET /flights/v2/7', status: 200, reaches: 'GET /v2/7' }],
  },
  loops: {
    calls: [
      { ask: 'GET /offers/best', status: 200, reaches: 'GET /ranked?limit=1' },
      { ask: 'GET /offers/ranked', status: 403, reaches: null },
    ],
  },
  'custom-domain': {
    calls: [
      {
        ask: 'GET /pictures',
        headers: { Host: 'museum.example' },
        status: 200,
        reaches: 'GET /pictures',
        sees: { host: 'museum.example' },
      },
      { ask: 'GET /pictures', status: 404, reaches: null },
    ],
  },
  'own-port': {
    calls: [
      { ask: 'GET http://127.0.0.1:9300/printer/status', status: 200, reaches: 'GET /status' },
      { ask: 'GET /printer/status', status: 404, reaches: null },
    ],
  },
  tcp: {
    command: 'nc 127.0.0.1 9300',
    calls: [],
    async afterwards({ addresses }) {
      const one = callerOn(connect(Number(addresses.get('9300')), '127.0.0.1'));
      one.send('any bytes\0at all');
      await one.until(/^any bytes\0at all$/);
      one.leave();
    },
  },
  batch: {
    calls: [
      {
        ask: 'POST /prices/gw/batch/',
        body: '{"requests": [{"relative_url": "tea"}, {"relative_url": "milk"}]}',
        status: 200,
        says: /"relative_url":"tea","code":200.*"relative_url":"milk","code":200/s,
      },
    ],
  },
  events: {
    async before({ partner }) {
      partner.pages['/alarm'] = {};
      partner.bodies.length = 0;
      return {};
    },
    calls: [{ ask: 'GET /alarms/7', headers: { Authorization: 'a-guess' }, status: 403, reaches: null }],
    async afterwards({ partner }) {
      const [received] = await eventually(() => {
        assert.ok(partner.bodies.length > 0);
        return partner.bodies;
      });
      assert.equal(received!.body, '{"text": "Auth Failure at /alarms/7"}');
      assert.equal(received!.headers['x-team'], 'security');
      assert.match(String(received!.headers['x-gw-signature']), /^t=\d+,v1=/);
    },
  },
  tracking: {
    calls: [
      { ask: 'GET /sensors/ping', status: 200 },
      { ask: 'GET /sensors/7/readings', headers: { 'X-Team': 'blue' }, status: 200, reaches: 'GET /7/readings' },
    ],
    afterwards: (at, apiId) =>
      eventually(async () => {
        const [first, ...others] = await listLogs(at, apiId);
        assert.deepEqual([first?.path, others.length], ['/{id}/readings', 0]);
        assert.ok(first!.tags.includes('x-team-blue'));
        assert.match(Buffer.from(first!.raw_request, 'base64').toString(), /^GET /);
      }),
  },
  tracing: {
    calls: [
      { ask: 'GET /invoices/7', status: 200, sees: { traceparent: /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/ } },
      {
        ask: 'GET /invoices/7',
        headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
        status: 200,
        sees: { traceparent: /^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/ },
      },
    ],
    afterwards: (at, apiId) =>
      eventually(async () => {
        const tags = (await listLogs(at, apiId)).flatMap(it => it.tags);
        assert.ok(tags.includes('trace-id-0af7651916cd43dd8448eb211c80319c'));
      }),
  },
};
