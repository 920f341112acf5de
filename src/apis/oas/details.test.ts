import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';

const documentOf = (id: string, info: object = {}, server: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  paths: {},
  'x-gw-api-gateway': {
    info: { id, name: id, state: { active: true }, ...info },
    server: { listenPath: { value: `/${id}/`, strip: true }, ...server },
    upstream: { url: 'http://127.0.0.1:9/' },
  },
});

onEveryEngine(
  'dashboard API: details of OpenAPI documents',
  app => {
    const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      app().ask(method, `/api/apis/oas${path}`, { headers, ...(body === undefined ? {} : { body }) });
    const create = async (info: object = {}, query = '', server: object = {}) => {
      const id = `d${createPublicId()}`;
      const { status, text } = await ask('POST', query, documentOf(id, info, server));
      assert.equal(status, 200, text);
      return id;
    };
    const versionOf = (base: string, name: string, info: object = {}, more = '') =>
      create(info, `?base_api_id=${base}&base_api_version_name=v1&new_version_name=${name}${more}`);
    const createClassic = async () => {
      const proxy = { listen_path: `/c${createPublicId()}`, target_url: 'http://127.0.0.1:9/' };
      const body = { api_definition: { name: 'classic #words', use_keyless: true, proxy } };
      return (await app().ask('POST', '/api/apis', { body })).body.ID as string;
    };

    test('categories stand beside the document; blank and repeated ones are dropped', async () => {
      const id = await create();
      const before = (await ask('GET', `/${id}`)).body;
      assert.deepEqual((await ask('GET', `/${id}/categories`)).body, { categories: [] });
      const label = `eu ${id}`;
      const put = await ask('PUT', `/${id}/categories`, { categories: [label, ' ', label, 'shop'] });
      assert.deepEqual([put.status, put.body.Message], [200, 'API categories updated']);
      assert.deepEqual((await ask('GET', `/${id}/categories`)).body, { categories: [label, 'shop'] });
      assert.deepEqual((await ask('GET', `/${id}`)).body, before);
      const { categories } = (await app().ask('GET', '/api/apis/categories')).body;
      assert.ok(categories.some((it: { name: string; count: number }) => it.name === label && it.count === 1));
      const classic = await createClassic();
      for (const [path, body, status] of [
        [`/${id}/categories`, { categories: 'eu' }, 400],
        [`/${id}/categories`, {}, 400],
        ['/nothing/categories', { categories: [] }, 404],
        [`/${classic}/categories`, { categories: [] }, 400],
      ] as const)
        assert.equal((await ask('PUT', path, body)).status, status, path);
      assert.equal((await ask('GET', `/${classic}/categories`)).status, 400);
      assert.equal((await ask('GET', '/nothing/categories')).status, 404);
    });

    test('versions of a base are listed, filtered by name and kind; others get 422', async () => {
      const base = await create();
      const second = await versionOf(base, 'v2', { state: { active: true, internal: true } });
      await versionOf(base, 'beta', {}, '&set_default=true');
      const { body } = await ask('GET', `/${base}/versions`);
      const names = body.apis.map((it: { versionName: string }) => it.versionName);
      assert.deepEqual([names, body.pages], [['v1', 'beta', 'v2'], 1]);
      assert.deepEqual(
        body.apis.map((it: { isDefaultVersion: boolean }) => it.isDefaultVersion),
        [false, true, false],
      );
      const [only] = (await ask('GET', `/${base}/versions?searchText=V2&accessType=internal`)).body.apis;
      assert.deepEqual([only.id, only.internal], [second, true]);
      for (const id of [second, await create(), await createClassic()]) {
        const answer = await ask('GET', `/${id}/versions`);
        assert.deepEqual([answer.status, answer.body.Status], [422, 'Error']);
      }
      assert.equal((await ask('GET', '/nothing/versions')).status, 404);
      assert.equal((await ask('GET', `/${base}/versions?accessType=some`)).status, 400);
    });

    test('urls contain the selector of each version: header, query or path', async () => {
      const versioning = (location: string, key: string) => ({ versioning: { name: 'v1', location, key } });
      const urlsOf = async (id: string) => (await ask('GET', `/${id}/urls`)).body.urls;
      const alone = await create();
      const [{ url, port, listen_path, ...rest }] = await urlsOf(alone);
      assert.deepEqual([listen_path, url], [alone, `http://127.0.0.1:8080/${alone}`]);
      assert.deepEqual(rest, {
        protocol: 'http',
        domain: '127.0.0.1',
        endpoint_path: '',
        query_parameters: [],
        headers: [],
      });
      assert.equal(port, 8080);

      const inPath = await create(versioning('url', ''));
      const child = await versionOf(inPath, 'v2');
      assert.deepEqual(
        (await urlsOf(inPath)).map((it: { url: string }) => it.url),
        [`http://127.0.0.1:8080/${inPath}/v1`, `http://127.0.0.1:8080/${inPath}`],
      );
      const [versioned, own] = await urlsOf(child);
      assert.deepEqual([versioned.url, versioned.endpoint_path], [`http://127.0.0.1:8080/${inPath}/v2`, 'v2']);
      assert.equal(own.url, `http://127.0.0.1:8080/${child}`);

      const inQuery = await create(versioning('url-param', 'v'));
      const [queried] = await urlsOf(await versionOf(inQuery, 'v2', { state: { active: true, internal: true } }));
      assert.deepEqual(queried.query_parameters, [{ name: 'v', value: 'v2' }]);
      assert.equal(queried.url, `http://127.0.0.1:8080/${inQuery}?v=v2`);

      const inHeader = await create();
      const hidden = await versionOf(inHeader, 'v2', { state: { active: true, internal: true } });
      const [named, ...others] = await urlsOf(hidden);
      assert.deepEqual(named.headers, [{ name: 'x-gw-version', value: 'v2' }]);
      assert.deepEqual(others, []);

      const domain = `${alone}.example.org`;
      const [custom] = await urlsOf(await create({}, '', { customDomain: { enabled: true, name: domain } }));
      assert.equal(custom.domain, domain);
      assert.equal((await ask('GET', '/nothing/urls')).status, 404);
      assert.equal((await ask('GET', `/${await createClassic()}/urls`)).status, 400);
    });

    test('export is a file in JSON or YAML, without the extension for the public', async () => {
      const id = await create();
      const document = (await ask('GET', `/${id}`)).body;
      const json = await ask('GET', `/${id}/export`);
      assert.equal(json.headers.get('content-type'), 'application/octet-stream');
      assert.equal(json.headers.get('content-disposition'), `attachment;filename="GwOasApiDef-${id}.json"`);
      assert.deepEqual(json.body, document);
      const yaml = await ask('GET', `/${id}/export`, undefined, { 'content-type': 'application/x-yaml' });
      assert.equal(yaml.headers.get('content-disposition'), `attachment;filename="GwOasApiDef-${id}.yaml"`);
      assert.deepEqual(parse(yaml.text), document);
      const open = await ask('GET', `/${id}/export?mode=public`);
      assert.equal(open.headers.get('content-disposition'), `attachment;filename="oas-${id}.json"`);
      assert.equal(open.body['x-gw-api-gateway'], undefined);
      const all = await ask('GET', '/export');
      assert.equal(all.headers.get('content-disposition'), 'attachment;filename="GwOasApiDef.json"');
      assert.ok(all.body.some((it: unknown) => JSON.stringify(it) === JSON.stringify(document)));
      assert.equal((await ask('GET', '/nothing/export')).status, 404);
      assert.equal((await ask('GET', `/${await createClassic()}/export`)).status, 400);
    });
  },
  { settings: { 'gateway.url': 'http://127.0.0.1:8080' } },
);
