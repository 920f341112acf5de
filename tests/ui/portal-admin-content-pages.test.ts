import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import type { TestApp } from '../support/app.ts';
import { testEachPage } from '../support/page-walk.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { adminPages } from '../support/portal-admin-pages.ts';
import type { Developer } from '../support/portal-site.ts';

/** One object of each kind of content and connection. */
async function createContent(app: TestApp): Promise<Record<string, number>> {
  const create = async (path: string, body: object): Promise<number> => {
    const answer = await app.ask('POST', `/portal-api/${path}`, { body });
    assert.ok(answer.status < 300, answer.text);
    return Number(answer.body.ID);
  };
  const labels = { Categories: ['Releases'], Tags: ['orders'] };
  const post = { Title: 'New orders', Content: 'x', Status: 'review', Path: 'new-orders', ...labels };
  const Items = [{ Title: 'Blog', Path: '/blog', Children: [{ Title: 'Gone', Path: '/gone' }] }];
  const oauth = { Name: 'Keycloak of Acme', Type: 'Keycloak', WellKnownURL: 'https://id.example.org/oidc' };
  const webhook = { Name: 'CRM', URL: 'https://crm.example.org/in', Method: 'POST', Events: ['UserRegistered'] };
  const attribute = { Identifier: 'company', Name: 'Company', Type: 1 };
  const provider = await create('oauth-providers', oauth);
  await create(`oauth-providers/${provider}/client-types`, { Name: 'web', GrantType: 'pkce', ResponseTypes: 'code' });
  await create('sso_profiles', {
    ...{ ID: 'company', Name: 'Company', ActionType: 'GenerateOrLoginDeveloperProfile' },
    ...{ ProviderName: 'ADProvider', ProviderConfig: { LDAPServer: 'ldap.example.org' } },
  });
  return {
    post: await create('posts', post),
    menu: await create('menus', { Name: 'Header', Path: 'Primary', Items }),
    oauth: provider,
    webhook: await create('webhooks', webhook),
    attribute: await create('extended_attributes/1/custom-attributes', attribute),
  };
}

describe('Pages of content, connections and settings of the portal admin', () => {
  const portal = testPortalAdmin();
  let admin: Developer;
  let ids: Record<string, number>;
  before(async () => {
    admin = await portal.anAdmin();
    ids = await createContent(portal.app());
  });

  const { people: _people, ...areas } = adminPages;
  for (const [name, pages] of Object.entries(areas))
    describe(name, () =>
      testEachPage({
        pages,
        depth: 'buttons',
        open: () => portal.openAs(admin, '/admin'),
        origin: () => portal.app().url.portal,
        resolve: path => path.replace(/:(\w+)/, (_whole, id: string) => String(ids[id])),
      }),
    );
});
