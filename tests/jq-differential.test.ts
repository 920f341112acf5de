import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compileJq, JqError, stringifyJqResult } from '#languages/jq/jq.ts';
import { jqProgram } from '../tools/services.ts';
import { deviations } from './jq/deviations.ts';
import { filters, values } from './jq/generated.ts';
import { rows } from './jq/table.ts';

interface Pair {
  readonly input: string;
  readonly filter: string;
}

/** Results and errors of a filter, as values. */
const wrapFilter = (filter: string) => `(try ((${filter}\n) | {result: .}) catch {error: .})`;

const maxPairsPerRun = 25;

/** One run of the original for many pairs: starting it takes longer than all their work. */
function askOriginal(pairs: readonly Pair[]): unknown[][] {
  const program = pairs.map(({ filter }, at) => `(.[${at}] | ${wrapFilter(filter)} | [${at}, .])`).join(',\n');
  const output = execFileSync(jqProgram(), ['-c', program], {
    input: `[${pairs.map(({ input }) => input).join(',')}]`,
    env: { TZ: 'UTC' },
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
  }).toString();
  const found: unknown[][] = pairs.map(() => []);
  for (const line of output.split('\n').filter(Boolean)) {
    const [at, result] = JSON.parse(line) as [number, unknown];
    found[at]!.push(result);
  }
  return found;
}

const askOurs = ({ input, filter }: Pair): unknown[] =>
  compileJq(wrapFilter(filter))
    .run(JSON.parse(input))
    .map(it => JSON.parse(stringifyJqResult(it)) as unknown);

/** What may differ anywhere: the sign of zero, the last digit of a function of numbers, how messages show objects. */
function comparable(value: unknown): unknown {
  if (typeof value === 'number') return value === 0 ? 0 : Number(value.toPrecision(13));
  if (typeof value === 'string') return value.replaceAll(/object \(\{.*?\)/g, 'object');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, comparable(it)]));
}

/** An error that nothing in the filter catches is an error, with any message. */
const withoutMessages = (results: readonly unknown[]) =>
  results.map(it => (Object.hasOwn(it as object, 'error') ? 'error' : comparable(it)));

const isSame = (left: readonly unknown[], right: readonly unknown[]): boolean => {
  try {
    assert.deepEqual(withoutMessages(left), withoutMessages(right));
    return true;
  } catch {
    return false;
  }
};

describe('jq compared with the reference implementation', () => {
  const pairs: Pair[] = rows.flatMap(([input, list]) => list.map(filter => ({ input, filter })));
  const isDeviation = new Set(Object.values(deviations).flat());
  const differing = new Set<string>();

  for (let from = 0; from < pairs.length; from += maxPairsPerRun) {
    const some = pairs.slice(from, from + maxPairsPerRun);
    test(`pairs ${from + 1} to ${from + some.length} give the same results, or are listed as deviations`, () => {
      const expected = askOriginal(some);
      for (const [at, pair] of some.entries()) {
        const ours = askOurs(pair);
        if (isSame(ours, expected[at]!)) continue;
        differing.add(pair.filter);
        if (isDeviation.has(pair.filter)) continue;
        assert.deepEqual(withoutMessages(ours), withoutMessages(expected[at]!), `${pair.input} | ${pair.filter}`);
      }
    });
  }

  test('every listed deviation deviates', () => {
    assert.deepEqual(
      [...isDeviation].filter(filter => !differing.has(filter)),
      [],
    );
  });

  test('every function of the reference is supported, or refused with a reason', () => {
    const names = JSON.parse(execFileSync(jqProgram(), ['-nc', 'builtins']).toString()) as string[];
    assert.ok(names.length > 150);
    for (const name of names) {
      const [word, count] = name.split('/') as [string, string];
      const args = Array.from({ length: Number(count) }, () => '.').join('; ');
      try {
        compileJq(args === '' ? word : `${word}(${args})`);
      } catch (error) {
        assert.ok(error instanceof JqError);
        assert.match(error.message, /is not offered: /, name);
      }
    }
  });

  test('generated filters give the same results for generated values', () => {
    const pair = fc.record({ input: values.map(it => JSON.stringify(it)), filter: filters });
    fc.assert(
      fc.property(fc.array(pair, { minLength: 20, maxLength: 20 }), list => {
        const expected = askOriginal(list);
        for (const [at, one] of list.entries())
          assert.deepEqual(
            withoutMessages(askOurs(one)),
            withoutMessages(expected[at]!),
            `${one.input} | ${one.filter}`,
          );
      }),
      // Fixed: the original has faults of its own that some seed will meet.
      { numRuns: 20, seed: 1 },
    );
  });
});
