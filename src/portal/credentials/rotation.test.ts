import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addApi, addApp, addPlan, addProduct } from '../../../tests/support/portal.ts';
import { eventually, startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

onEveryEngine('rotation of portal credentials', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });

  async function aCredential() {
    const name = `rotated-${createPublicId()}`;
    const apiId = await addApi(app(), name, { proxy: { listen_path: `/${name}/`, target_url: upstream.url } });
    const product = await addProduct(app(), { APIDetails: [{ APIID: apiId }] });
    const plan = await addPlan(app(), { RateLimit: 1000, Per: 1 });
    const owned = await addApp(app());
    const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID } = (await ask('PUT', `/apps/${owned.ID}/provision`, body)).body;
    const path = `/apps/${owned.ID}/access-requests/${AccessRequestID}/credentials`;
    const [credential] = (await ask('GET', path)).body;
    await app().application.waitForDataPlane();
    const call = async (authorization: string) =>
      (await fetch(`${app().url.gateway}/${name}/`, { headers: { authorization } })).status;
    const { ID, Credential: key, CredentialHash: hash } = credential;
    return { one: `${path}/${ID}`, key: key as string, hash, call };
  }
  const read = async (one: string) => (await ask('GET', one)).body;

  test('both keys are accepted during an overlap, until it is ended', async () => {
    const { one, key, hash, call } = await aCredential();
    assert.equal((await ask('PUT', `${one}/end-overlap`)).status, 422);
    assert.equal((await ask('PUT', `${one}/rotate?overlap_seconds=3600`)).status, 200);
    await app().application.waitForDataPlane();
    const rotated = await read(one);
    assert.notEqual(rotated.Credential, key);
    assert.equal(rotated.OldCredentialHash, hash);
    assert.match(rotated.OldValidUntil, /^\d{4}-/);
    assert.deepEqual([await call(key), await call(rotated.Credential)], [200, 200]);
    assert.equal((await ask('PUT', `${one}/end-overlap`)).status, 200);
    await app().application.waitForDataPlane();
    assert.deepEqual([await call(key), await call(rotated.Credential)], [403, 200]);
    assert.deepEqual([(await read(one)).OldCredentialHash, (await read(one)).OldValidUntil], ['', '']);
  });

  test('the old key is refused at the end of the overlap, and at once without one', async () => {
    const { one, key, call } = await aCredential();
    await ask('PUT', `${one}/rotate?overlap_seconds=2`);
    const second = (await read(one)).Credential;
    await eventually(async () => assert.equal(await call(key), 403));
    await eventually(async () => assert.equal((await read(one)).OldCredentialHash, ''));
    assert.equal((await app().ask('GET', `/api/keys/${encodeURIComponent(key)}`)).status, 404);
    assert.equal(await call(second), 200);
    await ask('PUT', `${one}/rotate`);
    await app().application.waitForDataPlane();
    assert.deepEqual([await call(second), await call((await read(one)).Credential)], [403, 200]);
  });

  test('an overlap longer than the maximum of the portal is refused, and the key stays', async () => {
    const { one, key } = await aCredential();
    const set = (value: number | null) =>
      ask('PUT', '/general-settings', { 'portal.max_rotation_overlap_seconds': value });
    await set(60);
    try {
      const { status, text } = await ask('PUT', `${one}/rotate?overlap_seconds=61`);
      assert.deepEqual([status, (await read(one)).Credential], [422, key], text);
      assert.match(text, /the old key may stay valid for 60 seconds at most/);
      assert.equal((await ask('PUT', `${one}/rotate?overlap_seconds=60`)).status, 200);
    } finally {
      await set(null);
    }
  });

  test('an expired credential is not rotated: its key would be valid again', async () => {
    const { one, key } = await aCredential();
    const { portal, clock } = app().application.installation.services;
    const { ID } = await read(one);
    await portal.credentials.change(ID, it => ({ ...it, Expires: clock.now() - 1000 }));
    const { status, text } = await ask('PUT', `${one}/rotate`);
    assert.deepEqual([status, (await read(one)).Credential], [422, key], text);
    assert.match(text, /The credential has expired: request access again/);
  });

  test('a rotation during an overlap ends the older key; a revocation ends all', async () => {
    const { one, key, call } = await aCredential();
    await ask('PUT', `${one}/rotate?overlap_seconds=3600`);
    const second = (await read(one)).Credential;
    await ask('PUT', `${one}/rotate?overlap_seconds=3600`);
    const third = (await read(one)).Credential;
    await app().application.waitForDataPlane();
    assert.deepEqual([await call(key), await call(second), await call(third)], [403, 200, 200]);
    assert.equal((await ask('DELETE', one)).status, 200);
    await app().application.waitForDataPlane();
    assert.deepEqual([await call(second), await call(third)], [403, 403]);
  });

  test('an overlap that is too long, or no number, is refused', async () => {
    const { one } = await aCredential();
    for (const overlap of ['7776001', '-1', 'soon'])
      assert.equal((await ask('PUT', `${one}/rotate?overlap_seconds=${overlap}`)).status, 422);
  });
});
