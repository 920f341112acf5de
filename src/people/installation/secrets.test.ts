import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { createAuthenticators } from './authenticate.ts';
import { bootstrap, rotateCredentials } from './bootstrap.ts';
import { createInstallationSecretStore, secretNames } from './secrets.ts';

onEveryEngine('secrets of the installation', app => {
  const services = () => app().application.installation.services;
  const openStore = (flags: Record<string, string> = {}) =>
    createInstallationSecretStore(services().meta, services().vault, readSettings({ flags }));
  const authenticators = () => createAuthenticators(services().users, services().resolveActor, openStore());

  test('a secret matches its own name only, and no empty or other value', async () => {
    const store = openStore();
    const { admin_secret, gateway_secret, portal_token } = app().credentials;
    assert.deepEqual(await Promise.all(secretNames.map(store.read)), [admin_secret, gateway_secret, portal_token]);
    assert.equal(await store.matches('admin', admin_secret), true);
    for (const candidate of ['', gateway_secret, `${admin_secret}x`])
      assert.equal(await store.matches('admin', candidate), false);
  });

  test('a setting fixes a secret: it is the one that matches, and a renewal does not change it', async () => {
    const fixed = openStore({ 'admin.secret': 'fixed secret of a test' });
    await fixed.renew('admin');
    assert.equal(await fixed.read('admin'), 'fixed secret of a test');
    assert.equal(await fixed.matches('admin', 'fixed secret of a test'), true);
    assert.equal(await fixed.matches('admin', app().credentials.admin_secret), false);
    assert.equal(await openStore().read('admin'), app().credentials.admin_secret);
  });

  test('a secret that was never stored matches nothing', async () => {
    const { db } = app().application.installation.records;
    const row = await db.selectFrom('meta').selectAll().where('name', '=', 'secret.portal').executeTakeFirstOrThrow();
    await db.deleteFrom('meta').where('name', '=', 'secret.portal').execute();
    try {
      assert.equal(await openStore().read('portal'), '');
      for (const candidate of ['', app().credentials.portal_token])
        assert.equal(await openStore().matches('portal', candidate), false);
    } finally {
      await db.insertInto('meta').values(row).execute();
    }
  });

  test('credentials longer than 4096 characters are refused, also where they are right', async () => {
    const long = 'x'.repeat(4097);
    const store = openStore({ 'admin.secret': long });
    const { admin } = createAuthenticators(services().users, services().resolveActor, store);
    assert.equal(await admin(long), undefined);
    const longest = openStore({ 'admin.secret': long.slice(1) });
    const accepting = createAuthenticators(services().users, services().resolveActor, longest);
    assert.equal((await accepting.admin(long.slice(1)))?.surface, 'admin');
    const { dashboard } = authenticators();
    const body = { email_address: 'long@example.org', first_name: 'A', last_name: 'B', active: true };
    const { Meta } = (await app().ask('POST', '/admin/users', { body })).body;
    for (const [key, id] of [
      [long, undefined],
      [long.slice(1), Meta.id],
    ] as const) {
      await services().users.change({ id: Meta.id }, user => ({ ...user, access_key: key }));
      assert.equal((await dashboard(key))?.id, id);
    }
  });

  test('each surface accepts its own secret, and an access key of an active user is one of the dashboard', async () => {
    const { admin, gateway, portal, dashboard } = authenticators();
    const { admin_secret, gateway_secret, portal_token, admin_access_key } = app().credentials;
    const surfaceOf = async (actor: ReturnType<typeof admin>) => (await actor)?.surface;
    assert.deepEqual(
      await Promise.all([admin(admin_secret), gateway(gateway_secret), portal(portal_token)].map(surfaceOf)),
      ['admin', 'gateway', 'portal'],
    );
    assert.equal(await surfaceOf(dashboard(admin_access_key)), 'dashboard');
    for (const refused of [admin(gateway_secret), gateway(admin_secret), portal(admin_secret), dashboard(admin_secret)])
      assert.equal(await refused, undefined);
  });

  test('a second start creates no credentials; a rotation replaces all, and the old ones are refused', async () => {
    const { meta, organisations, users, clock, settings } = services();
    const { records } = app().application.installation;
    const parts = { records, meta, organisations, users, secrets: openStore(), clock, settings };
    assert.equal(await bootstrap(parts), undefined);
    const before = app().credentials;
    const after = (await rotateCredentials(parts))!;
    assert.deepEqual([after.organisation_id, after.admin_email], [before.organisation_id, before.admin_email]);
    assert.match(after.admin_password, /^\S{20}$/);
    const { admin, dashboard } = authenticators();
    for (const name of [
      'admin_password',
      'admin_access_key',
      'admin_secret',
      'gateway_secret',
      'portal_token',
    ] as const)
      assert.notEqual(after[name], before[name]);
    assert.deepEqual(
      [await admin(before.admin_secret), await dashboard(before.admin_access_key)],
      [undefined, undefined],
    );
    assert.equal((await dashboard(after.admin_access_key))?.name, before.admin_email);
    const credentials = { username: after.admin_email, password: after.admin_password };
    const signIn = await app().ask('POST', '/api/session', { credential: null, body: credentials });
    assert.equal(signIn.status, 200, signIn.text);
  });
});
