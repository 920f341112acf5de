import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripTypes } from './strip-types.ts';

test('types are stripped in place, and other syntax is a fault with its line', () => {
  const [plain, enumeration] = stripTypes(['const a: number = 1;', '\n\nenum Sign { A }']);
  assert.deepEqual(plain, { code: 'const a         = 1;', fault: undefined });
  assert.deepEqual([enumeration?.fault?.line, /enum/.test(enumeration!.fault!.message)], [3, true]);
});

test('a source that destroys the parser is a fault, and later sources are stripped', () => {
  for (const hostile of ['('.repeat(2000), '!'.repeat(20_000), `type A = ${'Array<'.repeat(5000)}`]) {
    assert.ok(stripTypes([hostile])[0]!.fault);
    assert.deepEqual(stripTypes(['let b: string;']), [{ code: 'let b        ;', fault: undefined }]);
  }
});
