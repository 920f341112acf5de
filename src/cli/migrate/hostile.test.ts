import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { readKongConfig } from './kong.ts';
import { readKrakendConfig } from './krakend.ts';
import { readNginxConfig } from './nginx.ts';
import type { MigrationPlan } from './plan.ts';
import { readTykExports } from './tyk.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-hostile-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const names = fc.constantFrom(
  ...'api_id proxy listen_path target_url x-tyk-api-gateway info server upstream access_rights rate apply_policies keys'.split(
    ' ',
  ),
  ...'api_definition oas data key_id version_data versions extended_paths white_list basic_auth_data password'.split(
    ' ',
  ),
  ...'services routes plugins name config paths hosts consumers keyauth_credentials upstreams targets acls group'.split(
    ' ',
  ),
  ...'endpoints endpoint backend host url_pattern extra_config security/cors _format_version certificates cert'.split(
    ' ',
  ),
);
const text = fc.constantFrom(
  '/a',
  '$tyk_context.x',
  'tyk://self',
  'key-auth',
  'rate-limiting',
  'http://127.0.0.1:9',
  '',
  '{',
  'ey==',
  '*.a',
);
const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(text, fc.integer(), fc.constantFrom(null, true)),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(names, tie('tree'), { maxKeys: 6 }),
  ),
}));

const readers: readonly (readonly [string, (path: string) => MigrationPlan])[] = [
  ['tyk.json', readTykExports],
  ['kong.json', readKongConfig],
  ['krakend.json', readKrakendConfig],
];

test('any JSON gives a plan: every object in it is moved or listed, and none stops the others', () => {
  fc.assert(
    fc.property(tree, value => {
      for (const [name, read] of readers) {
        const path = join(folder, name);
        writeFileSync(path, JSON.stringify(value));
        const { objects } = read(path);
        for (const { id, body } of objects) assert.ok(id !== '' && JSON.stringify(body) !== undefined);
      }
    }),
    { numRuns: 1500 },
  );
});

test('any text gives a plan of nginx', () => {
  const words = fc.constantFrom(
    'server',
    'location',
    '/a/',
    '{',
    '}',
    ';',
    'proxy_pass',
    'http://127.0.0.1:9',
    '"',
    "'",
    '\\',
    '$x',
    '~',
    '\n',
    '#',
    'allow',
    'deny',
    'all',
    'upstream',
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 40 }), parts => {
      const path = join(folder, 'site.conf');
      writeFileSync(path, parts.join(' '));
      readNginxConfig(path);
    }),
    { numRuns: 1500 },
  );
});
