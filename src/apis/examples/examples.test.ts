import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { onEveryEngine, startApp } from '../../../tests/support/app.ts';

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
  '/escaping.json': [{ location: '../secret', name: 'x' }],
  '/nameless.json': [{ location: 'a' }],
  '/text.json': 'no list',
};
const server = createServer((request, response) => {
  const file = files[request.url ?? ''];
  if (file === undefined) return void response.writeHead(404).end();
  response.end(typeof file === 'string' ? file : JSON.stringify(file));
});
let origin = '';
before(async () => {
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => void server.close());

onEveryEngine('example APIs', app => {
  const read = (path: string, indexUrl = `${origin}/index.json`, headers: Record<string, string> = {}) =>
    app().ask('GET', `/api/examples${path}`, {
      headers: { ...(indexUrl && { 'x-gw-examples-index': indexUrl }), ...headers },
    });

  test('the examples of an index are listed; without an index there are none', async () => {
    const listed = [
      { location: 'udg/vat-checker', name: 'VAT checker', shortDescription: 'Checks VAT' },
      { location: 'rest/pets', name: 'Pets', shortDescription: '' },
    ];
    assert.deepEqual((await read('')).body, listed);
    assert.deepEqual((await read('', `${origin}/list.json`)).body, listed);
    assert.deepEqual((await read('', '')).body, []);
    assert.equal((await read('/rest/pets', '')).status, 404);
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
    const other = await read('/rest/pets?readme=true', undefined, { 'x-gw-repo-url': `${origin}/other` });
    assert.equal(other.body.readme, 'other');
  });

  test('an index or file that cannot be used is refused with the reason', async () => {
    for (const [path, indexUrl, status, message] of [
      ['/udg', undefined, 404, /Example not found/],
      ['/rest/pets?readme=true', undefined, 400, /README\.md was answered with status 404/],
      ['', `${origin}/escaping.json`, 400, /0\.location: must be a relative path/],
      ['', `${origin}/nameless.json`, 400, /0\.name/],
      ['', `${origin}/text.json`, 400, /not valid/],
      ['', `${origin}/absent.json`, 400, /absent\.json was answered with status 404/],
      ['', 'nowhere', 400, /not an absolute URL/],
      ['', 'ftp://127.0.0.1/', 400, /Only http and https/],
      ['', 'http://a:b@127.0.0.1/', 400, /user name or password/],
      ['', 'http://169.254.169.254/', 400, /169\.254\.169\.254/],
      ['', 'http://127.0.0.1:9/', 502, /failed/],
    ] as const) {
      const answer = await read(path, indexUrl);
      assert.equal(answer.status, status, `${path} ${indexUrl}: ${answer.text}`);
      assert.match(answer.body.Message, message);
    }
    files['/huge.json'] = `"${'x'.repeat(1_100_000)}"`;
    assert.equal((await read('', `${origin}/huge.json`)).status, 502);
    const repo = await read('/rest/pets?readme=true', undefined, { 'x-gw-repo-url': 'nowhere' });
    assert.equal(repo.status, 400);
  });
});

test('apis.examples_index names the index of requests without one', async () => {
  const app = await startApp('sqlite', { settings: { 'apis.examples_index': `${origin}/index.json` } });
  try {
    assert.equal((await app.ask('GET', '/api/examples')).body.length, 2);
    assert.equal((await app.ask('GET', '/api/examples/rest/pets')).body.name, 'Pets');
  } finally {
    await app.close();
  }
});
