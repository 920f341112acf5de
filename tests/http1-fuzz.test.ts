import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { fuzzRequests, stricterRefusals } from './support/http1-fuzz.ts';

/** `npm run fuzz` is the long run of it. */
test('mutated HTTP/1.1 requests are read as by the parser of Node, or refused for a listed reason', t => {
  const seed = randomInt(2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const { cases, accepted, refused, disagreements } = fuzzRequests(20_000, seed);
  assert.deepEqual(disagreements, [], `seed ${seed}`);
  assert.ok(accepted > cases / 10 && refused > cases / 10, `${accepted} accepted, ${refused} refused`);
});

test('every stricter refusal of HTTP/1.1 requests has a reason', () => {
  for (const [fault, reason] of stricterRefusals) assert.ok(reason.length > 10, fault);
});
