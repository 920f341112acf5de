import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyMutation, mutationsOf } from '../tools/mutation/mutations.ts';
import { maskSource } from '../tools/mutation/source-mask.ts';
import { createTestSelection } from '../tools/mutation/test-selection.ts';

describe('mutation testing', () => {
  const mutated = (source: string) => mutationsOf(source).map(it => applyMutation(source, it));

  test('comments, strings, template text and regular expressions are masked, expressions in templates are not', () => {
    const open = '$' + '{';
    const rows: [source: string, code: string][] = [
      ['a // b === c\nd', 'a\nd'],
      ['a /* b\nc */ d', 'a\nd'],
      [`'a === b' + c`, '+ c'],
      [`\`a ${open}b === c} d\` + e`, 'b === c + e'],
      [`\`${open}\`${open}a}\` + b}\` + c`, 'a + b + c'],
      ['x = /a === [/]b/g.test(y)', 'x = .test(y)'],
      ['a / b / c', 'a / b / c'],
      [`f({ a: 'x}', b }) === c`, 'f({ a: , b }) === c'],
    ];
    const squeezed = (text: string) =>
      text
        .replaceAll(/ *\n */g, '\n')
        .replaceAll(/ +/g, ' ')
        .trim();
    for (const [source, code] of rows) {
      assert.equal(maskSource(source).length, source.length, source);
      assert.equal(squeezed(maskSource(source)), code, source);
    }
  });

  test('each operator changes one place and leaves code that parses', () => {
    assert.deepEqual(mutated('const a = b === c;'), ['const a = b !== c;']);
    assert.deepEqual(mutated('const a = b < c;'), ['const a = b <= c;']);
    assert.deepEqual(mutated('const a = b ?? c;'), ['const a = b && c;']);
    assert.deepEqual(mutated('const a = 1000;'), ['const a = 0;']);
    assert.deepEqual(mutated('const a = { b: true };'), ['const a = { b: false };']);
    assert.deepEqual(mutated('function f() {\n  if (a) return b;\n}'), [
      'function f() {\n  ;\n}',
      'function f() {\n  if (!(a)) return b;\n}',
    ]);
    assert.deepEqual(mutated('function f() {\n  a.b(c);\n}'), ['function f() {\n  ;\n}']);
    assert.deepEqual(mutated('async function f() {\n  await a.b(c);\n}'), [
      'async function f() {\n  ;\n}',
      'async function f() {\n  a.b(c);\n}',
    ]);
  });

  test('types, texts and generics are left alone', () => {
    assert.deepEqual(
      mutated(`interface A {\n  readonly b: true;\n}\ntype C = 'a === b' | false;\nconst d = new Map<string, true>();`),
      [],
    );
  });

  test('a file’s own test comes first, then those nearest to it by imports and name', () => {
    const tests = createTestSelection(`${import.meta.dirname}/..`).testsFor('src/gateway/auth/basic.ts', 4);
    assert.equal(tests[0], 'src/gateway/auth/basic.test.ts');
    assert.equal(tests.length, 4);
  });
});
