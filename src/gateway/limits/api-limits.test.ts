import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBenches, keySession, limitsBench, orgId } from '../../../tests/support/limit-fixtures.ts';

after(closeBenches);

const key = `apilimiter-${orgId}api`;
const event = { event: 'RatelimitExceeded', message: 'API Rate Limit Exceeded', key };
const withEndpointLists = (extended_paths: object) => ({
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
  },
});

test('API rate limit: all clients share it, with or without keys', async () => {
  const { api, emitted, clock } = limitsBench();
  const { statuses, call } = api({ global_rate_limit: { rate: 3, per: 10 } });
  const session = keySession({});
  assert.deepEqual(await statuses(session, 2, { keyId: 'one' }), [200, 200]);
  assert.deepEqual(await statuses(session, 2, { keyId: 'two' }), [200, 429]);
  assert.deepEqual(emitted, [event]);
  const response = await call(session, { keyId: 'two' });
  assert.equal(response.body.bytes?.toString(), '{\n    "error": "API Rate Limit Exceeded"\n}');
  assert.equal(response.headers.get('retry-after'), '10');
  clock.ms += 10_000;
  assert.deepEqual(await statuses(session, 1), [200]);
  const open = api({ api_id: 'open', use_keyless: true, global_rate_limit: { rate: 1, per: 10 } });
  assert.deepEqual(await open.statuses(undefined, 2), [200, 429]);
});

test('API rate limit: none applies where it is disabled or has no rate or period', async () => {
  const { api } = limitsBench();
  const limits = [
    { rate: 1, per: 10, disabled: true },
    { rate: 0, per: 10 },
    { rate: 1, per: 0 },
  ];
  for (const global_rate_limit of limits)
    assert.deepEqual(await api({ use_keyless: true, global_rate_limit }).statuses(undefined, 2), [200, 200]);
  const skipped = api({ use_keyless: true, disable_rate_limit: true, global_rate_limit: { rate: 1, per: 10 } });
  assert.deepEqual(await skipped.statuses(undefined, 2), [200, 200]);
});

test('endpoint rate limit: replaces that of the API', async () => {
  const { api, emitted } = limitsBench();
  const { statuses } = api({
    use_keyless: true,
    global_rate_limit: { rate: 2, per: 10 },
    ...withEndpointLists({
      rate_limit: [
        { path: '/slow/{id}', method: 'GET', rate: 1, per: 10 },
        { path: '/none', method: 'GET', rate: 0, per: 10 },
        { path: '/off', method: 'GET', rate: 1, per: 10, disabled: true },
      ],
    }),
  });
  assert.deepEqual(await statuses(undefined, 2, { path: '/slow/1' }), [200, 429]);
  assert.deepEqual(emitted, [event]);
  assert.deepEqual(await statuses(undefined, 1, { path: '/slow/2' }), [429], 'one counter for the endpoint');
  assert.deepEqual(await statuses(undefined, 1, { path: '/slow/1', method: 'POST' }), [200]);
  assert.deepEqual(await statuses(undefined, 1, { path: '/none' }), [200]);
  assert.deepEqual(await statuses(undefined, 1, { path: '/off' }), [429]);
});

test('API rate limit: the OpenAPI format sets it for the API and for operations', async () => {
  const { oas } = limitsBench();
  const { statuses } = oas({
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    paths: { '/pets/{id}': { get: { operationId: 'readPet', responses: {} } } },
    'x-gw-api-gateway': {
      info: { id: 'oas', orgId, name: 'Pets', state: { active: true } },
      server: { listenPath: { value: '/pets/' } },
      upstream: { url: 'http://127.0.0.1/', rateLimit: { enabled: true, rate: 2, per: 'PT1M' } },
      middleware: { operations: { readPet: { rateLimit: { enabled: true, rate: 1, per: '1m' } } } },
    },
  });
  assert.deepEqual(await statuses(undefined, 2, { path: '/pets/1' }), [200, 429]);
  assert.deepEqual(await statuses(undefined, 3, { path: '/' }), [200, 200, 429]);
});

test('API rate limit: a refused request counts against rate and quota of its key', async () => {
  const { api } = limitsBench();
  const session = keySession({ rate: 3, per: 60, quota_max: 2, quota_renewal_rate: 60 });
  const { statuses } = api({ global_rate_limit: { rate: 1, per: 1 } });
  assert.deepEqual(await statuses(session, 4), [200, 429, 403, 429]);
});
