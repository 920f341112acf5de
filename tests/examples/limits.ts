import type { Example } from './example.ts';

/** Rate limits, quotas, size limits and caching. */

const withKey = { Authorization: '$KEY' };
const tooMany = { status: 429, says: /Rate Limit Exceeded/, tells: { 'retry-after': /\d/ }, reaches: null };

export const limits: Readonly<Record<string, Example>> = {
  'limit-api': {
    calls: [
      { ask: 'GET /quotes/today', status: 200 },
      { ask: 'GET /quotes/today', status: 200 },
      { ask: 'GET /quotes/today', status: 429, says: /API Rate Limit Exceeded/, reaches: null },
    ],
  },
  'limit-endpoint': {
    calls: [
      { ask: 'GET /search/deep', status: 200 },
      { ask: 'GET /search/deep', status: 429, reaches: null },
      { ask: 'GET /search/quick', status: 200 },
    ],
  },
  'limit-key': {
    async after(at, id) {
      const right = { api_id: id, versions: ['Default'], allowed_urls: [{ url: '/[a-z]+', methods: ['GET'] }] };
      const policy = { id: 'traders', rate: 2, per: 3600, quota_max: 100, quota_renewal_rate: 3600 };
      await at.manage('POST', '/gw/policies', { ...policy, access_rights: { [id]: right } });
      return { KEY: await at.key(id, { access_rights: undefined, apply_policies: ['traders'] }) };
    },
    calls: [
      { ask: 'GET /stocks/acme', headers: withKey, status: 200, tells: { 'x-ratelimit-remaining': '99' } },
      { ask: 'GET /stocks/7', headers: withKey, status: 403, says: /disallowed/, reaches: null },
      { ask: 'GET /stocks/gw/rate-limits/', headers: withKey, status: 200, says: /"requests": ?2/, reaches: null },
      { ask: 'GET /stocks/acme', headers: withKey, status: 200 },
      { ask: 'GET /stocks/acme', headers: withKey, ...tooMany },
    ],
  },
  'limit-none': {
    after: async (at, id) => ({
      KEY: await at.key(id, { rate: 1, per: 3600, quota_max: 1, quota_renewal_rate: 3600 }),
    }),
    calls: [
      { ask: 'GET /status/now', headers: withKey, status: 200 },
      { ask: 'GET /status/now', headers: withKey, status: 200 },
    ],
  },
  'limit-organisation': {
    settings: { 'limits.organisations': 'true' },
    async after(at) {
      await at.manage('POST', `/gw/org/keys/${at.app.credentials.organisation_id}?reset_quota=1`, {
        rate: 2,
        per: 3600,
      });
      return {};
    },
    calls: [
      { ask: 'GET /archive/1999', status: 200 },
      { ask: 'GET /archive/1999', status: 200 },
      { ask: 'GET /archive/1999', status: 403, reaches: null },
    ],
  },
  'size-limit': {
    calls: [
      { ask: 'POST /uploads/notes', body: 'x'.repeat(100), status: 200 },
      { ask: 'POST /uploads/notes', body: 'x'.repeat(101), status: 400, says: /Request is too large/, reaches: null },
      { ask: 'POST /uploads/files', body: 'x'.repeat(101), status: 200 },
      { ask: 'POST /uploads/files', body: 'x'.repeat(1001), status: 400, reaches: null },
    ],
  },
  cache: {
    calls: [
      { ask: 'GET /forecast/oslo', status: 200, reaches: 'GET /oslo', tells: { 'x-gw-cached-response': null } },
      { ask: 'GET /forecast/oslo', status: 200, reaches: null, tells: { 'x-gw-cached-response': '1' } },
      { ask: 'GET /forecast/oslo', headers: { 'Accept-Language': 'nb' }, status: 200, reaches: 'GET /oslo' },
    ],
  },
  'cache-http': {
    answer(request, response) {
      const isMatch = request.headers['if-none-match'] === '"7"';
      const control = request.url === '/today' ? 'public, max-age=60' : 'no-cache';
      response.writeHead(isMatch ? 304 : 200, { 'cache-control': control, etag: '"7"' }).end(isMatch ? '' : 'news');
    },
    calls: [
      { ask: 'GET /bulletins/today', status: 200, reaches: 'GET /today', tells: { 'x-gw-cached-response': null } },
      { ask: 'GET /bulletins/today', status: 200, says: /news/, reaches: null, tells: { 'x-gw-cached-response': '1' } },
      { ask: 'GET /bulletins/latest', status: 200, reaches: 'GET /latest', tells: { 'x-gw-cached-response': null } },
      {
        ask: 'GET /bulletins/latest',
        status: 200,
        says: /news/,
        reaches: 'GET /latest',
        sees: { 'if-none-match': '"7"' },
        tells: { 'x-gw-cached-response': 'validated' },
      },
    ],
  },
  'cache-endpoint': {
    calls: [
      { ask: 'POST /routes/find', body: '{"to": "rome", "by": "ann"}', status: 200, reaches: 'POST /find' },
      { ask: 'POST /routes/find', body: '{"to": "rome", "by": "bob"}', status: 200, reaches: null },
      { ask: 'POST /routes/find', body: '{"to": "oslo", "by": "ann"}', status: 200, reaches: 'POST /find' },
      { ask: 'GET /routes/countries', status: 200, reaches: 'GET /countries' },
      { ask: 'GET /routes/countries', status: 200, reaches: null },
    ],
  },
};
