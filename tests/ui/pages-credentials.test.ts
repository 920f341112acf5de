import { before, describe } from 'node:test';
import type { Person } from '../support/browser.ts';
import { makeAuthority, makeClientCertificate } from '../support/certificates.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { dashboardPages } from '../support/dashboard-pages.ts';
import { testPages } from '../support/page-walk.ts';

const api = {
  api_id: 'shop',
  name: 'Shop',
  use_keyless: false,
  use_oauth2: true,
  proxy: { listen_path: '/shop/', target_url: 'http://127.0.0.1:9' },
};

describe('Pages of certificates and OAuth clients', () => {
  const dashboard = testDashboard();
  let admin: Person;
  let certificate = '';
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    await ask('POST', '/api/apis?wait=applied', { body: { api_definition: api } });
    const client = { client_id: 'app', client_name: 'Shop app', redirect_uri: 'https://shop.example.org/callback' };
    await ask('POST', '/api/apis/oauth/shop', { body: client });
    const { certPem } = makeClientCertificate(makeAuthority(), 'partner');
    const form = new FormData();
    form.append('data', new Blob([certPem]), 'partner.pem');
    certificate = (await ask('POST', '/api/certs', { body: form })).body.id;
  });

  testPages(dashboard, {
    pages: dashboardPages.credentials,
    person: () => admin,
    depth: 'buttons',
    resolve: path => path.replace(':certificate', certificate),
  });
});
