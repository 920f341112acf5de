import { before, describe } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { dashboardPages } from '../support/dashboard-pages.ts';
import { testPages } from '../support/page-walk.ts';

const api = {
  api_id: 'orders',
  name: 'Orders',
  use_standard_auth: true,
  auth: { auth_header_name: 'Authorization' },
  proxy: { listen_path: '/orders/', target_url: 'http://127.0.0.1:9', strip_listen_path: true },
};
const rights = { orders: { api_id: 'orders', api_name: 'Orders', versions: ['Default'] } };

describe('Pages of access', () => {
  const dashboard = testDashboard();
  let admin: Person;
  let keyHash = '';
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: api } });
    for (const [id, name, rate] of [
      ['starter', 'Starter', 100],
      ['partner', 'Partner with a long name for a narrow screen', 500],
    ] as const) {
      const quota = { quota_max: rate * 100, quota_renewal_rate: 86_400 };
      await ask('POST', '/api/portal/policies', { body: { id, name, rate, per: 60, ...quota, access_rights: rights } });
    }
    const key = { alias: 'First client', apply_policies: ['starter', 'partner'] };
    keyHash = (await ask('POST', '/api/keys', { body: key })).body.key_hash;
    await ask('POST', '/api/keys', { body: { alias: 'Second', access_rights: rights, quota_max: 10, tags: ['a'] } });
  });

  testPages(dashboard, {
    pages: dashboardPages.access,
    person: () => admin,
    depth: 'buttons',
    resolve: path => path.replace(':key', keyHash),
  });
});
