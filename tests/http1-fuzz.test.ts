import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { fuzzRequests, stricterRefusals } from './support/http1-fuzz.ts';
import { fuzzResponses, stricterResponseRefusals } from './support/http1-response-fuzz.ts';

/** `npm run fuzz` is the long run of it. */
const kinds = [
  { kind: 'requests', fuzz: fuzzRequests, refusals: stricterRefusals },
  { kind: 'responses', fuzz: fuzzResponses, refusals: stricterResponseRefusals },
];

for (const { kind, fuzz, refusals } of kinds) {
  test(`mutated HTTP/1.1 ${kind} are read as by the parser of Node, or refused for a listed reason`, t => {
    const seed = randomInt(2 ** 31);
    t.diagnostic(`seed ${seed}`);
    const { cases, accepted, refused, disagreements } = fuzz(20_000, seed);
    assert.deepEqual(disagreements, [], `seed ${seed}`);
    assert.ok(accepted > cases / 10 && refused > cases / 10, `${accepted} accepted, ${refused} refused`);
  });

  test(`every stricter refusal of HTTP/1.1 ${kind} has a reason`, () => {
    for (const [fault, reason] of refusals) assert.ok(reason.length > 10, fault);
  });
}
