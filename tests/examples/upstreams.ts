import assert from 'node:assert/strict';
import { eventually } from '../support/upstream.ts';
import type { Example } from './example.ts';
import type { Place } from './place.ts';

/** Where calls go, and how the gateway shows there who it is. */

const grants = async ({ partner }: Place, grant: string) => {
  partner.pages['/token'] = (body: string) =>
    body.includes(`grant_type=${grant}`)
      ? { access_token: `token-of-${grant}`, token_type: 'Bearer', expires_in: 3600 }
      : { error: 'unsupported_grant_type' };
  return {};
};

const isHealthTest = (url: string | undefined) => url === '/health';

export const upstreams: Readonly<Record<string, Example>> = {
  timeout: {
    answer(request, response) {
      if (request.url !== '/report') response.end('in time');
    },
    calls: [
      { ask: 'GET /slow/other', status: 200, says: /^in time$/ },
      { ask: 'GET /slow/report', status: 504, says: /Upstream service reached hard timeout/ },
    ],
  },
  'circuit-breaker': {
    answer: (_request, response) => void response.writeHead(500).end(),
    calls: [
      { ask: 'GET /fragile/price', status: 500 },
      { ask: 'GET /fragile/price', status: 503, says: /unavailable/, reaches: null, eventually: true },
      { ask: 'GET /fragile/other', status: 500, reaches: 'GET /other' },
    ],
  },
  'load-balancing': {
    calls: [
      { ask: 'GET /news/today', status: 200, reaches: 'GET /today' },
      { ask: 'GET /news/today', status: 200, reaches: 'GET /today', elsewhere: true, eventually: true },
    ],
    async afterwards({ app, upstream, second }) {
      const before = [upstream.requests.length, second.requests.length];
      for (let at = 0; at < 6; at++) await (await fetch(`${app.url.gateway}/news/today`)).text();
      assert.deepEqual([upstream.requests.length - before[0]!, second.requests.length - before[1]!], [4, 2]);
    },
  },
  discovery: {
    async before({ partner, upstream }) {
      partner.pages['/services/media'] = [{ host: '127.0.0.1', port: upstream.port }];
      // Until the registry has answered, calls would go nowhere else.
      return { 'http://127.0.0.1:9000': 'http://replaced.invalid' };
    },
    calls: [{ ask: 'GET /media/song', status: 200, reaches: 'GET /song', eventually: true }],
  },
  'uptime-tests': {
    async before({ second }) {
      second.answer = (request, response) => void response.writeHead(isHealthTest(request.url) ? 500 : 200).end();
      return {};
    },
    calls: [{ ask: 'GET /radio/jazz', status: 200 }],
    async afterwards({ app, second }) {
      const calls = () => second.requests.filter(({ url }) => !isHealthTest(url)).length;
      await eventually(async () => {
        const before = calls();
        for (let at = 0; at < 6; at++) await (await fetch(`${app.url.gateway}/radio/jazz`)).text();
        assert.equal(calls(), before, 'the host that fails its tests still gets calls');
      });
      assert.ok(second.requests.some(({ url }) => isHealthTest(url)));
    },
  },
  'request-signing': {
    calls: [
      {
        ask: 'GET /warehouse/shelves',
        status: 200,
        sees: {
          date: /GMT/,
          'x-signature': /^Signature keyId="gateway",algorithm="hmac-sha256",headers="\(request-target\) date",/,
        },
      },
    ],
  },
  'upstream-basic': {
    calls: [
      {
        ask: 'GET /printing/jobs',
        headers: { Authorization: 'of the caller' },
        status: 200,
        sees: { authorization: `Basic ${Buffer.from('gateway:REPLACE-WITH-THE-PASSWORD').toString('base64')}` },
      },
    ],
  },
  'upstream-oauth': {
    before: at => grants(at, 'client_credentials'),
    calls: [{ ask: 'GET /billing/bills', status: 200, sees: { authorization: 'Bearer token-of-client_credentials' } }],
  },
  'upstream-password-grant': {
    before: at => grants(at, 'password'),
    calls: [{ ask: 'GET /salaries/mine', status: 200, sees: { authorization: 'Bearer token-of-password' } }],
  },
  'upstream-certificate': {
    before: async at => ({ 'ID-OF-THE-GATEWAY-CERTIFICATE': await at.certificate(at.own.certPem + at.own.keyPem) }),
    calls: [{ ask: 'GET /bank/accounts', status: 200, says: /"caller":"The gateway"/ }],
  },
  pinning: {
    before: async at => ({ 'ID-OF-THE-PUBLIC-KEY': await at.certificate(at.secure.publicKeyPem) }),
    calls: [{ ask: 'GET /vault/items', status: 200, says: /"url":"\/items"/ }],
  },
};
