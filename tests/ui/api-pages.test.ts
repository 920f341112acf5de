import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { testPages } from '../support/page-walk.ts';

/** Every page about one API in the OpenAPI format, opened by an administrator. */
const pages: Readonly<Record<string, RegExp>> = {
  '/apis/books': /^Books$/,
  '/apis/books/settings?section=authentication': /^Books$/,
  '/apis/books/settings?section=traffic': /^Books$/,
  '/apis/books/endpoints': /^Books$/,
  '/apis/books/try': /^Books$/,
  '/apis/books/versions': /^Books$/,
  '/apis/books/consumers': /^Books$/,
  '/apis/books/code': /^Books$/,
  '/apis/books/history?from=1&to=1': /^Books$/,
  '/apis/import': /^Import API$/,
};

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
    const rights = { books: { api_id: 'books', api_name: 'Books', versions: ['Default'] } };
    await ask('POST', '/api/keys', { body: { alias: 'First client', access_rights: rights } });
  });

  testPages(dashboard, { pages, person: () => admin });
});
