import { builtins } from './builtins-table.ts';
import type { Closure } from './interpreter.ts';
import { parseDefinitions } from './parser.ts';
import type { Scope } from './scope.ts';
import { specialForms } from './special-forms.ts';

/** Builtins defined in jq itself. */
const source = `
  def map(f): [.[] | f];
  def map_values(f): .[] |= f;
  def select(f): if f then . else empty end;
  def values: select(. != null);
  def nulls: select(. == null);
  def booleans: select(type == "boolean");
  def numbers: select(type == "number");
  def strings: select(type == "string");
  def arrays: select(type == "array");
  def objects: select(type == "object");
  def iterables: select(type == "array" or type == "object");
  def scalars: select(type != "array" and type != "object");
  def recurse(f; test): recurse(f | select(test));
  def recurse_down: recurse;
  def in(whole): . as $key | whole | has($key);
  def inside(whole): . as $part | whole | contains($part);
  def paths: path(..) | select(. != []);
  def paths(test): . as $whole | paths | select(. as $path | $whole | getpath($path) | test);
  def leaf_paths: paths(scalars);
  def with_entries(f): to_entries | map(f) | from_entries;
  def add(f): [f] | add;
  def any: any(.[]; .);
  def any(test): any(.[]; test);
  def all: all(.[]; .);
  def all(test): all(.[]; test);
  def first: .[0];
  def last: .[-1];
  def last(f): reduce f as $it (null; $it);
  def nth($at): .[$at];
  def nth($at; f): if $at < 0 then error("nth doesn't support negative indices") else last(limit($at + 1; f)) end;
  def sort_by(f): _sort_by(map([f]));
  def group_by(f): _group_by(map([f]));
  def unique_by(f): _unique_by(map([f]));
  def min_by(f): _min_by(map([f]));
  def max_by(f): _max_by(map([f]));
  def indices($part):
    if . == null then null
    elif type == "string" then _string_indices($part)
    elif ($part | type) == "array" then _array_indices($part)
    else _array_indices([$part]) end;
  def index($part): indices($part) | .[0];
  def rindex($part): indices($part) | .[-1:][0];
  def walk(f): def each: (if type == "object" then map_values(each) elif type == "array" then map(each) else . end) | f; each;
  def isvalid(f): try (f | true) catch false;
  def match(pattern): _matches(pattern; null)[];
  def match(pattern; flags): _matches(pattern; flags)[];
  def test(pattern): _test(pattern; null);
  def test(pattern; flags): _test(pattern; flags);
  def capture(pattern): _captures(pattern; null)[];
  def capture(pattern; flags): _captures(pattern; flags)[];
  def scan(pattern): scan(pattern; null);
  def scan(pattern; $flags): match(pattern; "g" + $flags) | if .captures == [] then .string else [.captures[].string] end;
  def splits(pattern): split(pattern; null)[];
  def splits(pattern; flags): split(pattern; flags)[];
  def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
  def fromdate: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
  def todateiso8601: todate;
  def fromdateiso8601: fromdate;
  def date: todate;
  def dateadd(unit; by): . + by;
  def datesub(unit; by): . - by;
  def combinations: if length == 0 then [] else .[0][] as $first | .[1:] | combinations | [$first] + . end;
  def combinations($count): . as $list | [range($count) | $list] | combinations;
  def toarray: if type == "array" then . else [.] end;
  def finites: select(isfinite);
  def normals: select(isnormal);
  def IN(source): any(source == .; .);
  def IN(source; test): any(source == test; .);
  def INDEX(source; f): reduce source as $row ({}; .[$row | f | tostring] = $row);
  def INDEX(f): INDEX(.[]; f);
  def JOIN($index; key): [.[] | [., $index[key]]];
  def JOIN($index; source; key): source | [., $index[key]];
  def JOIN($index; source; key; pair): JOIN($index; source; key) | pair;
  def scalars_or_empty: scalars;
  def truncate_stream(events): . as $depth | null | events | select((.[0] | length) > $depth) | .[0] |= .[$depth:];
`;

const listUnsupported = (name: string, arities: readonly number[], why: string) =>
  arities.map(arity => [`${name}/${arity}`, `${name} is not offered: ${why}`] as const);

const one = 'a filter has one input, which is there when it begins';
const alone = 'a filter has no access beyond its input';
const special = 'the engine has no such function of numbers';
const unsupportedReasons: ReadonlyMap<string, string> = new Map([
  ...listUnsupported('input', [0], one),
  ...listUnsupported('inputs', [0], one),
  ...listUnsupported('input_line_number', [0], one),
  ...listUnsupported('input_filename', [0], one),
  ...listUnsupported('env', [0], alone),
  ['$ENV', `$ENV is not offered: ${alone}`],
  ...listUnsupported('debug', [0, 1], alone),
  ...listUnsupported('stderr', [0], alone),
  ...listUnsupported('halt', [0], alone),
  ...listUnsupported('halt_error', [0, 1], alone),
  ...listUnsupported('modulemeta', [0], alone),
  ...listUnsupported('get_search_list', [0], alone),
  ...listUnsupported('get_jq_origin', [0], alone),
  ...listUnsupported('get_prog_origin', [0], alone),
  ...listUnsupported('builtins', [0], 'the guide lists the functions'),
  ...['gamma', 'lgamma', 'lgamma_r', 'tgamma', 'erf', 'erfc', 'j0', 'j1', 'y0', 'y1', 'pow10'].flatMap(name =>
    listUnsupported(name, [0], special),
  ),
  ...['jn', 'yn'].flatMap(name => listUnsupported(name, [2], special)),
]);

/** Global scope of every filter. */
export const builtinScope: Scope = {
  has: name => loadPrelude().has(name) || name in specialForms || name in builtins,
  unsupportedReason: name => unsupportedReasons.get(name),
};

let cachedPrelude: ReadonlyMap<string, Closure> | undefined;

export function loadPrelude(): ReadonlyMap<string, Closure> {
  if (cachedPrelude) return cachedPrelude;
  const names = new Set(
    [...source.matchAll(/^ {2}def (\w+)(?:\(([^)]*)\))?:/gm)].map(([, name, params]) => {
      return `${name}/${params === undefined ? 0 : params.split(';').length}`;
    }),
  );
  const scope: Scope = {
    has: name => names.has(name) || name in specialForms || name in builtins,
    unsupportedReason: () => undefined,
  };
  cachedPrelude = new Map(
    parseDefinitions(source, scope).map(({ name, params, body }) => [name, { params, body, env: undefined }]),
  );
  return cachedPrelude;
}
