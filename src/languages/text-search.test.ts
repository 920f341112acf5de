import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findOccurrences, includesText, type SearchBudget, splitText } from './text-search.ts';

/** Adds up what a search charges. */
class CountingBudget implements SearchBudget {
  steps = 0;
  characters = 0;

  spend(steps: number): void {
    this.steps += steps;
  }

  chargeScan(characters: number): void {
    this.characters += characters;
  }
}

/** Texts of two letters, long enough for both kinds of search. */
const text = (maxLength: number) =>
  fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength }).map(letters => letters.join(''));

function listOffsets(needle: string, plain: string): number[] {
  const offsets: number[] = [];
  for (let at = plain.indexOf(needle); at >= 0; at = plain.indexOf(needle, at + 1)) offsets.push(at);
  return offsets;
}

describe('Text search', () => {
  test('finds what indexOf, includes and split find, overlapping occurrences included', () => {
    const repeated = fc.tuple(text(6), fc.nat(8)).map(([part, times]) => part.repeat(times + 1));
    fc.assert(
      fc.property(
        fc.oneof(text(40), repeated),
        fc.array(fc.oneof(text(10), repeated), { maxLength: 6 }),
        (needle, parts) => {
          const plain = parts.join(needle);
          const budget = new CountingBudget();
          assert.equal(includesText(needle, plain, budget), plain.includes(needle));
          assert.deepEqual(findOccurrences(needle, plain, budget), listOffsets(needle, plain));
          assert.deepEqual(splitText(needle, plain, budget), plain.split(needle));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('an empty joint splits code points, at most max of them', () => {
    assert.deepEqual(splitText('', 'a😀b', new CountingBudget()), ['a', '😀', 'b']);
    assert.deepEqual(splitText('', 'a😀b', new CountingBudget(), 2), ['a', '😀b']);
    assert.deepEqual(splitText(',', 'a,b,c', new CountingBudget(), 2), ['a', 'b,c']);
  });

  test('the characters of text and needle are charged, and a step for each occurrence', () => {
    const budget = new CountingBudget();
    findOccurrences('a'.repeat(20), 'a'.repeat(100), budget);
    assert.deepEqual([budget.steps, budget.characters], [81, 120]);
  });
});
