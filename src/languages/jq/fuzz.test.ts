import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileJq, JqError, stringifyJqResult } from './jq.ts';

const bounds = { maxSteps: 2000, maxOutputs: 50, maxDepth: 50, maxBytes: 10_000 };

/** Whatever is given, there are results or a fault, and the results can be written or are too much. */
function survives(filter: string, input: unknown): void {
  try {
    for (const it of compileJq(filter).run(input, bounds)) stringifyJqResult(it, bounds);
  } catch (error) {
    assert.ok(error instanceof JqError, `${filter}: ${String(error)}`);
  }
}

const pieces =
  '. .. .a .b? .[] .[0] .[1:2] [ ] { } ( ) | , : ; ? // = |= += -= *= /= %= //= == != < <= and or not + - * / % if then elif else end try catch reduce foreach as $x $y def f f(.) label break $out "a" "\\( ") @json @csv @sh @base64d 1 0 -1 null true false map( select( path( del( to_entries from_entries with_entries( add any all flatten range( floor tostring tonumber type sort group_by( unique reverse contains( split( join( test( match( sub( gsub( getpath( setpath( delpaths( paths recurse limit( first( until( while( todate fromdate strptime( strftime( tojson fromjson implode explode indices( walk( transpose min_by( ltrimstr( ascii error empty infinite nan isvalid( splits( env input'.split(
    ' ',
  );

test('any sequence of tokens gives results or throws JqError', () => {
  const filters = fc.array(fc.constantFrom(...pieces), { maxLength: 15 }).map(it => it.join(' '));
  fc.assert(fc.property(filters, fc.jsonValue({ maxDepth: 3 }), survives), { numRuns: 2000 });
});

test('any text gives results or throws JqError', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.jsonValue(), survives), { numRuns: 1000 });
});

/** Filters that can be read, with parts of every kind put together at random. */
const filters = fc.letrec<{ term: string; pipe: string }>(tie => ({
  term: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('.', '..', '.a', '.[]', '.[0]', '.[-1:]', '1', '-1', '"a"', 'null', '[]', '{}', '$x', 'nan', '1e9'),
    tie('pipe').map(it => `(${it})`),
    tie('pipe').map(it => `[${it}]`),
    tie('pipe').map(it => `(${it})?`),
    tie('pipe').map(it => `{a: (${it}), (${it} | tostring): 1}`),
    fc
      .tuple(
        fc.constantFrom('map', 'select', 'path', 'del', 'sort_by', 'any', 'recurse', 'walk', 'first', 'isvalid', 'has'),
        tie('pipe'),
      )
      .map(([name, it]) => `${name}(${it})`),
    fc
      .tuple(
        fc.constantFrom(
          'setpath',
          'limit',
          'range',
          'until',
          'while',
          'sub',
          'gsub',
          'pow',
          'test',
          'split',
          'nth',
          'IN',
        ),
        tie('pipe'),
        tie('pipe'),
      )
      .map(([name, a, b]) => `${name}(${a}; ${b})`),
    fc.constantFrom(
      ...'add length keys to_entries from_entries flatten sort unique min max reverse tojson fromjson tostring tonumber explode implode todate fromdate gmtime mktime transpose paths type ascii @csv @tsv @html @uri @sh @base64 @base64d combinations'.split(
        ' ',
      ),
    ),
    fc.tuple(tie('pipe'), tie('pipe')).map(([a, b]) => `reduce (${a}) as [$x] (0; ${b})`),
    fc.tuple(tie('pipe'), tie('pipe')).map(([a, b]) => `foreach (${a}) as {a: $x} (.; ${b}; .)`),
    fc.tuple(tie('pipe'), tie('pipe')).map(([a, b]) => `(try (${a}) catch (${b}))`),
    fc.tuple(tie('pipe'), tie('pipe')).map(([a, b]) => `if ${a} then ${b} else . end`),
  ),
  pipe: fc
    .tuple(
      tie('term'),
      fc.constantFrom(...'| , // = |= += *= //= and == < + - * / %'.split(' ')),
      fc.oneof({ maxDepth: 4 }, fc.constant('.a'), tie('term')),
    )
    .map(([a, sign, b]) => `${a} ${sign} ${b}`),
}));

test('valid filters give results or throw JqError', () => {
  const defined = filters.pipe.map(it => `. as $x | ${it}`);
  fc.assert(fc.property(defined, fc.jsonValue({ maxDepth: 3 }), survives), { numRuns: 3000 });
});
