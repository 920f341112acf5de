import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRecoveryCodeSet, createTotpSecret, toTotpStep } from '#base/totp.ts';
import { hashWebAppSources, installedBuilds } from '#operations/web-app/location.ts';
import { createWebApp } from '#operations/web-app/web-app.ts';
import { startApp, type TestApp } from '../../../tests/support/app.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, signedInClient } from '../../../tests/support/site-client.ts';
import { signInToSite } from '../../../tests/support/site-session.ts';
import { toSessionOwner } from '../users/session-owner.ts';

const profile = '/portal/private/profile';
const required = `${profile}?required=second-factor`;

async function addFactor(app: TestApp, userId: number) {
  const { portal, clock } = app.application.installation.services;
  const owner = { id: toSessionOwner(userId), org_id: '' };
  const step = toTotpStep(clock.now());
  await portal.factors.activateTotp(owner, createTotpSecret(), step, createRecoveryCodeSet(), clock.now());
}

/** Statuses of `/portal-api` with the session of a user. */
async function askWithSession(app: TestApp, user: { Email: string; Password: string }) {
  const cookie = await signInToSite(app, user);
  const response = await fetch(`${app.url.portal}/portal-api/tags`, { headers: { cookie } });
  await response.body?.cancel();
  return response.status;
}

/** With the routes of the admin app, whose build is not needed: it is not sent. */
const webApp = createWebApp({ directories: [installedBuilds], hashSources: hashWebAppSources });

describe('portal.second_factor', () => {
  test('all: a session without an authenticator app opens the profile alone, and everything with one', async () => {
    const app = await startApp('sqlite', { webApp, settings: { 'portal.second_factor': 'all' } });
    try {
      const user = await addSiteDeveloper(app);
      const client = await signedInClient(app, user);
      for (const path of ['/portal/private/apps', '/portal/private/analytics', '/portal/private/users'])
        assert.equal((await client.get(path)).location, required, path);
      assert.equal((await client.get('/portal/private/api/me')).status, 403);
      assert.equal((await client.get('/portal/catalogue-products')).status, 200, 'public pages are public');
      assert.match((await client.get(required)).text, /requires a second factor/);
      for (const path of ['/portal/private/apps', '/portal/private/api/try'])
        assert.equal((await client.post(path, { client_name: 'x' })).location, required, path);
      assert.equal((await client.post(`${profile}/second-factor`, { password: user.Password })).status, 200);
      const admin = await addSiteDeveloper(app, { Role: 'provider-admin' });
      assert.equal(await askWithSession(app, admin), 401);
      assert.equal((await (await signedInClient(app, admin)).get('/admin')).location, required);
      await addFactor(app, user.ID);
      assert.equal((await client.get('/portal/private/apps')).status, 200);
      assert.equal((await client.get('/portal/private/api/me')).status, 200);
    } finally {
      await app.close();
    }
  });

  test('administrators: developers and users of single sign-on are not asked', async () => {
    const app = await startApp('sqlite', { webApp, settings: { 'portal.second_factor': 'administrators' } });
    try {
      const developer = await signedInClient(app, await addSiteDeveloper(app));
      assert.equal((await developer.get('/portal/private/apps')).status, 200);
      const user = await addSiteDeveloper(app, { Role: 'provider-admin' });
      const admin = await signedInClient(app, user);
      assert.equal((await admin.get('/admin')).location, required);
      const { users } = app.application.installation.services.portal;
      await users.change(user.ID, it => ({ ...it, Provider: 'company' }));
      assert.notEqual((await admin.get('/admin')).location, required);
      assert.equal((await createSiteClient(app).get('/')).status, 200);
    } finally {
      await app.close();
    }
  });
});
