import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { dashboardPages } from '../support/dashboard-pages.ts';
import { testPages } from '../support/page-walk.ts';

const document = {
  openapi: '3.0.3',
  info: { title: 'Books', version: '1.0.0' },
  components: { securitySchemes: { authToken: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
  security: [{ authToken: [] }],
  paths: {
    '/books': {
      get: { operationId: 'listBooks', summary: 'Lists books', responses: { 200: { description: 'Books' } } },
      post: { operationId: 'addBook', responses: { 201: { description: 'Added' } } },
    },
    '/books/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      delete: { operationId: 'removeBook', responses: { 204: { description: 'Removed' } } },
    },
  },
  'x-gw-api-gateway': {
    info: { id: 'books', name: 'Books', state: { active: true } },
    server: {
      listenPath: { value: '/books/', strip: true },
      authentication: {
        enabled: true,
        securitySchemes: { authToken: { enabled: true, header: { enabled: true, name: 'Authorization' } } },
      },
    },
    upstream: { url: 'http://127.0.0.1:9' },
    middleware: {
      operations: { listBooks: { allow: { enabled: true }, rateLimit: { enabled: true, rate: 10, per: '1m' } } },
    },
  },
};

describe('Pages of an API', () => {
  const dashboard = testDashboard();
  let admin: Person;
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    const created = await ask('POST', '/api/apis/oas?wait=applied', { body: document });
    assert.equal(created.status, 200, JSON.stringify(created.body));
    const proxy = { listen_path: '/older/', target_url: 'http://127.0.0.1:9' };
    await ask('POST', '/api/apis', { body: { api_definition: { api_id: 'older', name: 'Older', proxy } } });
    const rights = { books: { api_id: 'books', api_name: 'Books', versions: ['Default'] } };
    await ask('POST', '/api/keys', { body: { alias: 'First client', access_rights: rights } });
  });

  testPages(dashboard, { pages: dashboardPages.apis, person: () => admin, depth: 'buttons' });
});
