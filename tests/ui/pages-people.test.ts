import { before, describe } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { dashboardPages } from '../support/dashboard-pages.ts';
import { testPages } from '../support/page-walk.ts';

describe('Pages of people', () => {
  const dashboard = testDashboard();
  let admin: Person;
  const ids = { user: '', group: '', profile: '' };
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    const permissions = { apis: 'read', keys: 'write' };
    const group = { name: 'Support', description: 'First level', user_permissions: permissions };
    ids.group = (await ask('POST', '/api/usergroups', { body: group })).body.Meta;
    const user = await dashboard.addPerson({
      first_name: 'Ada',
      last_name: 'Byron',
      group_id: ids.group,
      user_permissions: permissions,
    });
    ids.user = user.id;
    const provider = {
      Name: 'openid-connect',
      Key: 'client',
      Secret: 'secret of the client',
      DiscoverURL: 'https://id.example.org/.well-known/openid-configuration',
    };
    const profile = {
      Name: 'Company login',
      ProviderName: 'SocialProvider',
      ProviderConfig: { UseProviders: [provider] },
      UserGroupMapping: { staff: ids.group },
    };
    ids.profile = (await ask('POST', '/api/sso/profiles', { body: profile })).body.Meta;
  });

  const resolve = (path: string) =>
    path.replace(':user', ids.user).replace(':group', ids.group).replace(':profile', ids.profile);
  testPages(dashboard, { pages: dashboardPages.people, person: () => admin, depth: 'buttons', resolve });
});
