import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { TemplateBudget } from '../budget.ts';
import { TemplateError } from '../error.ts';
import { type FunctionTable, requireInteger, requireText, type TemplateFunction, withArity } from './fn.ts';

/** Bounds random text and bytes. */
const maxRandomCharacters = 4096;
const [upper, digits] = ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];
const letters = upper + upper.toLowerCase();
const ascii = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('');

function requireSize(value: unknown, budget: TemplateBudget): number {
  const size = requireInteger(value);
  if (size < 0 || size > maxRandomCharacters)
    throw new TemplateError(`random text has 0 to ${maxRandomCharacters} characters`);
  budget.spend(size);
  return size;
}

const randomTextOf = (alphabet: string): TemplateFunction =>
  withArity(1, ([size], budget) =>
    Array.from({ length: requireSize(size, budget) }, () => alphabet[randomInt(alphabet.length)]).join(''),
  );

function randomBetween(min: number, below: number): number {
  if (below <= min || below - min > 2 ** 47) throw new TemplateError('an empty range');
  return randomInt(min, below);
}

function shuffle(plain: string, budget: TemplateBudget): string {
  const letters = [...plain];
  budget.spend(letters.length);
  for (let at = letters.length - 1; at > 0; at--) {
    const other = randomInt(at + 1);
    [letters[at], letters[other]] = [letters[other]!, letters[at]!];
  }
  return letters.join('');
}

export const randomFunctions: FunctionTable = {
  uuidv4: withArity(0, () => randomUUID()),
  randAlphaNum: randomTextOf(letters + digits),
  randAlpha: randomTextOf(letters),
  randNumeric: randomTextOf(digits),
  randAscii: randomTextOf(ascii),
  randInt: withArity(2, ([least, below]) => randomBetween(requireInteger(least), requireInteger(below))),
  randBytes: withArity(1, ([size], budget) => randomBytes(requireSize(size, budget)).toString('base64')),
  shuffle: withArity(1, ([plain], budget) => shuffle(requireText(plain), budget)),
};
