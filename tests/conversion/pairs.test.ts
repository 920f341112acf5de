import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
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
