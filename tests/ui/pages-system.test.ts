import assert from 'node:assert/strict';
import { before, describe } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { dashboardPages } from '../support/dashboard-pages.ts';
import { testPages } from '../support/page-walk.ts';

const mcpProxy = {
  openapi: '3.0.3',
  info: { title: 'Tools', version: '1' },
  paths: {},
  'x-gw-api-gateway': {
    info: { id: 'tools', name: 'Tools', state: { active: true } },
    server: { listenPath: { value: '/tools/', strip: true } },
    upstream: { url: 'http://127.0.0.1:9/mcp' },
    middleware: { mcpTools: { danger: { block: { enabled: true } } } },
  },
};

const graph = {
  api_id: 'library',
  name: 'Library',
  use_keyless: true,
  proxy: { listen_path: '/library/', target_url: 'http://127.0.0.1:9', strip_listen_path: true },
  graphql: {
    enabled: true,
    execution_mode: 'executionEngine',
    version: '2',
    schema: 'type Query { books: [Book] }\ntype Book { title: String }',
    engine: {
      data_sources: [
        {
          kind: 'REST',
          name: 'books',
          root_fields: [{ type: 'Query', fields: ['books'] }],
          config: { url: 'http://127.0.0.1:9/books', method: 'GET' },
        },
      ],
    },
  },
};

const supergraph = {
  api_id: 'reading',
  name: 'Reading',
  use_keyless: true,
  proxy: { listen_path: '/reading/', target_url: '', strip_listen_path: true },
  graphql: {
    enabled: true,
    execution_mode: 'supergraph',
    version: '2',
    supergraph: {
      subgraphs: [{ name: 'books', url: 'http://127.0.0.1:9/books', sdl: 'type Query { books: [String!] }' }],
    },
  },
};

describe('System pages of the dashboard', () => {
  const dashboard = testDashboard();
  let admin: Person;
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    await ask('POST', '/api/assets', { body: { id: 'limits', name: 'Limits', data: { 'x-gw-api-gateway': {} } } });
    for (const api_definition of [graph, supergraph]) {
      const { status, text } = await ask('POST', '/api/apis?wait=applied', { body: { api_definition } });
      assert.equal(status, 200, text);
    }
    await ask('POST', '/api/mcps?wait=applied', { body: mcpProxy });
  });

  testPages(dashboard, { pages: dashboardPages.system, person: () => admin, depth: 'buttons' });
});
