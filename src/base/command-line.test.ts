import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine } from './command-line.ts';

const parse = (...given: string[]) => {
  const { words, flags } = parseCommandLine(given, name => name === 'help' || name === 'rotate');
  return { words, flags: [...flags] };
};

test('words and flags are parsed in any order', () => {
  assert.deepEqual(parse('start', '--role', 'portal', 'again', '--data-dir=/d'), {
    words: ['start', 'again'],
    flags: [
      ['role', 'portal'],
      ['data-dir', '/d'],
    ],
  });
  assert.deepEqual(parse(), { words: [], flags: [] });
});

test('a value may be empty, hold =, a line break or begin with a single dash', () => {
  assert.deepEqual(parse('--a=', '--b=x=y', '--c', '-5', '--d=1\n2').flags, [
    ['a', ''],
    ['b', 'x=y'],
    ['c', '-5'],
    ['d', '1\n2'],
  ]);
});

test('a switch takes no value from the next word, only after =', () => {
  assert.deepEqual(parse('credentials', '--rotate', 'now'), {
    words: ['credentials', 'now'],
    flags: [['rotate', 'true']],
  });
  assert.deepEqual(parse('--rotate=false').flags, [['rotate', 'false']]);
});

test('the last of two equal flags wins', () => {
  assert.deepEqual(parse('--a', '1', '--a', '2').flags, [['a', '2']]);
});

test('a flag without its value is refused by name', () => {
  for (const given of [['--role'], ['--role', '--help']])
    assert.throws(() => parse('start', ...given), { code: 'command.needs_value', message: '--role needs a value' });
});

test('a flag may have any name without becoming part of the program', () => {
  assert.deepEqual(parse('--__proto__', 'x').flags, [['__proto__', 'x']]);
});
