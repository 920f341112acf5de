import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { type GrpcPluginServer, startGrpcPluginServer } from './support/grpc-plugin-server.ts';
import { errorBody } from './support/step-harness.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const encode = (code: string) => Buffer.from(code).toString('base64');

/** Plugin of POST /marked of a protected API, beside a post plugin of the API, in both formats. */
function endpointPlugin(driver: string, source: { code?: string; path?: string }, post: object): BothFormats {
  const { path: plugin_path = '', code = '' } = source;
  const place = { path: '/marked', method: 'POST', func_name: 'mark', plugin_path, code };
  return {
    classic: {
      use_keyless: false,
      auth_configs: { authToken: { auth_header_name: 'Authorization' } },
      custom_middleware: { driver, post: [{ name: 'last', path: '', ...post }] },
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths: { go_plugin: [place] } } },
      },
    },
    oas: {
      server: {
        authentication: {
          enabled: true,
          securitySchemes: { key: { enabled: true, header: { enabled: true, name: 'Authorization' } } },
        },
      },
      middleware: {
        global: {
          pluginConfig: { driver },
          postPlugins: [{ enabled: true, functionName: 'last', ...post }],
        },
        operations: { mark: { postPlugins: [{ enabled: true, functionName: 'mark', ...source }] } },
      },
    },
    document: {
      paths: { '/marked': { post: { operationId: 'mark', responses: {} } } },
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
      security: [{ key: [] }],
    },
  };
}

const moduleCode = `import type { RequestHook } from 'gatewright/plugin';
export const mark: RequestHook = (request, context) => {
  if (request.headers.has('x-refused')) return { status: 409, error: 'not here' };
  request.headers.set('X-Order', 'endpoint ' + context.session?.alias);
  request.body = request.body + '!';
};`;
const lastCode = `export const last = request => { request.headers.append('X-Order', 'api'); };`;

describe('Plugins of endpoints', () => {
  let app: TestApp;
  let upstream: Upstream;
  let server: GrpcPluginServer;
  const directory = mkdtempSync(join(tmpdir(), 'gw-endpoint-plugins-'));
  before(async () => {
    [upstream, server] = await Promise.all([startUpstream(), startGrpcPluginServer()]);
    writeFileSync(join(directory, 'trusted.ts'), moduleCode);
    const settings = {
      'plugins.directory': directory,
      'plugins.trusted': 'trusted.ts',
      'plugins.grpc.address': `tcp://127.0.0.1:${server.port}`,
    };
    app = await startApp('sqlite', { settings });
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    server?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const inline = { code: encode(lastCode) };
  const cases: Record<string, () => BothFormats> = {
    'a module in TypeScript': () => endpointPlugin('typescript', { code: encode(moduleCode) }, inline),
    'a trusted file': () => endpointPlugin('typescript', { path: 'trusted.ts' }, inline),
    'a gRPC server'() {
      server.hooks.mark = object => {
        const { request, session } = object;
        if (request.headers['X-Refused']) {
          request.return_overrides = { ...request.return_overrides, response_code: 409, response_error: 'not here' };
          return object;
        }
        request.set_headers['X-Order'] = `endpoint ${session?.alias}`;
        request.raw_body = Buffer.concat([request.raw_body, Buffer.from('!')]);
        return object;
      };
      server.hooks.last = object => {
        object.request.set_headers['X-Order'] = `${object.request.headers['X-Order'] ?? ''}, api`;
        return object;
      };
      return endpointPlugin('grpc', {}, {});
    },
  };

  for (const [what, createDefinitions] of Object.entries(cases))
    test(`${what} runs for requests to its endpoint only, with the session, before the plugins of the API`, async () => {
      for (const { url, apiId, format } of await publishBoth(app, upstream, createDefinitions())) {
        const key = await app.ask('POST', '/gw/keys', {
          body: { alias: 'ann', access_rights: { [apiId]: { api_id: apiId, api_name: 'x', versions: ['Default'] } } },
        });
        const authorization = String(key.body.key);
        const send = (path: string, headers = {}) =>
          fetch(url + path, { method: 'POST', body: 'text', headers: { authorization, ...headers } });

        assert.equal((await send('/marked')).status, 200, format);
        const marked = upstream.requests.at(-1)!;
        assert.deepEqual([marked.headers['x-order'], marked.body], ['endpoint ann, api', 'text!'], format);

        assert.equal((await send('/other')).status, 200, format);
        const other = upstream.requests.at(-1)!;
        assert.deepEqual([String(other.headers['x-order']).replace(/^, /, ''), other.body], ['api', 'text'], format);

        const before = upstream.requests.length;
        const refused = await send('/marked', { 'x-refused': '1' });
        assert.deepEqual([refused.status, await refused.text()], [409, errorBody('not here')], format);
        assert.equal(upstream.requests.length, before);
      }
    });
});
