import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { startApp, type TestApp } from '../../tests/support/app.ts';
import { prefersLenient } from './unknown-members.ts';

describe('lenient handling', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite');
  });
  after(() => app?.close());

  const headers = { prefer: 'return=minimal, handling=lenient' };
  const createDefinition = () => ({
    api_id: createPublicId(),
    name: 'Lenient',
    use_keylss: true,
    proxy: { listen_path: `/${createPublicId()}/`, target_url: 'http://127.0.0.1:9' },
  });

  test('a request that prefers it gets warnings in place of errors, and only that request', async () => {
    const body = createDefinition();
    assert.equal((await app.ask('POST', '/gw/apis', { body })).status, 400);
    const accepted = await app.ask('POST', '/gw/apis', { body, headers });
    assert.equal(accepted.status, 200, accepted.text);
    assert.deepEqual(accepted.body.warnings, ['use_keylss: no such member; did you mean use_keyless?']);
    assert.equal(accepted.headers.get('preference-applied'), 'handling=lenient');
    const path = `/gw/apis/${body.api_id}`;
    assert.equal((await app.ask('GET', path)).body.use_keylss, true);
    assert.equal((await app.ask('PUT', path, { body })).status, 400);
    const policy = { id: createPublicId(), name: createPublicId(), raet: 1 };
    const written = await app.ask('POST', '/gw/policies', { body: policy, headers });
    assert.match(String(written.body.warnings), /raet: no such member/);
  });

  test('users of the dashboard cannot override the setting of the operator', async () => {
    const { api_id: _id, ...definition } = createDefinition();
    const refused = await app.ask('POST', '/api/apis', { body: { api_definition: definition }, headers });
    assert.equal(refused.status, 400, refused.text);
    assert.equal(refused.headers.get('preference-applied'), null);
  });

  test('wrong values are errors all the same', async () => {
    const body = { ...createDefinition(), active: 'perhaps' };
    assert.equal((await app.ask('POST', '/gw/apis', { body, headers })).status, 400);
  });

  test('the header is parsed as RFC 7240 has it', () => {
    for (const text of ['handling=lenient', 'Handling = "lenient"', 'wait=1; x=2, handling=lenient; a=b'])
      assert.ok(prefersLenient('gateway', text), text);
    for (const text of [
      '',
      'handling=strict',
      'handling=strict, handling=lenient',
      'x;handling=lenient',
      'lenient',
      `${'a,'.repeat(1000)}handling=lenient`,
    ])
      assert.ok(!prefersLenient('gateway', text), text);
    assert.ok(prefersLenient('admin', 'handling=lenient'));
    assert.ok(!prefersLenient('dashboard', 'handling=lenient') && !prefersLenient('portal', 'handling=lenient'));
  });
});
