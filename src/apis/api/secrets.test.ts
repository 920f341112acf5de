import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../../tests/support/app.ts';
import { openApi } from '../../../tests/support/traffic.ts';

const secret = 'a secret inside a definition';

async function reader(app: TestApp): Promise<string> {
  const { status, body, text } = await app.ask('POST', '/admin/users', {
    body: {
      org_id: app.credentials.organisation_id,
      first_name: 'Rea',
      last_name: 'Der',
      email_address: `reader-${createPublicId()}@example.com`,
      active: true,
      user_permissions: { apis: 'read' },
    },
  });
  assert.equal(status, 200, text);
  return body.Message;
}

onEveryEngine('secrets inside definitions', app => {
  const definition = () =>
    openApi(
      { url: 'http://127.0.0.1:1' },
      {
        jwt_source: secret,
        upstream_auth: { enabled: true, basic_auth: { enabled: true, username: 'ann', password: secret } },
        request_signing: { secret: 'secrets://named' },
      },
    );

  test('a reader without write permission gets masked secrets from every operation; a writer gets them in plain text', async () => {
    const api = definition();
    const { body } = await app().ask('POST', '/api/apis', { body: { api_definition: api } });
    const credential = await reader(app());
    for (const path of [`/api/apis/${body.ID}`, '/api/apis', '/api/apis?compressed=1', '/api/apis/search?q=Test']) {
      const masked = await app().ask('GET', path, { credential });
      assert.equal(masked.status, 200, masked.text);
      assert.ok(!masked.text.includes(secret), path);
    }
    const masked = (await app().ask('GET', `/api/apis/${body.ID}`, { credential })).body.api_definition;
    assert.deepEqual(
      [masked.jwt_source, masked.upstream_auth.basic_auth, masked.request_signing.secret],
      ['********', { enabled: true, username: 'ann', password: '********' }, 'secrets://named'],
    );
    const whole = (await app().ask('GET', `/api/apis/${body.ID}`)).body.api_definition;
    assert.equal(whole.jwt_source, secret);
  });

  test('a mask sent back keeps the stored secret; a mask without a stored secret is rejected', async () => {
    const api = definition();
    const { body } = await app().ask('POST', '/api/apis', { body: { api_definition: api } });
    const masked = (await app().ask('GET', `/api/apis/${body.ID}`, { credential: await reader(app()) })).body;
    const put = await app().ask('PUT', `/api/apis/${body.ID}`, {
      body: { api_definition: { ...masked.api_definition, name: 'renamed' } },
    });
    assert.equal(put.status, 200, put.text);
    const after = (await app().ask('GET', `/api/apis/${body.ID}`)).body.api_definition;
    assert.deepEqual(
      [after.name, after.jwt_source, after.upstream_auth.basic_auth.password],
      ['renamed', secret, secret],
    );
    const fresh = { ...definition(), jwt_source: '********' };
    const refused = await app().ask('POST', '/api/apis', { body: { api_definition: fresh } });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /jwt_source: \*{8} is a masked secret, and no secret is stored here/);
  });
});
