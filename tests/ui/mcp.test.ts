import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';

const tools = [
  { name: 'echo', description: '<b>Repeats</b> its text', inputSchema: { type: 'object' } },
  { name: 'danger', description: 'Deletes everything', inputSchema: { type: 'object' } },
];

describe('MCP proxies in the dashboard', () => {
  const dashboard = testDashboard();
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } }));
    });
  });
  before(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)));
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  test('a created proxy lists the tools of its server, and a blocked tool is refused and left out', async () => {
    const { ask, url } = dashboard.app();
    const person = await dashboard.addPerson({ user_permissions: { IsAdmin: 'admin' } });
    const page = await dashboard.openAs(person, '/mcp-proxies');
    await page.getByRole('link', { name: 'New MCP proxy' }).click();
    await page.getByRole('button', { name: 'Create MCP proxy' }).click();
    await page.getByText('Enter a value').waitFor();
    await page.getByLabel('Name').fill('Tools');
    await page.getByLabel('URL of the MCP server').fill(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.getByRole('button', { name: 'Create MCP proxy' }).click();
    await page.getByRole('heading', { name: 'Tools', level: 1 }).waitFor();
    const apiId = new URL(page.url()).pathname.split('/').at(-1)!;
    const rights = { [apiId]: { api_id: apiId, api_name: 'Tools', versions: ['Default'] } };
    const { body: key } = await ask('POST', '/api/keys?wait=applied', { body: { access_rights: rights } });
    await page.getByLabel('Key for the request').fill(key.key_id);
    await page.getByRole('button', { name: 'List tools through the gateway' }).click();
    await page.getByText('2 tools listed').waitFor();
    await page.getByRole('cell', { name: '<b>Repeats</b> its text' }).waitFor();
    await assertAccessible(page, 'tools of an MCP proxy');
    await page.getByRole('button', { name: 'Actions for danger' }).click();
    await page.getByRole('menuitem', { name: 'Block' }).click();
    await page.getByText('Rule of danger saved').waitFor();
    await page.getByRole('cell', { name: 'Blocked' }).waitFor();
    const call = async (method: string, params: object) => {
      const response = await fetch(`${url.gateway}/tools/`, {
        method: 'POST',
        headers: { authorization: key.key_id, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return (await response.json()) as { error?: unknown; result?: { tools: { name: string }[] } };
    };
    assert.ok((await call('tools/call', { name: 'danger' })).error);
    const listed = (await call('tools/list', {})).result?.tools.map(({ name }) => name);
    assert.deepEqual(listed, ['echo']);
  });

  test('without permission to write, rules and definition are shown and cannot be changed', async () => {
    const reader = await dashboard.addPerson({ user_permissions: { mcp: 'read' } });
    const page = await dashboard.openAs(reader, '/mcp-proxies');
    await page.getByRole('link', { name: 'Tools' }).click();
    await page.getByRole('cell', { name: 'Blocked' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save definition' }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Actions for danger' }).count(), 0);
  });
});
