import fc from 'fast-check';

/** Small values of every kind, with the names and paths of generated filters. */
export const values: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, 1, -1, 2, 1.5, '', 'a', 'b', 'ab', 'é'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

const leaves = [
  ...['.', '.a', '.b', '.a?', '.a.b?', '.[0]', '.[0]?', '.[-1]?', '.[]', '.[]?', '.[].a?', '.[1:]?', '..'],
  ...['null', 'true', '1', '"a"', '[]', '{}', '[1,2]', '{a:1}', 'empty', 'error("x")', '$__loc__.file', 'infinite'],
  ...['length', 'keys', 'type', 'not', 'add', 'tojson', 'tostring', 'sort', 'unique', 'first', 'last', 'any', 'all'],
  ...['flatten', 'to_entries', 'tostream', 'isnan', 'isempty(.[]?)', 'explode', 'ascii_downcase', '@json', '@text'],
  ...['paths', 'leaf_paths', 'scalars', 'values', 'min', 'max', 'join(",")', 'has("a")', 'has(0)', 'utf8bytelength'],
  ...['del(.a?)', 'del(.[0]?)', 'fromstream(tostream)', 'tojson|fromjson', 'ltrimstr("a")', 'startswith("a")'],
];

const wrap =
  (text: string) =>
  (...parts: readonly string[]) =>
    text.replaceAll(/F(\d)/g, (_all, at: string) => `(${parts[Number(at)]})`);

const shapes: readonly (readonly [parts: number, text: string])[] = [
  [1, '[F0]'],
  // In a list: behind its own `try` the original swallows errors of what follows.
  [1, '[F0?]'],
  [1, '-F0'],
  [1, '{a: F0}'],
  [1, '[limit(2; F0)]'],
  [1, 'first(F0)'],
  [1, 'isempty(F0)'],
  [1, '[try F0 catch "caught"]'],
  [1, 'map(F0)'],
  [1, 'select(F0)'],
  [1, 'sort_by(F0)'],
  [1, 'group_by(F0)'],
  [1, '[path(.a?, .[0]?, ..) | F0]'],
  [1, '"x\\(F0)"'],
  [1, '.a = F0'],
  [1, '.a |= F0'],
  [1, '.[0] += F0'],
  [1, 'F0 as [$x, $y] | $y'],
  [1, 'F0 as {a: $x} | $x'],
  [1, '[F0 as [$x] ?// $x | [$x]]'],
  [1, 'label $out | F0 | ., break $out'],
  [2, 'F0 | F1'],
  [2, 'F0, F1'],
  [2, 'F0 // F1'],
  [2, 'F0 + F1'],
  [2, 'F0 - F1'],
  [2, 'F0 == F1'],
  [2, 'F0 < F1'],
  [2, 'F0 and F1'],
  [2, 'F0 or F1'],
  [2, 'F0 as $x | F1 | [., $x]'],
  [2, 'reduce F0 as $x (0; F1)'],
  [2, '[foreach F0 as $x (0; F1)]'],
  [3, 'if F0 then F1 else F2 end'],
];

/** Filters of some depth over the leaves. */
export const filters: fc.Arbitrary<string> = fc.letrec<{ filter: string }>(tie => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...leaves),
    ...shapes.map(([parts, text]) =>
      fc.tuple(...Array.from({ length: parts }, () => tie('filter'))).map(it => wrap(text)(...it)),
    ),
  ),
})).filter;
