import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, openBench } from '../../../tests/support/step-harness.ts';

describe('strip_auth_data', () => {
  let bench: Bench;
  let keyId: string;
  before(async () => {
    bench = await openBench();
    keyId = await bench.key({ access_rights: { bench: {} } });
  });
  after(() => bench.close());
  const createRequest = () => ({
    target: `/?a=1&key=x&b=%20&k%65y=y`,
    headers: { 'X-Key': keyId, 'x-key': keyId, Cookie: 'a=1; key=2; keys=3; key=4', Authorization: 'other' },
  });
  const definition = {
    auth_configs: { authToken: { auth_header_name: 'X-Key', use_param: false, param_name: 'key', cookie_name: 'key' } },
  };

  test('credentials are forwarded without strip_auth_data', async () => {
    const { call } = await bench.send(await bench.compile(definition), createRequest());
    assert.equal(call.headers.all('x-key').length, 2);
  });

  test('the configured header, parameter and cookie are stripped, and nothing else', async () => {
    const api = await bench.compile({
      strip_auth_data: true,
      auth_configs: { authToken: { ...definition.auth_configs.authToken, use_param: true, use_cookie: true } },
    });
    const { call } = await bench.send(api, {
      ...createRequest(),
      change: it => it.headers.set('Cookie', `key=${keyId}; a=1; keys=3`),
    });
    assert.equal(call.session?.orgId !== undefined, true);
    assert.equal(call.headers.has('x-key'), false);
    assert.equal(call.headers.get('authorization'), 'other');
    assert.equal(call.headers.get('cookie'), 'a=1; keys=3');
    assert.equal(call.query, 'a=1&b=%20');
  });

  test('disabled credential sources are not stripped', async () => {
    const api = await bench.compile({ ...definition, strip_auth_data: true });
    const { call } = await bench.send(api, createRequest());
    assert.equal(call.headers.has('x-key'), false);
    assert.equal(call.headers.get('cookie'), createRequest().headers.Cookie);
    assert.equal(call.query, createRequest().target.slice(2));
  });

  test('credentials are stripped on open endpoints too', async () => {
    const api = await bench.compile({ ...definition, strip_auth_data: true });
    const { call } = await bench.send(api, {
      ...createRequest(),
      change(exchange) {
        exchange.skipsAuth = true;
      },
    });
    assert.equal(call.headers.has('x-key'), false);
  });

  test('credentials of all auth methods are stripped', async () => {
    const api = await bench.compile({
      strip_auth_data: true,
      use_basic_auth: true,
      use_standard_auth: true,
      auth_configs: definition.auth_configs,
    });
    const { call } = await bench.send(api, {
      headers: { ...createRequest().headers, Authorization: 'x' },
      change(exchange) {
        exchange.skipsAuth = true;
      },
    });
    assert.deepEqual([call.headers.has('x-key'), call.headers.has('authorization')], [false, false]);
  });
});
