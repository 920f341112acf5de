import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { TemplateError } from './error.ts';
import { functionTable } from './functions/table.ts';
import { compileTemplate } from './template.ts';

/** Every failure is a TemplateError. */
function onlyFaults(run: () => unknown, about: string): void {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof TemplateError, `${about}: ${(error as Error).stack}`);
  }
}

const bounds = { maxSteps: 3000, maxBytes: 20_000, maxDepth: 20 };
const words = [
  ...['{{', '}}', '{{-', '-}}', '{{if ', '{{else}}', '{{else if ', '{{end}}', '{{range ', '{{with ', '{{define "a"}}'],
  ...[
    '{{template "a" .}}',
    '{{block "a" .}}',
    '{{break}}',
    '{{continue}}',
    '{{/* a */}}',
    '$x',
    '$x := ',
    '$x = ',
    '$',
  ],
  ...['.', '.a', '.a.b', '.list', ' ', '\n', '|', '(', ')', ',', '"text"', '`raw`', "'c'", '1', '-2.5', '0x1f', 'nil'],
  ...['true', 'print ', 'eq ', 'index ', 'len ', 'text', '"', '`', "'", '\\', 'é', '😀', '\u0000'],
];
const data = () => ({ a: { b: 'x' }, list: [1, 'two', null, { three: [3] }], n: 1.5, text: 'a b' });

test('any source and data either renders or throws TemplateError', () => {
  const source = fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(source, parts => {
      const text = parts.join('');
      onlyFaults(() => compileTemplate(text).render(data(), bounds), text);
    }),
    { numRuns: 1000 },
  );
});

test('any function called with any arguments returns or throws TemplateError', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>(undefined, null, Number.NaN, Number.POSITIVE_INFINITY, 1e300, -1e300, 2n ** 80n, -1, 0),
    fc.constantFrom('2006-01-02', '%d%s%v%5.2f%[2]q', '(', '1.2.3', '$1', '/a/../b', 'http://h/%zz', '\ud800', '1h'),
    fc.constant(new Date(0)),
    fc.constant(new Date(8.64e15)),
    fc.string({ unit: 'binary' }),
    fc.integer(),
    fc.double(),
  );
  const names = [...functionTable.keys()];
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.array(value, { maxLength: 4 }), (name, args) => {
      const source = `{{${name} ${args.map((_, at) => `(index . ${at})`).join(' ')}}}`;
      onlyFaults(() => compileTemplate(source).render(args, bounds), `${source} ${inspect(args)}`);
    }),
    { numRuns: 5000 },
  );
});
