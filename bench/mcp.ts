import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchGateway } from './gateway.ts';

/** Scenarios of MCP proxies: every request is a `tools/call` message. */

const createDocument = (id: string, more: object) => ({
  openapi: '3.0.3',
  info: { title: id, version: '1' },
  paths: {},
  ...more,
});

const createExtension = (id: string, url: string, more: object = {}) => ({
  info: { id, name: id, state: { active: true } },
  server: { listenPath: { value: `/${id}/`, strip: true } },
  upstream: { url },
  ...more,
});

async function create(gateway: BenchGateway, path: string, document: object): Promise<void> {
  const { status, body } = await gateway.send('POST', path, document);
  if (status !== 200) throw new Error(JSON.stringify(body));
}

/** wrk script with a message of an agent. */
function writeToolScript(directory: string): string {
  const params = { name: 'find_order', arguments: { limit: 10 } };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const file = join(directory, 'tool.lua');
  writeFileSync(
    file,
    `wrk.method = 'POST'\nwrk.body = [[${message}]]\nwrk.headers['content-type'] = 'application/json'\nwrk.headers['accept'] = 'application/json, text/event-stream'`,
  );
  return file;
}

/** A proxy that allows one tool, and therefore checks the name of each. */
async function prepareMcp(gateway: BenchGateway, upstream: string, directory: string) {
  const middleware = { mcpTools: { find_order: { allow: { enabled: true } } } };
  const extension = createExtension('tools', `${upstream}/post`, { middleware });
  await create(gateway, '/api/mcps', createDocument('tools', { 'x-gw-api-gateway': extension }));
  return { url: `${gateway.url}/tools/`, script: writeToolScript(directory) };
}

/** An operation of a REST API as a tool: the request passes the chains of the proxy and of the API. */
async function prepareRestTool(gateway: BenchGateway, upstream: string, directory: string) {
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer' } };
  const get = { operationId: 'find_order', parameters: [limit], responses: { 200: { description: 'OK' } } };
  const rest = { paths: { '/small': { get } }, 'x-gw-api-gateway': createExtension('orders', upstream) };
  await create(gateway, '/api/apis/oas', createDocument('orders', rest));
  const extension = createExtension('tools', 'gw://orders/mcp');
  await create(gateway, '/api/mcps', createDocument('tools', { 'x-gw-api-gateway': extension }));
  return { url: `${gateway.url}/tools/`, script: writeToolScript(directory) };
}

export const createMcpScenarios = (directory: string) =>
  Object.entries({ 'MCP tool call': prepareMcp, 'REST tool call': prepareRestTool }).map(([name, prepare]) => ({
    name,
    baseline: 'keyless',
    nginxPath: '/post',
    nginxScript: writeToolScript(directory),
    prepare,
  }));
