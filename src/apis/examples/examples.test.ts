import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { createOutboundClient } from '#base/http-client/client.ts';
import { createPublicId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import { onEveryEngine, startApp } from '../../../tests/support/app.ts';
import { getExample, listExamples } from './operations.ts';

const index = {
  examples: [
    {
      location: 'udg/vat-checker',
      name: 'VAT checker',
      shortDescription: 'Checks VAT',
      features: ['a'],
      minVersion: '1.0',
    },
    { location: 'rest/pets', name: 'Pets', description: 'All about pets' },
  ],
};
const files: Record<string, unknown> = {
  '/index.json': index,
  '/list.json': index.examples,
  '/udg/vat-checker/README.md': '# VAT\n',
  '/udg/vat-checker/apidef.json': { name: 'vat' },
  '/rest/pets/apidef.json': { openapi: '3.0.3' },
  '/other/rest/pets/README.md': 'other',
};
let requests = 0;
const server = createServer((request, response) => {
  requests += 1;
  if (request.url === '/moved.json') return void response.writeHead(302, { location: '/list.json' }).end();
  const file = files[request.url ?? ''];
  if (file === undefined) return void response.writeHead(404).end();
  response.end(typeof file === 'string' ? file : JSON.stringify(file));
});
await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => void server.close());

const listed = [
  { location: 'udg/vat-checker', name: 'VAT checker', shortDescription: 'Checks VAT' },
  { location: 'rest/pets', name: 'Pets', shortDescription: '' },
];

onEveryEngine(
  'example APIs',
  app => {
    const read = (path: string, headers: Record<string, string> = {}, credential?: string) =>
      app().ask('GET', `/api/examples${path}`, { headers, ...(credential && { credential }) });

    test('the examples of the index of apis.examples_index are listed', async () => {
      assert.deepEqual((await read('')).body, listed);
      assert.equal((await read('/rest/pets')).body.name, 'Pets');
    });

    test('an example is read by its location, with readme and definition on request', async () => {
      const vat = {
        location: 'udg/vat-checker',
        name: 'VAT checker',
        description: '',
        features: ['a'],
        min_version: '1.0',
      };
      assert.deepEqual((await read('/udg/vat-checker')).body, vat);
      assert.deepEqual((await read('/udg/vat-checker/?readme=true&apiDef=true')).body, {
        ...vat,
        readme: '# VAT\n',
        api_definition: { name: 'vat' },
      });
      assert.deepEqual((await read('/rest%2Fpets?apiDef=1')).body.oas, { openapi: '3.0.3' });
    });

    test('an index or file that cannot be used is refused with the reason', async () => {
      for (const [path, status, message] of [
        ['/udg', 404, /Example not found/],
        ['/rest/pets?readme=true', 400, /README\.md: the server responded with status 404/],
      ] as const) {
        const answer = await read(path);
        assert.equal(answer.status, status, `${path}: ${answer.text}`);
        assert.match(answer.body.Message, message);
      }
      for (const [content, status, message] of [
        [[{ location: '../secret', name: 'x' }], 400, /0\.location: must be a relative path/],
        [[{ location: 'a' }], 400, /0\.name/],
        ['no list', 400, /not valid/],
        [undefined, 400, /index\.json: the server responded with status 404/],
        [`"${'x'.repeat(1_100_000)}"`, 502, /larger than/],
      ] as const) {
        files['/index.json'] = content;
        const answer = await read('');
        files['/index.json'] = index;
        assert.equal(answer.status, status, answer.text);
        assert.match(answer.body.Message, message);
      }
    });

    test('an address in a header is refused: malformed, loopback or link-local', async () => {
      for (const [url, message] of [
        ['nowhere', /not an absolute URL/],
        ['ftp://127.0.0.1/', /Only http and https/],
        ['http://a:b@127.0.0.1/', /user name or password/],
        ['http://169.254.169.254/', /169\.254\.169\.254/],
        [`${origin}/index.json`, /requests to it are not allowed/],
        ['http://[::1]/index.json', /requests to it are not allowed/],
      ] as const)
        for (const [path, name] of [
          ['', 'x-gw-examples-index'],
          ['/rest/pets?apiDef=true', 'x-gw-examples-index'],
          ['/rest/pets?apiDef=true', 'x-gw-repo-url'],
        ] as const) {
          const before = requests;
          const answer = await read(path, { [name]: url });
          assert.equal(answer.status, 400, `${name} ${url}: ${answer.text}`);
          assert.match(answer.body.Message, message);
          assert.equal(requests - before, name === 'x-gw-repo-url' ? 1 : 0, 'only the configured index is fetched');
        }
    });

    test('a user without apis:write reads the configured index, and cannot name another address', async () => {
      const user = {
        email_address: `${createPublicId()}@example.org`,
        first_name: 'R',
        last_name: 'O',
        active: true,
        org_id: app().credentials.organisation_id,
        user_permissions: { apis: 'read' },
      };
      const credential = (await app().ask('POST', '/admin/users', { body: user })).body.Message;
      assert.deepEqual((await read('', {}, credential)).body, listed);
      const before = requests;
      for (const [path, name] of [
        ['', 'x-gw-examples-index'],
        ['/rest/pets?apiDef=true', 'x-gw-examples-index'],
        ['/rest/pets?apiDef=true', 'x-gw-repo-url'],
      ] as const) {
        const answer = await read(path, { [name]: `${origin}/index.json` }, credential);
        assert.equal(answer.status, 403, answer.text);
        assert.equal(answer.body.Message, `${name}: access denied: you need apis:write`);
      }
      assert.equal(requests, before);
    });
  },
  { settings: { 'apis.examples_index': `${origin}/index.json` } },
);

test('without an index there are no examples', async () => {
  const app = await startApp('sqlite');
  try {
    assert.deepEqual((await app.ask('GET', '/api/examples')).body, []);
    assert.equal((await app.ask('GET', '/api/examples/rest/pets')).status, 404);
  } finally {
    await app.close();
  }
});

test('redirects of the configured index are followed', async () => {
  const app = await startApp('sqlite', { settings: { 'apis.examples_index': `${origin}/moved.json` } });
  try {
    assert.deepEqual((await app.ask('GET', '/api/examples')).body, listed);
  } finally {
    await app.close();
  }
});

describe('example APIs of an address that a writer names', () => {
  // Only loopback exists in tests: the guard allows visitors these two origins.
  const outbound = createOutboundClient({ rules: { visitor: { origins: [origin, 'http://127.0.0.1:9'] } } });
  after(() => outbound.close());
  const actor: Actor = { surface: 'dashboard', id: 'u', orgId: '', name: '', permissions: { apis: 'write' } };
  const services = { outbound, settings: { 'apis.examples_index': '' } as Settings };
  const callWith = (headers: Record<string, string>) =>
    ({ actor, requestHeader: (name: string) => headers[name] }) as never;
  const list = (url: string) => listExamples.handle(callWith({ 'x-gw-examples-index': url }), services);

  test('index and folder are fetched', async () => {
    assert.deepEqual(await list(`${origin}/index.json`), listed);
    assert.deepEqual(await list(`${origin}/list.json`), listed);
    const headers = { 'x-gw-examples-index': `${origin}/index.json`, 'x-gw-repo-url': `${origin}/other` };
    const call = { ...(callWith(headers) as object), params: { location: 'rest/pets' }, query: { readme: true } };
    assert.equal((await getExample.handle(call as never, services)).readme, 'other');
  });

  test('a redirect is not followed, and a failed connection is reported', async () => {
    await assert.rejects(list(`${origin}/moved.json`), /moved\.json: the server responded with status 302/);
    await assert.rejects(list(`${origin}/absent.json`), /absent\.json: the server responded with status 404/);
    await assert.rejects(list('http://127.0.0.1:9/'), { status: 502, message: /failed/ });
  });
});
