import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyPassword } from '#base/passwords.ts';
import { onEveryEngine } from '../../tests/support/app.ts';
import { requestPortal } from '../../tests/support/portal.ts';
import { bootstrapPortal } from './bootstrap.ts';

onEveryEngine('portal bootstrap', app => {
  test('a new portal has an administrator, an organisation with its team, two catalogues and a provider', async () => {
    const user = await requestPortal(app(), 'GET', '/portal-api/users/1');
    assert.deepEqual([user.Role, user.OrganisationID, user.Teams], ['super-admin', 0, []]);
    assert.equal(user.Email, app().credentials.admin_email);
    const organisation = await requestPortal(app(), 'GET', '/portal-api/organisations/1');
    assert.equal(organisation.Name, 'Default Organisation');
    assert.deepEqual(organisation.Teams, [{ ID: 1, Name: 'Default Organisation All users', Default: true }]);
    const shelves = await requestPortal(app(), 'GET', '/portal-api/catalogues');
    assert.deepEqual(
      shelves.map((it: { ID: number; Name: string; VisibilityStatus: string }) => [
        it.ID,
        it.Name,
        it.VisibilityStatus,
      ]),
      [
        [2, 'Private Catalogue', 'Private'],
        [1, 'Public Catalogue', 'Public'],
      ],
    );
    const provider = await requestPortal(app(), 'GET', '/portal-api/providers/1');
    assert.deepEqual([provider.Name, provider.Type, provider.Status], ['Gatewright', 'gw-pro', 'Unknown']);
  });

  test('the first dashboard administrator signs in to the portal with the same password', async () => {
    const stored = await app().application.installation.services.portal.users.get(1);
    assert.ok(await verifyPassword(app().credentials.admin_password, stored!.Password));
  });

  test('bootstrap runs once, also with repeated and concurrent starts', async () => {
    const { services, records } = app().application.installation;
    await records.db.deleteFrom('meta').where('name', '=', 'portal_bootstrap').execute();
    const tables = [
      'portal_users',
      'portal_organisations',
      'portal_teams',
      'portal_catalogues',
      'portal_pages',
    ] as const;
    for (const table of tables) await records.db.deleteFrom(table).execute();
    await Promise.all([bootstrapPortal(services), bootstrapPortal(services), bootstrapPortal(services)]);
    await bootstrapPortal(services);
    assert.equal((await requestPortal(app(), 'GET', '/portal-api/users')).length, 1);
    assert.equal((await requestPortal(app(), 'GET', '/portal-api/catalogues')).length, 2);
    assert.equal((await requestPortal(app(), 'GET', '/portal-api/organisations')).length, 1);
    const pages: { Path: string }[] = await requestPortal(app(), 'GET', '/portal-api/pages');
    assert.deepEqual(
      pages.map(({ Path }) => Path),
      ['/portal/catalogue-products', '/about-us', '/'],
    );
  });
});
