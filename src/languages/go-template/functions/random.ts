import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Budget } from '../budget.ts';
import { TemplateFault } from '../error.ts';
import { type Fn, type FunctionTable, fixed, text, whole } from './fn.ts';

/** Longer random text is asked for by mistake. */
const longest = 4096;
const [upper, digits] = ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];
const letters = upper + upper.toLowerCase();
const ascii = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('');

function sizeOf(value: unknown, budget: Budget): number {
  const size = whole(value);
  if (size < 0 || size > longest) throw new TemplateFault(`random text has 0 to ${longest} characters`);
  budget.spend(size);
  return size;
}

const from = (alphabet: string): Fn =>
  fixed(1, ([size], budget) =>
    Array.from({ length: sizeOf(size, budget) }, () => alphabet[randomInt(alphabet.length)]).join(''),
  );

function between(least: number, below: number): number {
  if (below <= least || below - least > 2 ** 47) throw new TemplateFault('an empty range');
  return randomInt(least, below);
}

function shuffled(plain: string, budget: Budget): string {
  const letters = [...plain];
  budget.spend(letters.length);
  for (let at = letters.length - 1; at > 0; at--) {
    const other = randomInt(at + 1);
    [letters[at], letters[other]] = [letters[other]!, letters[at]!];
  }
  return letters.join('');
}

export const chance: FunctionTable = {
  uuidv4: fixed(0, () => randomUUID()),
  randAlphaNum: from(letters + digits),
  randAlpha: from(letters),
  randNumeric: from(digits),
  randAscii: from(ascii),
  randInt: fixed(2, ([least, below]) => between(whole(least), whole(below))),
  randBytes: fixed(1, ([size], budget) => randomBytes(sizeOf(size, budget)).toString('base64')),
  shuffle: fixed(1, ([plain], budget) => shuffled(text(plain), budget)),
};
