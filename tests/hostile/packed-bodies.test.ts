import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { openApi, publish } from '../support/traffic.ts';
import { withSettings } from '../support/with-settings.ts';

/** 3.3 million empty objects in 9.9 MB, compressed to about ten kilobytes. */
const plain = Buffer.from(`[${'{},'.repeat(3_299_999)}{}]`);
const gzip = gzipSync(plain, { level: 9 });

const post = { path: '/x', method: 'POST' };
const template_data = { input_type: 'json', template_mode: 'blob', template_source: btoa('{{len .array}}') };
const filters = { transform_jq: [{ ...post, filter: '{body: (.body | length)}' }] };
const responseFilters = { transform_jq_response: [{ ...post, filter: '{body: (.body | length)}' }] };
const endpoints = (extended_paths: object) => ({
  version_data: {
    not_versioned: true,
    versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
  },
});

const send = (url: string, body: Buffer, coding?: string) =>
  fetch(`${url}/x`, {
    method: 'POST',
    body: body as unknown as RequestInit['body'],
    headers: coding === undefined ? {} : { 'content-encoding': coding },
  });

/** A ratio limit that admits all of them, so that the limit on values applies. */
withSettings(
  'Compressed bodies with millions of values',
  { 'gateway.max_decompression_ratio': '100000' },
  (app, upstream) => {
    for (const [title, lists] of Object.entries({
      'a body template': { transform: [{ ...post, template_data }] },
      'a jq filter': filters,
    }))
      test(`${title} refuses them with 413 before parsing, compressed and plain`, async () => {
        const url = await publish(app(), openApi(upstream(), endpoints(lists)));
        const before = upstream().requests.length;
        for (const [body, coding] of [
          [gzip, 'gzip'],
          [brotliCompressSync(gzip), 'gzip, br'],
          [plain, undefined],
        ] as const) {
          const reply = await send(url, body, coding);
          assert.equal(reply.status, 413);
          assert.match(await reply.text(), /has more than 200000 values/);
        }
        assert.equal(upstream().requests.length, before);
      });

    test('JSON schema validation refuses them', async () => {
      const lists = { validate_json: [{ ...post, schema: { type: 'array' } }] };
      const url = await publish(app(), openApi(upstream(), endpoints(lists)));
      const reply = await send(url, plain);
      assert.equal(reply.status, 400);
      assert.match(await reply.text(), /more than 200000 values/);
    });

    test('a response with one becomes an error', async () => {
      upstream().answer = (_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end(gzip);
      };
      const url = await publish(app(), openApi(upstream(), endpoints(responseFilters)));
      const reply = await send(url, Buffer.from('{}'));
      assert.equal(reply.status, 500);
      assert.match(await reply.text(), /exceeded its limits/);
      upstream().answer = undefined;
    });
  },
);

withSettings('Decompression ratio', {}, (app, upstream) => {
  test('a body beyond the decompression ratio is refused during decompression', async () => {
    const url = await publish(app(), openApi(upstream(), endpoints(filters)));
    for (const body of [gzip, gzipSync(Buffer.alloc(200_000_000, ' '))])
      assert.equal((await send(url, body, 'gzip')).status, 413);
  });
});
