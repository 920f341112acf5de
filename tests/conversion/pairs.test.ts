import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { JsonObject } from '#base/json-tree.ts';
import { convertToClassic, convertToOas } from '#definition/convert.ts';
import type { ClassicDefinition, OasDefinition } from '#definition/wire-types.ts';

/** Pairs read over by a person: what is given, what it becomes, and what that becomes on the way home. */
type Pair =
  | { from: 'classic'; given: ClassicDefinition; made: OasDefinition; home: ClassicDefinition }
  | { from: 'oas'; given: OasDefinition; made: ClassicDefinition; home: OasDefinition };

const folder = new URL('pairs/', import.meta.url);

for (const file of readdirSync(folder).sort())
  test(`${file} converts to its counterpart and back`, () => {
    const pair = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Pair;
    const before = structuredClone(pair.given);
    if (pair.from === 'classic') {
      assert.deepEqual(convertToOas(pair.given), pair.made);
      const { 'x-gw-oas': _, ...home } = convertToClassic(pair.made);
      assert.deepEqual(home, pair.home);
    } else {
      assert.deepEqual(convertToClassic(pair.given), pair.made);
      assert.deepEqual(convertToOas(pair.made), pair.home);
    }
    assert.deepEqual(pair.given, before, 'what is given is left alone');
  });

test('a plugin of records that is removed in the classic format stays removed', () => {
  const plugin = (functionName: string) => ({ enabled: true, functionName, path: `${functionName}.js` });
  const classic = convertToClassic({
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    paths: {},
    'x-gw-api-gateway': {
      info: { name: 'Pets', state: { active: true } },
      server: { listenPath: { value: '/pets/' } },
      upstream: { url: 'http://127.0.0.1:9/' },
      // The second entry is carried over: the classic format has one.
      middleware: { global: { trafficLogs: { enabled: true, plugins: [plugin('first'), plugin('second')] } } },
    },
  } as unknown as OasDefinition);
  delete classic.analytics_plugin;
  const { middleware } = convertToOas(classic)['x-gw-api-gateway'] as { middleware?: JsonObject };
  assert.doesNotMatch(JSON.stringify(middleware), /first|second/);
});
