import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileJq, JqError, stringifyJqResult } from './jq.ts';

type Row = readonly [input: string, filter: string, results: string];

/** What a filter gives for a value; several results with `;` between. */
const rows: readonly Row[] = [
  ['{"a":1}', '.', '{"a":1}'],
  ['{"a":{"b":2}}', '.a.b', '2'],
  ['{"a":null}', '.a.b.c', 'null'],
  ['{"a b":1}', '."a b"', '1'],
  ['{"a b":1}', '.["a b"]', '1'],
  ['{"a":{"b c":1}}', '.a."b c"', '1'],
  ['{"a":[1,2]}', '.a[0], .a[-1], .a[5]', '1 ; 2 ; null'],
  ['[1,2,3,4,5]', '.[1:3], .[:2], .[-2:], .[1:][0]', '[2,3] ; [1,2] ; [4,5] ; 2'],
  ['"abcdef"', '.[2:4], .[:-1]', '"cd" ; "abcde"'],
  ['"h😀llo"', '.[1:3], length, utf8bytelength', '"😀l" ; 5 ; 8'],
  ['null', '.[1:2]', 'null'],
  ['[1,[2]]', '.[]', '1 ; [2]'],
  ['{"a":1,"b":2}', '.[]', '1 ; 2'],
  ['5', '.[]?', ''],
  ['5', '[.[]?, 1]', '[1]'],
  ['{"a":[{"b":1},{"b":2}]}', '.a[].b', '1 ; 2'],
  ['{"a":[{"b":1},{"b":2}]}', '[.a[] | .b * 2]', '[2,4]'],
  ['1', '.a?', ''],
  ['[1]', '.["a"]?', ''],
  ['null', '1, 2, (3, 4)', '1 ; 2 ; 3 ; 4'],
  ['null', '(1,2) + (10,20)', '11 ; 12 ; 21 ; 22'],
  ['null', '[(1,2) * (3,4)]', '[3,6,4,8]'],
  ['null', '{a:(1,2), b:(3,4)}', '{"a":1,"b":3} ; {"a":1,"b":4} ; {"a":2,"b":3} ; {"a":2,"b":4}'],
  ['null', '{("a","b"): (1,2)}', '{"a":1} ; {"a":2} ; {"b":1} ; {"b":2}'],
  ['null', '"\\(1,2) \\(3,4)"', '"1 3" ; "2 3" ; "1 4" ; "2 4"'],
  [
    '{"user":"u","titles":["x","y"]}',
    '{user, title: .titles[]}',
    '{"user":"u","title":"x"} ; {"user":"u","title":"y"}',
  ],
  ['{"a":1}', '{"b\\(.a)": 2, "c": 3, @base64 "x": 4}', '{"b1":2,"c":3,"x":4}'],
  ['null', '[.[]?]', '[]'],
  ['[3,1,2]', 'sort, sort_by(-.), min, max, reverse, add, length', '[1,2,3] ; [3,2,1] ; 1 ; 3 ; [2,1,3] ; 6 ; 3'],
  [
    '[[2,"b"],[1,"a"],[2,"a"]]',
    'sort, group_by(.[0]), unique_by(.[0]), min_by(.[1]), max_by(.[1])',
    '[[1,"a"],[2,"a"],[2,"b"]] ; [[[1,"a"]],[[2,"b"],[2,"a"]]] ; [[1,"a"],[2,"b"]] ; [1,"a"] ; [2,"b"]',
  ],
  ['[null,true,false,1,"a",[1],{"a":1},0,{},[],"","B"]', 'sort', '[null,false,true,0,1,"","B","a",[],[1],{},{"a":1}]'],
  [
    '[{"b":1},{"a":2},{"a":1},{"a":1,"b":0}]',
    'sort, unique',
    '[{"a":1},{"a":2},{"a":1,"b":0},{"b":1}] ; [{"a":1},{"a":2},{"a":1,"b":0},{"b":1}]',
  ],
  ['[1,1,2]', 'unique', '[1,2]'],
  [
    '{"b":1,"a":2}',
    'keys, keys_unsorted, to_entries, length',
    '["a","b"] ; ["b","a"] ; [{"key":"b","value":1},{"key":"a","value":2}] ; 2',
  ],
  ['[5,6]', 'keys, has(0), has(2)', '[0,1] ; true ; false'],
  ['{"a":1}', 'has("a"), has("b")', 'true ; false'],
  ['["a"]', 'map(in({"a":1}))', '[true]'],
  [
    '"foobar"',
    'contains("bar"), startswith("foo"), endswith("bar"), ltrimstr("foo"), rtrimstr("bar")',
    'true ; true ; true ; "bar" ; "foo"',
  ],
  ['["foobar","baz"]', 'contains(["bar"]), contains(["x"]), inside(["foobar","baz","z"])', 'true ; false ; true'],
  ['{"foo":12,"bar":[1,2,{"x":"yy"}]}', 'contains({bar:[{x:"y"}]}), contains({foo:12})', 'true ; true'],
  ['"bar"', 'inside("foobar")', 'true'],
  ['[1,[2,[3]]]', 'flatten, flatten(1), flatten(0)', '[1,2,3] ; [1,2,[3]] ; [1,[2,[3]]]'],
  [
    'null',
    '[range(5)], [range(2;4)], [range(0;10;3)], [range(5;0;-2)], [range(0,1;3,4)]',
    '[0,1,2,3,4] ; [2,3] ; [0,3,6,9] ; [5,3,1] ; [0,1,2,0,1,2,3,1,2,1,2,3]',
  ],
  ['[1,2,3]', 'first, last, nth(1), last(.[]), nth(2;.[])', '1 ; 3 ; 2 ; 3 ; 3'],
  ['1', '[recurse(if . < 3 then . + 1 else empty end)], [recurse(. + 1; . < 4)]', '[1,2,3] ; [1,2,3]'],
  [
    '{"a":[{"b":null}]}',
    '[..], [paths], [leaf_paths], [paths(type == "number")], [path(..)]',
    '[{"a":[{"b":null}]},[{"b":null}],{"b":null},null] ; [["a"],["a",0],["a",0,"b"]] ; [] ; [] ; [[],["a"],["a",0],["a",0,"b"]]',
  ],
  [
    '{"a":1,"b":[2]}',
    'path(.a), path(.b[0]), [path(.b[])], path(.b[1:2])',
    '["a"] ; ["b",0] ; [["b",0]] ; ["b",{"start":1,"end":2}]',
  ],
  ['{"a":1}', 'del(.a), del(.b), del(.a,.b)', '{} ; {"a":1} ; {}'],
  [
    '[1,2,3,4]',
    'del(.[1]), del(.[1,2]), del(.[1:3]), del(.[-1]), del(.[] | select(. > 2)), del(.[0],.[0])',
    '[1,3,4] ; [1,4] ; [1,4] ; [1,2,3] ; [1,2] ; [2,3,4]',
  ],
  [
    '{"a":{"b":[1,2]}}',
    'del(.a.b[0]), delpaths([["a","b",1]]), delpaths([]), del(.a.b[])',
    '{"a":{"b":[2]}} ; {"a":{"b":[1]}} ; {"a":{"b":[1,2]}} ; {"a":{"b":[]}}',
  ],
  [
    '{"a":1}',
    'setpath(["b","c"];2), getpath(["a"]), getpath(["x","y"]), setpath([];3)',
    '{"a":1,"b":{"c":2}} ; 1 ; null ; 3',
  ],
  ['null', 'setpath([2];1), setpath(["a",1];2)', '[null,null,1] ; {"a":[null,2]}'],
  [
    '{"a":1}',
    '.a = 2, .b = 3, .c.d = 4, .a += 1, .a -= 1, .a *= 3, .a /= 2, .a %= 1, .a //= 5, .x //= 5',
    '{"a":2} ; {"a":1,"b":3} ; {"a":1,"c":{"d":4}} ; {"a":2} ; {"a":0} ; {"a":3} ; {"a":0.5} ; {"a":0} ; {"a":1} ; {"a":1,"x":5}',
  ],
  ['{"a":[1,2,3]}', '.a[] |= . + 1', '{"a":[2,3,4]}'],
  ['{"a":[1,2,3]}', '.a |= map(. * 2)', '{"a":[2,4,6]}'],
  ['{"a":1}', '.a |= (., 5)', '{"a":1}'],
  ['{"a":1,"b":2}', '.[] += 10', '{"a":11,"b":12}'],
  ['{"a":1}', '(.a, .b) = (1, 2)', '{"a":1,"b":1} ; {"a":2,"b":2}'],
  ['{"a":1}', '.a = (.b = 1)', '{"a":{"a":1,"b":1}}'],
  ['[1,2,3]', '.[1:] = ["x"], .[:1] |= map(. * 10)', '[1,"x"] ; [10,2,3]'],
  ['{"a":[{"b":1,"c":2},{"b":3}]}', '(.a[] | select(.b == 1) | .c) = 9', '{"a":[{"b":1,"c":9},{"b":3}]}'],
  ['{"a":[{"b":1}]}', '.a[0].b |= empty', '{"a":[{}]}'],
  ['[1,2,3]', '(.[] | select(. == 2)) |= empty', '[1,3]'],
  [
    '{"a":1}',
    'to_entries, with_entries(.value += 1), with_entries(select(.key == "x"))',
    '[{"key":"a","value":1}] ; {"a":2} ; {}',
  ],
  ['[1,2]', 'map(. + 1), map(., .), map(empty)', '[2,3] ; [1,1,2,2] ; []'],
  ['{"a":1}', 'map_values(. + 1), map_values(empty), map(. + 1)', '{"a":2} ; {} ; [2]'],
  ['null', '1 as $x | 2 as $y | [$x, $y]', '[1,2]'],
  ['[[1,2],[3,4]]', '.[] as [$a, $b] | {a: $a, b: $b}', '{"a":1,"b":2} ; {"a":3,"b":4}'],
  ['{"a":{"b":[1,2]}}', '. as {a: {b: [$x, $y]}} | $x + $y', '3'],
  ['{"k":"a","a":5}', '. as {k: $k} | .[$k]', '5'],
  ['{"a":1}', '. as {$a} | $a', '1'],
  ['{"a":[7]}', '. as {$a: [$b]} | [$a, $b]', '[[7],7]'],
  ['{"as":1}', '. as {"as": $x} | $x', '1'],
  ['{"b":2}', '. as {("a","b"): $x} | $x', 'null ; 2'],
  ['[[3]]', '.[] as [$a] ?// $a | [$a]', '[3]'],
  ['[[3],4]', '[.[] as [$a] ?// $a | $a]', '[3,4]'],
  ['[1,2,3]', 'reduce .[] as $x (0; . + $x)', '6'],
  [
    '[1,2,3]',
    '[foreach .[] as $x (0; . + $x)], [foreach .[] as $x (0; . + $x; [$x, .])]',
    '[1,3,6] ; [[1,1],[2,3],[3,6]]',
  ],
  ['[1,2,3]', 'reduce .[] as $x (0; empty)', 'null'],
  ['[1,2,3]', 'reduce .[] as $x (0; ., 5)', '5'],
  ['[1,2,3]', '[foreach .[] as $x (0; if $x == 2 then empty else . + $x end)]', '[1,3]'],
  ['[[1,2],[3,4]]', 'reduce .[] as [$a,$b] (0; . + $a * $b)', '14'],
  ['null', 'def f: 5; f', '5'],
  ['null', 'def f(x): x * 2; f(3)', '6'],
  ['null', 'def f($a; $b): $a + $b + a; f(1;2)', '4'],
  ['5', 'def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; fac', '120'],
  ['[1,2]', 'def f(g): map(g); f(. + 1)', '[2,3]'],
  ['null', 'def f: def g: 3; g; f', '3'],
  ['null', 'def f(x): 1 as $x | x; 5 as $x | f($x)', '5'],
  ['null', '[def f(n): if n > 0 then n, f(n - 1) else empty end; f(3)]', '[3,2,1]'],
  ['null', 'if true then "y" else "n" end', '"y"'],
  ['[1,null,false,0]', 'map(if . then 1 else 2 end)', '[1,2,2,1]'],
  ['null', 'if (true, false) then 1 else 2 end', '1 ; 2'],
  ['5', 'if . == 1 then "a" elif . == 5 then "b" else "c" end', '"b"'],
  ['null', 'try error("x") catch .', '"x"'],
  ['null', 'try error({a:1}) catch .a', '1'],
  ['null', '[.[] | try error("x") catch .]?', ''],
  ['[1,"a",2]', '[.[] | try tonumber catch "no"]', '[1,"no",2]'],
  ['[1,null]', '[.[] | (.a)?]', '[null]'],
  ['null', 'try error("\\(1 + 1)") catch .', '"2"'],
  ['null', '[label $out | 1, break $out, 2]', '[1]'],
  ['null', '[label $f | range(10) | ., (select(. == 3) | break $f)]', '[0,1,2,3]'],
  ['[false,1,null,2]', '[.[] // 3]', '[1,2]'],
  ['[]', '.[] // "none"', '"none"'],
  ['null', '.a // "d"', '"d"'],
  ['[false,null]', '[.[] // empty]', '[]'],
  ['null', '1 // 2, null // 3, false // null', '1 ; 3 ; null'],
  ['null', '(1, null, 2) // 3', '1 ; 2'],
  [
    'null',
    '[true, false | not], (true and false), (true or error), (false and error), (null or false)',
    '[false,true] ; false ; true ; false ; false',
  ],
  ['null', '[(true, false) and (true, false)]', '[true,false,false]'],
  ['null', '[(true, false) or (true, false)]', '[true,true,false]'],
  ['null', '1 + 2 * 3 - 4 / 2 % 3', '5'],
  ['null', '7 % 3, -7 % 3, 7 % -3, 5.9 % 2', '1 ; -1 ; 1 ; 1'],
  [
    'null',
    'try (1 % 0) catch .',
    '"number (1) and number (0) cannot be divided (remainder) because the divisor is zero"',
  ],
  ['null', '-1, -(1 + 2), [-(1,2)]', '-1 ; -3 ; [-1,-2]'],
  ['null', '"a" + "b", null + 1, 1 + null, [1] + [2], {a:1} + {b:2} + {a:3}', '"ab" ; 1 ; 1 ; [1,2] ; {"a":3,"b":2}'],
  [
    'null',
    '[1,2,3,2] - [2], "abc" * 2, ("x" * 0), {a:{b:1}} * {a:{c:2}}, "a,b" / ","',
    '[1,3] ; "abcabc" ; null ; {"a":{"b":1,"c":2}} ; ["a","b"]',
  ],
  [
    'null',
    '1 < 2, "a" < "b", [1] < [2], {} < [], null < false, 1 == 1.0, "a" != "a", 1 >= 1',
    'true ; true ; true ; false ; true ; true ; false ; true',
  ],
  [
    'null',
    '@json "x\\([1,"a"])", @text "\\([1])", @csv "\\([1,"a\\"b",null,true])", @tsv "\\(["a\\tb","c\\\\"])"',
    '"x[1,\\"a\\"]" ; "[1]" ; "1,\\"a\\"\\"b\\",,true" ; "a\\\\tb\\tc\\\\\\\\"',
  ],
  ['"a b/é?"', '@uri', '"a%20b%2F%C3%A9%3F"'],
  ['["it\'s", 1]', '@sh, @sh "echo \\(.)"', "\"'it'\\\\''s' 1\" ; \"echo 'it'\\\\''s' 1\""],
  ['"hello"', '@base64, (@base64 | @base64d)', '"aGVsbG8=" ; "hello"'],
  ['[1,"a"]', '@json, @text, @csv, @tsv', '"[1,\\"a\\"]" ; "[1,\\"a\\"]" ; "1,\\"a\\"" ; "1\\ta"'],
  ['{"a":1}', 'tostring, tojson, (tojson | fromjson)', '"{\\"a\\":1}" ; "{\\"a\\":1}" ; {"a":1}'],
  ['"x"', 'tostring, tojson', '"x" ; "\\"x\\""'],
  ['"12"', 'tonumber, (. | tonumber | . + 1)', '12 ; 13'],
  ['null', '[1,"a",null,true,[],{}] | map(type)', '["number","string","null","boolean","array","object"]'],
  [
    '"abc"',
    'explode, (explode | implode), ascii_upcase, ("ABC" | ascii_downcase)',
    '[97,98,99] ; "abc" ; "ABC" ; "abc"',
  ],
  ['"a, b,c"', 'split(", "), split(","), split("")', '["a","b,c"] ; ["a"," b","c"] ; ["a",","," ","b",",","c"]'],
  ['["a",1,null,true]', 'join("-")', '"a-1--true"'],
  ['[]', 'join(","), add, min, max', '"" ; null ; null ; null'],
  ['[[1,2],[3]]', 'transpose, add', '[[1,3],[2,null]] ; [1,2,3]'],
  ['"a,b, cd, efg"', 'indices(", "), index(","), rindex(",")', '[3,7] ; 1 ; 7'],
  ['[0,1,2,1,3,1,2]', 'indices(1), indices([1,2]), index(1), rindex(1), .[[1,2]]', '[1,3,5] ; [1,5] ; 1 ; 5 ; [1,5]'],
  ['null', 'infinite, -infinite, nan | tostring', '"1.7976931348623157e+308" ; "-1.7976931348623157e+308" ; "null"'],
  ['null', '[nan] | sort, (nan < nan), ([nan, 1] | min)', '[null] ; true ; null'],
  ['null', '(infinite | isinfinite), (nan | isnan), (1 | isnormal), (0 | isnormal)', 'true ; true ; true ; false'],
  ['null', '[1.5, -1.5, 2.5 | floor, ceil, round, fabs]', '[1,2,2,1.5,-2,-1,-2,1.5,2,3,3,2.5]'],
  [
    'null',
    '(16 | sqrt), pow(2;10), (1 | exp), (100 | log10), (8 | log2), [pow(2,3; 1,2)]',
    '4 ; 1024 ; 2.718281828459045 ; 2 ; 3 ; [2,3,4,9]',
  ],
  ['"test"', 'test("T"), test("T"; "i"), test(["T","i"])', 'false ; true ; true'],
  [
    '"foo bar foo"',
    '[match("foo")], [match("foo"; "g") | .offset], [match(["FOO","gi"]) | .string]',
    '[{"offset":0,"length":3,"string":"foo","captures":[]}] ; [0,8] ; ["foo","foo"]',
  ],
  ['"xyzzy-14"', 'capture("(?<a>[a-z]+)-(?<n>[0-9]+)")', '{"a":"xyzzy","n":"14"}'],
  ['"abAB"', '[scan("[a-z]")], [scan("(a)(b)")]', '["a","b"] ; [["a","b"]]'],
  ['"a1b22c"', 'split("[0-9]+"; null), [splits("[0-9]+")]', '["a","b","c"] ; ["a","b","c"]'],
  [
    '"aXbX"',
    'sub("X"; "-"), gsub("X"; "-"), gsub("(?<l>[a-z])"; "\\(.l)!"), sub("x"; "-"; "i"), gsub("x"; "-"; "i")',
    '"a-bX" ; "a-b-" ; "a!Xb!X" ; "a-bX" ; "a-b-"',
  ],
  ['[1,[2,{"a":3}]]', 'walk(if type == "number" then . + 1 else . end)', '[2,[3,{"a":4}]]'],
  ['{"b":1,"a":[2]}', 'walk(if type == "object" then keys else . end)', '["a","b"]'],
  [
    '[true,false]',
    'any, all, any(not), all(. != null), any(.[]; .), isempty(.[]), isempty(empty)',
    'true ; false ; true ; true ; true ; false ; true',
  ],
  ['[1,2,3]', 'any(. > 2), all(. > 0)', 'true ; true'],
  [
    '1425599621',
    'todate, gmtime, (gmtime | mktime), strftime("%A, %B %d, %Y"), strftime("%j %H:%M:%S %y")',
    '"2015-03-05T23:53:41Z" ; [2015,2,5,23,53,41,4,63] ; 1425599621 ; "Thursday, March 05, 2015" ; "064 23:53:41 15"',
  ],
  [
    '"2015-03-05T23:51:47Z"',
    'fromdate, strptime("%Y-%m-%dT%H:%M:%SZ"), (strptime("%Y-%m-%dT%H:%M:%SZ") | mktime)',
    '1425599507 ; [2015,2,5,23,51,47,4,63] ; 1425599507',
  ],
  ['[[1,2],[3,4]]', '[combinations]', '[[1,3],[1,4],[2,3],[2,4]]'],
  ['[0,1]', '[combinations(2)]', '[[0,0],[0,1],[1,0],[1,1]]'],
  [
    '{"a":[1,2,{"b":3}]}',
    '[.. | numbers], [.. | scalars], [.[] | arrays], [.. | objects]',
    '[1,2,3] ; [1,2,3] ; [[1,2,{"b":3}]] ; [{"a":[1,2,{"b":3}]},{"b":3}]',
  ],
  [
    '[1,null,"a",[],{},true]',
    'map(values), map(nulls), map(strings), map(booleans), map(iterables)',
    '[1,"a",[],{},true] ; [null] ; ["a"] ; [true] ; [[],{}]',
  ],
  ['2', 'IN(1,2), ([1,2] | IN([1,2])), IN(range(3); 5, 6)', 'true ; true ; false'],
  ['[{"id":1},{"id":2}]', 'INDEX(.id)', '{"1":{"id":1},"2":{"id":2}}'],
  ['null', '[.[]?, (1 | .a?), 2]', '[2]'],
  ['null', '1 # a comment', '1'],
  ['"a"', '. as $x | [$x, $__loc__.line]', '["a",1]'],
  ['[1,2,3]', '.[1:] as [$a] | $a', '2'],
  ['{"a":[1,2]}', '.a as [$x] | $x, .a[1]', '1 ; 2'],
  ['[[1,[2]],[3]]', '[.[] | .[0]], [.[][0]], map(.[0])', '[1,3] ; [1,3] ; [1,3]'],
  ['{"a":1,"b":{"c":2}}', '[to_entries[] | .key], (paths | join("."))?', '["a","b"] ; "a" ; "b" ; "b.c"'],
  ['null', '"\\u00e9\\n\\t\\"\\\\\\/", "a\\("b\\("c")")"', '"é\\n\\t\\"\\\\/" ; "abc"'],
  ['[1,2]', '.[0] as $x | .[1] as $y | $x + $y, 10', '3 ; 10'],
  ['null', '[1,2,3] | .[1:] | .[0] = 9', '[9,3]'],
  ['[3,2,1]', 'sort_by(.) | first', '1'],
  ['{"a":"x"}', '.a | ascii_upcase as $u | $u', '"X"'],
  ['[1,2]', '. as [$a, $b, $c] | [$c]', '[null]'],
  ['{}', '.a.b.c, .a[1:2], (.a | length)', 'null ; null ; 0'],
  ['{}', '.a += 1', '{"a":1}'],
  ['{}', '.a[2] = 1', '{"a":[null,null,1]}'],
  ['[1]', '.[-1] = 5', '[5]'],
  ['{"a":1}', '.a as $x | .b = $x + 1', '{"a":1,"b":2}'],
  [
    '{"a":{"x":1},"b":{"x":2}}',
    'map_values(.x), [.[].x], with_entries(.value = .value.x)',
    '{"a":1,"b":2} ; [1,2] ; {"a":1,"b":2}',
  ],
  ['null', '[splits("a")]?', ''],
  ['["a","b"]', '.[0] + .[1], "\\(.[0])-\\(.[1])"', '"ab" ; "a-b"'],
  ['{"a":1}', 'tojson | fromjson | .a', '1'],
  ['"[1,{\\"a\\":2}]"', 'fromjson', '[1,{"a":2}]'],
  ['{"a":"b"}', '.[.a]?, .["a"]', 'null ; "b"'],
  [
    '[{"a":1,"b":2},{"a":3}]',
    'map({a}), map(.b // "none"), map(has("b"))',
    '[{"a":1},{"a":3}] ; [2,"none"] ; [true,false]',
  ],
  ['[1,[1,2]]', 'getpath([1,0]), [getpath([0],[1,1])]', '1 ; [1,2]'],
  ['{"a":[1,2,3]}', '.a | (first, last) |= . * 10', '[10,2,30]'],
  ['{"a":[1,2,3]}', '(.a | first) = 9', '{"a":[9,2,3]}'],
  [
    '{"a":[1,2]}',
    'path(first(.a[])), [path(.a[] | select(. > 1))], path(getpath(["a",0])), path(if .a then .a else .b end), path(.x // .a)',
    '["a",0] ; [["a",1]] ; ["a",0] ; ["a"] ; ["a"]',
  ],
  ['null', '[paths]', '[]'],
  ['{"a":{"b":1}}', '[leaf_paths | join("/")]', '["a/b"]'],
  ['[4,5]', 'to_entries?', '[{"key":0,"value":4},{"key":1,"value":5}]'],
  ['"abc"', 'ltrimstr(1), ltrimstr("z"), ascii_downcase', '"abc" ; "abc" ; "abc"'],
  ['[65]', 'implode', '"A"'],
  ['65', '[.] | implode', '"A"'],
  ['null', '[range(3)] | map(select(. != 1)) | length', '2'],
  ['[1,2,3]', '.[1.7]', 'null'],
  ['{"if":1}', '{if, then: 2}', '{"if":1,"then":2}'],
  ['{"a":1}', '{a: 1 | . + 1}', '{"a":2}'],
  ['null', '[limit(0; 1, 2)], [limit(-1; 1, 2)]', '[] ; [1,2]'],
  ['1', '[limit(5; repeat(. * 2))]', '[1,2,4,8,16]'],
  [
    '[{"name":"b","value":2},{"k":"c","v":3},{"key":null},{"key":false},{"key":1,"value":2}]',
    'from_entries',
    '{"1":2,"b":2,"c":3,"null":null,"false":null}',
  ],
  ['null', 'try error(null) catch .', 'null'],
  ['["<&\'\\">"]', '.[0] | @html', '"&lt;&amp;&#39;&quot;&gt;"'],
  ['"xyz"', 'match("(?<a>y)(?<b>q)?").captures[1]', '{"offset":-1,"string":null,"length":0,"name":"b"}'],
  ['"😀a"', 'match("a").offset, index("a")', '1 ; 1'],
  ['{"a":1}', '.["__proto__"] = 2 | .__proto__, .constructor, keys', '2 ; null ; ["__proto__","a"]'],
  ['[1,2,3,4]', '(.[] | select(. > 2)) |= empty', '[1,2]'],
  ['{"a":{"b":1},"c":2}', '.. |= (numbers |= . + 1)', '{"a":{"b":2},"c":3}'],
  [
    '1425599621',
    'strftime("%a %b %e %T %Y %Z %I %p %u %w %F %R %D %%")',
    '"Thu Mar  5 23:53:41 2015 UTC 11 PM 4 4 2015-03-05 23:53 03/05/15 %"',
  ],
  ['"5 March 2015, 10:20 +0200"', 'strptime("%d %B %Y, %H:%M %z") | mktime', '1425543600'],
  ['" a "', 'trim, ltrim, rtrim', '"a" ; "a " ; " a"'],
  ['{"a":1}', 'if .a then 5 end', '5'],
  ['null', '[range(0)], [range(0; 3; 0)]', '[] ; []'],
  ['"a\\nb"', '[test("a.b"; "p"), test("a.b")]', '[true,false]'],
  ['"abc"', '[match(""; "gn")] | length', '0'],
  ['null', '', 'null'],
  ['3', '# nothing but a remark', '3'],
  ['"x"', 'def f: 1; # a remark\n .', '"x"'],
];

/** What is wrong, and where. */
const faults: readonly Row[] = [
  ['null', '.[', 'character 3: the filter ends too early'],
  ['null', '1 +', 'character 4: the filter ends too early'],
  ['null', 'a', 'character 1: a/0 is not defined'],
  ['null', 'map(.; .)', 'character 1: map/2 is not defined'],
  ['null', '$x', 'character 1: $x is not defined'],
  ['null', '. as $x | 1) ', 'character 12: unexpected )'],
  ['null', '(1 as $x | 2) | $x', 'character 17: $x is not defined'],
  ['null', 'break $out', 'character 7: no label $out is around this'],
  ['null', '1 == 2 == 3', 'character 8: unexpected =='],
  ['null', '"abc', 'character 1: a text is not closed'],
  ['null', '"a\\(1"', 'character 6: a text is not closed'],
  ['null', '"\\x"', 'character 2: an unknown escape'],
  ['null', '. ^ 1', 'character 3: unexpected "^"'],
  ['null', 'input', 'character 1: input is not offered: a filter has one input, which is there when it begins'],
  ['null', 'env', 'character 1: env is not offered: a filter has no access beyond its input'],
  ['null', '$ENV.HOME', 'character 1: $ENV is not offered: a filter has no access beyond its input'],
  ['null', 'import "a" as a; 1', 'character 1: unexpected import'],
  ['null', 'if 1 then 2', 'character 12: the filter ends too early'],
  ['5', '.a', 'Cannot index number with string "a"'],
  ['5', '.[]', 'Cannot iterate over number (5)'],
  ['null', '.[]', 'Cannot iterate over null (null)'],
  ['{}', '.[0]', 'Cannot index object with number'],
  ['[]', '.a', 'Cannot index array with string "a"'],
  ['null', '1 / 0', 'number (1) and number (0) cannot be divided because the divisor is zero'],
  ['null', '{} - 1', 'object ({...}) and number (1) cannot be subtracted'],
  ['null', 'error("mine")', 'mine'],
  ['[1]', '[.[] | (try . catch "no") | if . == 1 then error("behind") else . end]', 'behind'],
  ['[1]', '[.[]? | error("behind")]', 'behind'],
  ['1', '[(1 // 2) | error("behind")]', 'behind'],
  ['null', 'error({a: 1})', 'the filter raised object ({...})'],
  ['null', '{(1): 2}', 'Cannot use number (1) as object key'],
  ['null', 'path(1)', 'Invalid path expression with result 1'],
  ['null', '[1] | path(map(.))', 'Invalid path expression with result [1]'],
  ['[]', '.[-1] = 1', 'Out of bounds negative array index'],
  ['[]', '.[1e15] = 1', 'Array index too large'],
  ['5', 'length, keys', 'number (5) has no keys'],
  ['null', '@nope', 'nope is not a valid format'],
  ['{}', '@csv', 'object ({...}) cannot be csv-formatted, only array'],
  ['[[1]]', '@sh', 'array ([1]) can not be escaped for shell'],
  ['"a"', 'tonumber', 'string ("a") cannot be parsed as a number'],
  ['"{"', 'fromjson', 'string ("{") is not JSON'],
  ['"a"', 'test("("; null)', 'the pattern "(" is not a valid regular expression (RE2 syntax)'],
  ['"a"', 'test("a"; "x")', 'x is not a valid modifier string'],
  ['1', 'test("a")', 'number (1) cannot be matched, as it is not a string'],
  ['null', 'implode', 'implode input must be an array'],
  ['[5e9]', 'implode', 'Unicode codepoint must be numeric'],
  ['"x"', 'strptime("%Y")', 'date "x" does not match format "%Y"'],
  ['1e300', 'todate', 'error converting number of seconds since epoch to datetime'],
];

const resultsOf = (input: string, filter: string) =>
  compileJq(filter)
    .run(JSON.parse(input))
    .map(it => stringifyJqResult(it))
    .join(' ; ');

describe('jq results', () => {
  for (const [input, filter, results] of rows)
    test(`${input} | ${filter}`, () => assert.equal(resultsOf(input, filter), results));
});

describe('jq errors', () => {
  for (const [input, filter, message] of faults)
    test(filter, () =>
      assert.throws(() => resultsOf(input, filter), { name: 'JqError', message, isLimitExceeded: false }),
    );
});

/** Filters that would never end, or fill everything. */
const greedy: Readonly<Record<string, string>> = {
  'recursion without end': 'def f: f; f',
  'recursion that branches': 'def f: f, f; f',
  'arguments that grow': 'def f(g): f(g | g); f(.)',
  'a list without end': '[range(1e12)]',
  'a result that is never reached': 'last(range(1e12))',
  'the same again and again': '[repeat(.)]',
  'a loop without end': 'until(false; .)',
  'text that doubles': 'reduce range(100) as $i ("x"; . + .)',
  'text that is repeated': '"x" * 1e12',
  'a list that doubles': 'reduce range(100) as $i ([1]; . + .)',
  'a value that holds itself twice, often, written': 'reduce range(100) as $i (0; [., .]) | tojson',
  'and compared': 'reduce range(100) as $i (0; [., .]) | . == (reduce range(100) as $i (0; [., .]))',
  'and flattened': 'reduce range(100) as $i (0; [., .]) | flatten',
  'and walked': '[reduce range(100) as $i (0; [., .]) | ..]',
  'a large array index': '[] | .[1e8] = 1',
  'a value that is too deep': 'reduce range(1000) as $i (0; [.]) | tojson',
  'text of brackets': '("[" * 5000 + "]" * 5000) | fromjson | tojson',
  'a pattern over a long text': '"a" * 1e6 | test("(a+)+$")',
  'more matches than anybody needs': '"a" * 1e6 | [match("a"; "g")]',
  'every combination': '[range(100)] | [combinations(5)]',
  'a sum of too many': Array(5000).fill('1').join('+'),
};

describe('jq budget', () => {
  for (const [what, filter] of Object.entries(greedy))
    test(what, () => assert.throws(() => compileJq(filter).run(null), { name: 'JqError', isLimitExceeded: true }));

  test('a result that repeats one part is stringified within maxBytes', () => {
    const [value] = compileJq('reduce range(60) as $i (0; [., .])').run(null);
    assert.throws(() => stringifyJqResult(value), { name: 'JqError', isLimitExceeded: true });
    assert.throws(() => stringifyJqResult('x'.repeat(101), { maxBytes: 100 }), {
      name: 'JqError',
      isLimitExceeded: true,
    });
  });

  test('fromjson checks values and levels before it parses', () => {
    const parse = (text: string) => compileJq('fromjson').run(text, { maxSteps: 100, maxDepth: 10 });
    assert.deepEqual(parse('[[1,2]]'), [[[1, 2]]]);
    for (const text of [`[${'1,'.repeat(100)}1]`, `${'['.repeat(11)}1${']'.repeat(11)}`])
      assert.throws(() => parse(text), { name: 'JqError', isLimitExceeded: true });
  });

  test('a long needle costs no more than the text it is searched in', () => {
    const input = { text: 'a'.repeat(1_000_000), part: `ab${'a'.repeat(100_000)}`, run: 'a'.repeat(99_000) };
    for (const [filter, result] of [
      ['.part as $p | .text | contains($p)', false],
      ['.part as $p | .text | split($p) | length', 1],
      ['.part as $p | .text | indices($p) | length', 0],
      ['.run as $p | .text[:100000] | indices($p) | length', 1001],
    ] as const)
      assert.deepEqual(compileJq(filter).run(input), [result], filter);
  });

  test('try does not catch an exceeded bound', () => {
    assert.throws(() => compileJq('try [repeat(.)] catch 1').run(null), { name: 'JqError', isLimitExceeded: true });
    assert.throws(() => compileJq('[repeat(.)] // 1').run(null), { name: 'JqError', isLimitExceeded: true });
  });

  test('filters nested too deep or too long are rejected', () => {
    for (const part of ['(', '[', '-', 'try ', 'if ', '{a:', '"\\(', '.|', 'def f: ', '. as ['])
      assert.throws(() => compileJq(part.repeat(5000)), JqError);
    assert.throws(() => compileJq('.'.padEnd(70_000)), { message: 'longer than 65536 characters' });
  });

  test('a run ends after maxOutputs results', () => {
    assert.deepEqual(compileJq('repeat(1)').run(0, { maxOutputs: 3 }), [0, 1, 1]);
    assert.deepEqual(compileJq('1, error("late")').run(null, { maxOutputs: 1 }), [1]);
  });
});

test('integers beyond 2⁵³ stay exact without arithmetic', () => {
  const value = { id: 12345678901234567890n, n: 1 };
  assert.deepEqual(
    compileJq('{id}, (.id | type), .id + 0, .id > 5')
      .run(value)
      .map(it => stringifyJqResult(it)),
    ['{"id":12345678901234567890}', '"number"', '12345678901234567000', 'true'],
  );
});

test('the input of a filter is never mutated', () => {
  const value = { a: [1, { b: 2 }], c: { d: 3 } };
  const before = structuredClone(value);
  for (const filter of [
    '.a[1].b = 5',
    'del(.a[0], .c.d)',
    '.. |= .',
    '.c += {x: 1}',
    '.a |= reverse',
    'map_values(empty)',
  ])
    compileJq(filter).run(value);
  assert.deepEqual(value, before);
});

test('a value captured during an update is not mutated by later updates', () => {
  const filter = '(.a.b, .a, getpath(["a", 0, "b"])) |= if type == "object" then [., .] else (. // 0) + 1 end';
  assert.equal(resultsOf('{}', filter), '{"a":[{"b":2},{"b":1}]}');
});

test('now is the time of the given clock', () => {
  assert.deepEqual(compileJq('now, (now | todate)').run(null, {}, { now: () => 1_500 }), [1.5, '1970-01-01T00:00:01Z']);
});
