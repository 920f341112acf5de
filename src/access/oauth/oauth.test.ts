import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, onEveryEngine, rememberSecrets, type TestApp } from '../../../tests/support/app.ts';

const members = [
  'api_id',
  'client_id',
  'client_name',
  'description',
  'meta_data',
  'policy_id',
  'redirect_uri',
  'secret',
];

/** An organisation with an API that hands out tokens. */
async function tenant(app: TestApp) {
  const { accessKey, orgId } = await app.stranger();
  const ask = (method: string, path: string, body?: unknown) =>
    app.ask(method, path, { credential: accessKey, ...(body === undefined ? {} : { body }) });
  const definition = {
    name: 'Tokens',
    proxy: { listen_path: `/${orgId}/`, target_url: 'http://127.0.0.1:1' },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    use_oauth2: true,
  };
  const { body } = await ask('POST', '/api/apis', { api_definition: definition });
  const path = `/api/apis/oauth/${body.ID}`;
  const make = async (client: object = {}) => {
    const made = await ask('POST', path, client);
    assert.equal(made.status, 200, made.text);
    rememberSecrets({ secret: made.body.secret });
    return made.body;
  };
  return { ask, make, path, apiId: body.ID as string, databaseId: body.Meta as string };
}

function expectError(answer: Answer, status: number, message: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.body.Message ?? answer.body.message, message);
}

onEveryEngine('OAuth clients', app => {
  const matches = (apiId: string, clientId: string, secret: string) =>
    app().application.installation.services.oauthClients.clientSecretMatches(apiId, clientId, secret);
  const rotate = (apiId: string, clientId: string) => app().ask('PUT', `/gw/oauth/clients/${apiId}/${clientId}/rotate`);

  test('an empty body creates a client with generated id and secret, and every member is returned', async () => {
    const { ask, make, path, apiId, databaseId } = await tenant(app());
    const made = await make();
    assert.deepEqual(Object.keys(made).sort(), members);
    assert.equal(made.api_id, apiId);
    assert.match(made.client_id, /^[0-9a-f]{32}$/);
    assert.ok(made.secret.length >= 40);
    assert.equal(made.meta_data, null);
    for (const ref of [apiId, databaseId])
      assert.deepEqual((await ask('GET', `/api/apis/oauth/${ref}/${made.client_id}`)).body, made);
    assert.ok(await matches(apiId, made.client_id, made.secret));
    assert.equal((await ask('DELETE', `${path}/${made.client_id}`)).body.Message, 'OAuth client deleted successfully');
    expectError(await ask('GET', `${path}/${made.client_id}`), 404, /^OAuth Client ID not found$/);
    assert.equal(await matches(apiId, made.client_id, made.secret), false);
  });

  test('sent members are stored; a second client with the id is a conflict', async () => {
    const { ask, make, path } = await tenant(app());
    await ask('POST', '/api/portal/policies', { id: 'pol', name: 'Pol' });
    const sent = {
      client_id: 'mine',
      secret: 'a secret of mine',
      redirect_uri: 'https://a.example/back,myapp://back',
      policy_id: 'pol',
      description: 'A shop',
      client_name: 'Shop',
      meta_data: { tier: 1 },
      dcr_registration: { access_token: 'registration token', client_uri: 'https://idp.example/c', provider: 'idp' },
    };
    const { api_id, ...made } = await make(sent);
    assert.deepEqual(made, sent);
    assert.deepEqual((await ask('GET', `${path}/mine`)).body, { ...sent, api_id });
    assert.ok(!/a secret of mine|registration token/.test((await ask('GET', path)).text));
    expectError(await ask('POST', path, sent), 409, /client_id already exists/);
    const { records } = app().application.installation;
    const kept = JSON.stringify(await records.db.selectFrom('oauth_clients').selectAll().execute());
    assert.ok(!kept.includes('a secret of mine') && !kept.includes('registration token'));
  });

  test('the list has pages, newest first, without secrets', async () => {
    const { ask, make, path } = await tenant(app());
    assert.deepEqual((await ask('GET', path)).body, { apps: [], pages: 1 });
    for (let n = 1; n <= 11; n++) await make({ client_id: `client-${n}` });
    const { body, text } = await ask('GET', path);
    assert.deepEqual([body.apps.length, body.pages, body.apps[0].client_id], [10, 2, 'client-11']);
    assert.deepEqual(Object.keys(body.apps[0]).sort(), members);
    assert.ok(
      body.apps.every((client: { secret: string }) => client.secret === ''),
      text,
    );
    assert.equal((await ask('GET', `${path}?p=2`)).body.apps.length, 1);
    assert.equal((await ask('GET', `${path}?p=-1`)).body.apps.length, 11);
    assert.deepEqual((await ask('GET', `${path}?p=3`)).body, { apps: [], pages: 2 });
  });

  test('rotating replaces the secret; the old one stops working at once', async () => {
    const { ask, make, path, apiId, databaseId } = await tenant(app());
    const made = await make({ client_id: 'spin', description: 'Spins', meta_data: { a: 1 } });
    const first = await rotate(apiId, 'spin');
    assert.equal(first.status, 200, first.text);
    assert.deepEqual(Object.keys(first.body).sort(), members);
    assert.deepEqual({ ...first.body, secret: '' }, { ...made, secret: '' });
    const second = await rotate(databaseId, 'spin');
    const secrets = [made.secret, first.body.secret, second.body.secret];
    assert.equal(new Set(secrets).size, 3);
    rememberSecrets({ first: secrets[1], second: secrets[2] });
    assert.deepEqual(await Promise.all(secrets.map(secret => matches(apiId, 'spin', secret))), [false, false, true]);
    assert.equal((await ask('GET', `${path}/spin`)).body.secret, secrets[2]);
    assert.equal(await matches(apiId, 'spin', ''), false);
    assert.equal(await matches(apiId, 'nobody', secrets[2]), false);
  });

  test('rotating an unknown client or API is 404 in the error format of the surface', async () => {
    const { apiId } = await tenant(app());
    const unknownApi = await rotate('nothing', 'x');
    assert.equal(unknownApi.status, 404);
    assert.deepEqual(unknownApi.body, { status: 'error', message: "API doesn't exist" });
    const unknownClient = await rotate(apiId, 'x');
    assert.equal(unknownClient.status, 404);
    assert.deepEqual(unknownClient.body, { status: 'error', message: 'OAuth Client ID not found' });
  });

  test('clients of another organisation are not found; deleting an API removes its clients', async () => {
    const theirs = await tenant(app());
    const { client_id, secret } = await theirs.make();
    const { ask } = await tenant(app());
    for (const method of ['GET', 'DELETE'])
      expectError(await ask(method, `${theirs.path}/${client_id}`), 404, /^API doesn't exist$/);
    expectError(await ask('GET', theirs.path), 404, /^API doesn't exist$/);
    expectError(await ask('POST', theirs.path, {}), 404, /^API doesn't exist$/);
    assert.equal((await theirs.ask('DELETE', `/api/apis/${theirs.apiId}`)).status, 200);
    assert.equal(await matches(theirs.apiId, client_id, secret), false);
  });

  test('invalid members of a client are refused with their path', async () => {
    const { ask, path } = await tenant(app());
    const post = (client: unknown) => ask('POST', path, client);
    const inDisguise = [
      'java\nscript:alert(1)',
      '\u0001javascript:alert(1)',
      'https://ok.example,java\tscript:alert(1)',
    ];
    const wrong = ['/relative', 'javascript:alert(1)', 'https://a.example/#f', 'https://a.example,nowhere'];
    for (const uri of [...wrong, ...inDisguise, 'https://a.example/ b'])
      expectError(await post({ redirect_uri: uri }), 400, /^redirect_uri: must be absolute/);
    expectError(await post({ policy_id: 'none' }), 400, /^policy_id: there is no policy none$/);
    expectError(await post({ meta_data: 'x' }), 400, /^meta_data: /);
    expectError(await post({ client_id: 'a b' }), 400, /^client_id: /);
    expectError(await post({ secret: 5 }), 400, /^secret: /);
  });
});
