import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileRegex, findRegexError } from './regex.ts';

const unreadable = 'is not a valid regular expression (RE2 syntax)';
const slow = 'is too complex: it has too many repetitions';
const long = 'is longer than 5000 characters: use several';

const refused: readonly (readonly [pattern: string, why: string])[] = [
  ['(', unreadable],
  ['a{1001}', unreadable],
  ['(a{1000}){1000}', unreadable],
  ['(a)\\1', unreadable],
  ['a(?=b)', unreadable],
  ['(?<!a)b', unreadable],
  ['('.repeat(2000) + ')'.repeat(2000), unreadable],
  ['(?:a?){1000}a{1000}', slow],
  ['[a-z]{900}[0-9]{900}[A-Z]{900}', slow],
  [Array.from({ length: 2000 }, (_, at) => `word${at}`).join('|'), long],
];
for (const [pattern, why] of refused)
  test(`${pattern.slice(0, 40)} is refused, with the reason`, () => assert.equal(findRegexError(pattern), why));

for (const pattern of ['', '^/v\\d+/', '(a+)+$', '[a-z]{1,64}', '(?i)abc', '\\u00e9', 'a{1000}'])
  test(`${pattern} can be run`, () => assert.equal(findRegexError(pattern), undefined));

test('escapes of other dialects mean the character, and case counts unless a flag ignores it', () => {
  assert.ok(compileRegex('^\\u00e9$').test('é'));
  assert.ok(!compileRegex('^a$').test('A'));
  assert.ok(compileRegex('^a$', { ignoreCase: true }).test('A'));
});

test('maxInstructions lowers the bound on a pattern', () => {
  assert.throws(() => compileRegex('a{100}', { maxInstructions: 50 }), /too many repetitions/);
});
