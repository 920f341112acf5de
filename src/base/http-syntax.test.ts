import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldValuePattern, tokenPattern } from './http-syntax.ts';

test('a header name is a token', () => {
  for (const text of ['X-Own', 'x_own', 'a', "!#$%&'*+-.^_`|~0"]) assert.ok(tokenPattern.test(text), text);
  for (const text of ['', 'a b', 'a:', 'a\n', 'ü', '(a)', 'a/b', '"a"']) assert.ok(!tokenPattern.test(text), text);
});

test('a field value has no line break and no character beyond one byte', () => {
  for (const text of ['', 'a b', 'a\tb', '\xe4']) assert.ok(fieldValuePattern.test(text), text);
  for (const text of ['a\r', 'a\nb', '\0', '\x7f', '\u0144']) assert.ok(!fieldValuePattern.test(text), text);
});
