import { before, describe } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { dashboardPages } from '../support/dashboard-pages.ts';
import { testPages } from '../support/page-walk.ts';

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

  testPages(dashboard, {
    pages: dashboardPages.events,
    person: () => admin,
    depth: 'buttons',
    resolve: path => path.replace(':hook', hookId),
  });
});
