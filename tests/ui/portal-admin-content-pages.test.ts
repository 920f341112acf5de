import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import type { TestApp } from '../support/app.ts';
import { type PageList, testEachPage } from '../support/page-walk.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import type { Developer } from '../support/portal-site.ts';

const contentPages: PageList = {
  '/admin': /^Overview$/,
  '/admin/pages': /^Pages$/,
  '/admin/pages/new': /^New page$/,
  '/admin/pages/1': /^Home/,
  '/admin/posts': /^Blog$/,
  '/admin/posts/new': /^New post$/,
  '/admin/posts/:post': /^New orders$/,
};
const lookPages: PageList = {
  '/admin/categories': /^Categories$/,
  '/admin/tags': /^Tags$/,
  '/admin/menus': /^Menus$/,
  '/admin/menus/new': /^New menu$/,
  '/admin/menus/:menu': /^Header$/,
  '/admin/themes': /^Themes$/,
  '/admin/emails': /^E-mails$/,
  '/admin/emails/approve': /^approve$/,
  '/admin/emails/outbox': /^Outbox$/,
};
const connectionPages: PageList = {
  '/admin/providers': /^Providers$/,
  '/admin/providers/new': /^New provider$/,
  '/admin/providers/1': /^Gatewright$/,
  '/admin/oauth2-0-providers': /^OAuth providers$/,
  '/admin/oauth2-0-providers/new': /^New OAuth provider$/,
  '/admin/oauth2-0-providers/:oauth': /^Keycloak of Acme$/,
  '/admin/webhooks': /^Webhooks$/,
  '/admin/webhooks/new': /^New webhook$/,
  '/admin/webhooks/:webhook': /^CRM$/,
  '/admin/custom_attributes': /^Attributes$/,
  '/admin/custom_attributes/new': /^New attribute$/,
  '/admin/custom_attributes/:attribute': /^Company$/,
  '/admin/configuration': /^Configuration$/,
  '/admin/general': /^General$/,
  '/admin/admin_profile': /^Profile$/,
  '/admin/audit': /^Audit$/,
};
const signOnPages: PageList = {
  '/admin/sso_profiles': /^Sign-on$/,
  '/admin/sso_profiles/new': /^New sign-on profile$/,
  '/admin/sso_profiles/company': /^Company$/,
};

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

  for (const [name, pages] of Object.entries({
    content: contentPages,
    looks: lookPages,
    connections: connectionPages,
    'sign-on profiles': signOnPages,
  }))
    describe(name, () =>
      testEachPage({
        pages,
        open: () => portal.openAs(admin, '/admin'),
        origin: () => portal.app().url.portal,
        resolve: path => path.replace(/:(\w+)/, (_whole, id: string) => String(ids[id])),
      }),
    );
});
