import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { fuzzRequests } from '../tests/support/http1-fuzz.ts';
import { fuzzResponses } from '../tests/support/http1-response-fuzz.ts';

/** Differential fuzzing of the HTTP/1.1 parser: `npm run fuzz -- --kind responses --count 5000000 --seed 1`. */
const kinds: ReadonlyMap<string, typeof fuzzRequests> = new Map([
  ['requests', fuzzRequests],
  ['responses', fuzzResponses],
]);
const { values } = parseArgs({
  options: { kind: { type: 'string' }, count: { type: 'string' }, seed: { type: 'string' } },
});
const kind = values.kind ?? 'requests';
const fuzz = kinds.get(kind);
if (fuzz === undefined) {
  console.error(`--kind is one of ${[...kinds.keys()].join(', ')}`);
  process.exit(2);
}
const count = readNumber('count', values.count ?? '1000000');
const seed = readNumber('seed', values.seed ?? String(randomInt(2 ** 31)));
console.log(`${count} mutated ${kind}, seed ${seed}`);
const { cases, accepted, refused, stricter, disagreements } = fuzz(count, seed);
console.log(`${cases} cases: ${accepted} accepted, ${refused} refused, ${disagreements.length} disagreements`);
console.log('refused, and accepted by Node:');
for (const [fault, times] of stricter) console.log(`${String(times).padStart(10)}  ${fault}`);
for (const { text, segments, why } of disagreements) console.log(`${why}\n  ${JSON.stringify(text)} in ${segments}`);
process.exitCode = disagreements.length > 0 ? 1 : 0;

function readNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  console.error(`--${name} is a whole number above 0`);
  process.exit(2);
}
