import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { checkClassic } from './classic.ts';
import { checkOas } from './oas.ts';

const examples = new URL('../../examples/', import.meta.url);
const oddValues = [{ toString: 0, valueOf: 0 }, [{ toString: 0 }], null];

/** Paths of all members, each below its holder. */
function* listPlaces(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield [...path, name];
    yield* listPlaces(member, [...path, name]);
  }
}

function replaceAt(document: object, path: readonly string[], replacement: unknown): object {
  const copy = structuredClone(document);
  let holder = copy as Record<string, unknown>;
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>;
  holder[path.at(-1)!] = replacement;
  return copy;
}

test('a definition with any member replaced by an odd value is accepted or rejected, never an exception', () => {
  let places = 0;
  for (const file of readdirSync(examples).filter(name => /\.(json|ya?ml)$/.test(name))) {
    const document = parse(readFileSync(new URL(file, examples), 'utf8')) as object;
    const check = (it: object) => ('openapi' in document ? checkOas(it) : checkClassic(it));
    for (const path of listPlaces(document)) {
      places++;
      for (const oddValue of oddValues)
        assert.doesNotThrow(() => check(replaceAt(document, path, oddValue)), `${file} ${path.join('.')}`);
    }
  }
  assert.ok(places > 3000);
});
