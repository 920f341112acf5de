import { before, describe } from 'node:test';
import type { Person } from '../support/browser.ts';
import { testDashboard } from '../support/dashboard-app.ts';
import { type PageList, testPages } from '../support/page-walk.ts';

/** Pages about the installation, templates and MCP proxies. */
const pages: PageList = {
  '/system': /^System status$/,
  '/audit': /^Audit$/,
  '/uptime': /^Uptime$/,
  '/templates': /^Templates$/,
  '/templates/new': /^New template$/,
  '/templates/limits': /^Limits$/,
  '/examples': /^Examples$/,
  '/mcp-proxies': /^MCP proxies$/,
  '/mcp-proxies/new': /^New MCP proxy$/,
  '/mcp-proxies/tools': /^Tools$/,
};

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

describe('System pages of the dashboard', () => {
  const dashboard = testDashboard();
  let admin: Person;
  before(async () => {
    admin = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const { ask } = dashboard.app();
    await ask('POST', '/api/assets', { body: { id: 'limits', name: 'Limits', data: { 'x-gw-api-gateway': {} } } });
    await ask('POST', '/api/mcps?wait=applied', { body: mcpProxy });
  });

  testPages(dashboard, { pages, person: () => admin });
});
