import { before, describe } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { type PageList, testPages } from '../support/page-walk.ts';

const pages: PageList = {
  '/webhooks': /^Webhooks$/,
  '/webhooks/new': /^New webhook$/,
  '/webhooks/:hook': /^Alarms$/,
  '/webhooks/:hook?tab=deliveries': /^Alarms$/,
  '/webhooks/:hook?tab=secret': /^Alarms$/,
  '/deliveries': /^Deliveries$/,
};

describe('Pages of events', () => {
  const dashboard = testDashboard();
  let admin: Person;
  let hookId = '';
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const body = {
      name: 'Alarms',
      method: 'POST',
      target_path: 'https://hooks.example.org/a/rather/long/path?with=a&query=too',
      header_map: { 'x-team': 'payments' },
      template_path: '{"text": "{{.Meta.Message}}"}',
    };
    hookId = (await dashboard.app().ask('POST', '/api/hooks', { body })).body.ID;
  });

  testPages(dashboard, { pages, person: () => admin, resolve: path => path.replace(':hook', hookId) });
});
