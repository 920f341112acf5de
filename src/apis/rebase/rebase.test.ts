import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';

const documentOf = (id: string) => ({
  openapi: '3.0.3',
  info: { title: id, version: '1' },
  paths: {},
  'x-gw-api-gateway': {
    info: { id, name: id, state: { active: true } },
    server: { listenPath: { value: `/${id}`, strip: true } },
    upstream: { url: 'http://127.0.0.1:9' },
  },
});

onEveryEngine('rebase of API versions', app => {
  async function create(query = ''): Promise<string> {
    const id = createPublicId();
    const { status, text } = await app().ask('POST', `/gw/apis/oas${query}`, { body: documentOf(id) });
    assert.equal(status, 200, text);
    return id;
  }
  const versionOf = (base: string, name: string) =>
    create(`?base_api_id=${base}&base_api_version_name=v1&new_version_name=${name}`);
  const rebase = (base: string, next: string, more = {}) =>
    app().ask('PATCH', `/api/apis/oas/${base}/rebase/${next}`, more);
  const versioning = async (id: string) =>
    (await app().ask('GET', `/gw/apis/oas/${id}`)).body['x-gw-api-gateway'].info.versioning;

  test('rebase swaps base and version; requests without a version are served as before', async () => {
    const base = await create();
    const [second, third] = [await versionOf(base, 'v2'), await versionOf(base, 'v3')];
    const { status, body } = await rebase(base, second);
    assert.deepEqual([status, body], [200, { Status: 'OK', Message: 'API converted successfully', Meta: null }]);
    const { location, key, ...block } = await versioning(second);
    assert.ok(location && key);
    assert.deepEqual(block, {
      enabled: true,
      name: 'v2',
      default: 'v1',
      versions: [
        { name: 'v1', id: base },
        { name: 'v3', id: third },
      ],
    });
    assert.equal((await versioning(base)).enabled, false);
    assert.equal((await rebase(second, base)).status, 200);
    assert.deepEqual((await versioning(base)).default, 'self');
  });

  test('rebase is rejected for an API without versions, and for unknown APIs', async () => {
    const [base, other] = [await create(), await create()];
    const second = await versionOf(base, 'v2');
    const { accessKey } = await app().stranger();
    for (const [from, to, expected, message] of [
      [other, second, 400, 'The first API is not a base API: it has no versions'],
      [base, other, 400, 'The second API is not a version of the first'],
      [base, base, 400, 'The second API is not a version of the first'],
      [base, 'nobodys', 404, 'API not found'],
      ['nobodys', second, 404, 'API not found'],
    ] as const) {
      const { status, body } = await rebase(from, to);
      assert.deepEqual([status, body.Message], [expected, message]);
    }
    assert.equal((await rebase(base, second, { credential: accessKey })).status, 404);
    assert.equal((await versioning(base)).enabled, true);
  });
});
