import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TemplateError } from './error.ts';
import { escapeHtml } from './functions/print.ts';
import { compileTemplate } from './template.ts';

const data = () => ({
  name: 'Ann',
  count: 3,
  price: 2.5,
  big: 12345678,
  exact: 9007199254740993n,
  yes: true,
  no: false,
  nothing: null,
  empty: '',
  text: 'a <b> & "c"',
  unicode: 'héllo',
  list: [1, 2, 3],
  names: ['x', 'y'],
  none: [],
  map: { z: 1, a: 2, m: 3 },
  deep: { er: { est: 'bottom' } },
  people: [
    { name: 'Bo', tags: ['p', 'q'] },
    { name: 'Cy', tags: [] },
  ],
});

type Case = readonly [source: string, expected: string];

const render = (source: string, given: unknown = data()) => compileTemplate(source).render(given);

function testRendering(title: string, cases: readonly Case[]): void {
  test(title, () => {
    for (const [source, expected] of cases) assert.equal(render(source), expected, source);
  });
}

const expectTemplateError = (source: string, what: RegExp, given: unknown = data()) =>
  assert.throws(
    () => render(source, given),
    error => error instanceof TemplateError && what.test(error.message),
    source,
  );

testRendering('text and fields are rendered', [
  ['', ''],
  ['plain { text } }}', 'plain { text } }}'],
  ['{{.name}}', 'Ann'],
  ['{{ .name }}', 'Ann'],
  ['{{.deep.er.est}}', 'bottom'],
  ['{{$.name}}', 'Ann'],
  ['{{.count}} {{.price}} {{.big}} {{.exact}}', '3 2.5 12345678 9007199254740993'],
  ['{{.yes}}{{.no}}', 'truefalse'],
  ['{{.list}} {{.map}} {{.none}}', '[1 2 3] map[a:2 m:3 z:1] []'],
  ['{{.people}}', '[map[name:Bo tags:[p q]] map[name:Cy tags:[]]]'],
  ['{{(index .people 0).name}}', 'Bo'],
  ['{{(dict "k" (dict "l" 1)).k.l}}', '1'],
]);

testRendering('a missing field prints <no value>, and its members are missing too', [
  ['{{.missing}}', '<no value>'],
  ['{{.nothing}}', '<no value>'],
  ['{{.missing.too.deep}}', '<no value>'],
  ['{{print .missing}}', '<nil>'],
  ['{{.constructor}} {{.map.toString}} {{.__proto__}}', '<no value> <no value> <no value>'],
]);

testRendering('trim markers remove the white space on their side', [
  ['a {{- 1}} b', 'a1 b'],
  ['a {{1 -}} b', 'a 1b'],
  ['a \n\t {{- 1 -}} \r\n b', 'a1b'],
  ['{{-3}}', '-3'],
  ['{{- 3 -}}', '3'],
  ['a {{- /* gone */ -}} b', 'ab'],
  ['a{{/* several\nlines */}}b', 'ab'],
  ['a {{- "b"}}{{"c" -}} d', 'abcd'],
]);

testRendering('literals of every kind', [
  ['{{"a\\tb\\u00e9\\x41\\101\\""}}', 'a\tbéAA"'],
  ['{{`raw \\n {{ text`}}', 'raw \\n {{ text'],
  ["{{'a'}} {{'\\n'}} {{'é'}}", '97 10 233'],
  ['{{1}} {{-1}} {{+1}} {{1_000}} {{0x1F}} {{0b101}} {{0o17}} {{017}}', '1 -1 1 1000 31 5 15 15'],
  ['{{1.5}} {{.5}} {{1e3}} {{1e-7}} {{1e21}} {{0.0001}} {{0.00001}}', '1.5 0.5 1000 1e-07 1e+21 0.0001 1e-05'],
  ['{{true}} {{false}}', 'true false'],
]);

testRendering('variables are in scope from their declaration to the end of their block', [
  ['{{$x := 1}}{{$x}}', '1'],
  ['{{$x := 1}}{{$x = 2}}{{$x}}', '2'],
  ['{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}', '2'],
  ['{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}', '21'],
  ['{{$x := "a"}}{{$x := print $x "b"}}{{$x}}', 'ab'],
  ['{{$p := .deep}}{{$p.er.est}}', 'bottom'],
  ['{{with $x := .name}}{{$x}}{{end}}', 'Ann'],
  ['{{if $x := .none}}a{{else}}{{$x}}{{end}}', '[]'],
  ['{{with .deep}}{{.er.est}}{{$.name}}{{end}}', 'bottomAnn'],
]);

testRendering('if, with and else treat empty values as false', [
  ['{{if .yes}}a{{end}}', 'a'],
  ['{{if .no}}a{{else}}b{{end}}', 'b'],
  ['{{if .none}}a{{else if .nothing}}b{{else if .count}}c{{else}}d{{end}}', 'c'],
  ['{{if 0}}a{{else}}b{{end}}{{if ""}}a{{else}}b{{end}}{{if (dict)}}a{{else}}b{{end}}', 'bbb'],
  ['{{if .map}}a{{end}}{{if 0.1}}b{{end}}{{if "0"}}c{{end}}', 'abc'],
  ['{{with .missing}}a{{else}}b{{end}}', 'b'],
  ['{{with .missing}}a{{else with .deep}}{{.er.est}}{{end}}', 'bottom'],
  ['{{not .yes}} {{not .none}}', 'false true'],
  ['{{and 1 0 2}} {{and 1 2}} {{or 0 "" "x"}} {{or 0 ""}}', '0 2 x '],
  ['{{and false (index .list 99)}} {{or true (index .list 99)}}', 'false true'],
  ['{{.yes | and true}} {{.name | or 0}}', 'true Ann'],
]);

testRendering('range iterates over lists, sorted maps and integers', [
  ['{{range .list}}{{.}},{{end}}', '1,2,3,'],
  ['{{range $v := .list}}{{$v}}{{end}}', '123'],
  ['{{range $i, $v := .names}}{{$i}}{{$v}} {{end}}', '0x 1y '],
  ['{{range $k, $v := .map}}{{$k}}={{$v}};{{end}}', 'a=2;m=3;z=1;'],
  ['{{range .none}}a{{else}}none{{end}}', 'none'],
  ['{{range .missing}}a{{else}}none{{end}}', 'none'],
  ['{{range 3}}{{.}}{{end}}', '012'],
  ['{{range .list}}{{if eq . 2}}{{break}}{{end}}{{.}}{{end}}', '1'],
  ['{{range .list}}{{if eq . 2}}{{continue}}{{end}}{{.}}{{end}}', '13'],
  ['{{range .people}}{{.name}}:{{range .tags}}{{.}}{{break}}{{else}}-{{end}} {{end}}', 'Bo:p Cy:- '],
  ['{{$sum := 0}}{{range .list}}{{$sum = add $sum .}}{{end}}{{$sum}}', '6'],
  ['{{range $i, $_ := .list}}{{if $i}},{{end}}{{.}}{{end}}', '1,2,3'],
]);

testRendering('named templates see only their argument', [
  ['{{define "t"}}<{{.}}>{{end}}{{template "t" .name}}', '<Ann>'],
  ['{{template "t" .count}}{{define "t"}}{{if .}}{{.}}{{template "t" sub . 1}}{{end}}{{end}}', '321'],
  ['{{define "t"}}{{.}}{{end}}{{template "t"}}', '<no value>'],
  ['{{block "b" .deep}}{{.er.est}}{{end}}', 'bottom'],
  ['{{define "t"}}{{$.name}}{{end}}{{template "t" index .people 1}}', 'Cy'],
  ['{{define "a"}}1{{end}}{{define "a"}}2{{end}}{{template "a"}}', '2'],
]);

testRendering('a pipe passes its value as the last argument', [
  ['{{"a" | print "b"}}', 'ba'],
  ['{{.name | upper | printf "%s-%s" "x"}}', 'x-ANN'],
  ['{{(print "a" | upper)}}', 'A'],
  ['{{1 | add 2 | mul 3}}', '9'],
  ['{{print (print 1 2) 3 "a" 4}}', '1 23a4'],
]);

testRendering('comparison functions', [
  ['{{eq 1 1}} {{eq 1 2 3 1}} {{eq "a" "b"}} {{eq .count 3}} {{eq 1 1.0}}', 'true true false true true'],
  ['{{eq .nothing nil}} {{eq .name nil}} {{ne .missing nil}}', 'true false false'],
  ['{{ne 1 2}} {{lt 1 2}} {{le 2 2}} {{gt 1 2}} {{ge 2 2}} {{lt "a" "b"}}', 'true true true false true true'],
  ['{{lt .exact 9007199254740992}} {{gt .exact 9007199254740992}}', 'false true'],
]);

testRendering('len, index and slice', [
  ['{{len .list}} {{len .map}} {{len .unicode}} {{len ""}}', '3 3 6 0'],
  ['{{index .list 0}} {{index .map "a"}} {{index .people 0 "tags" 1}} {{index .map "q"}}', '1 2 q <no value>'],
  ['{{index "abc" 1}}', '98'],
  ['{{slice "abcdef" 1 3}} {{slice "abc" 1}} {{slice .list 1}} {{slice .list 0 2}}', 'bc bc [2 3] [1 2]'],
]);

testRendering('print, printf and escaping functions', [
  ['{{print 1 2 "a" "b" 3}}', '1 2ab3'],
  ['{{println "a" 1}}|', 'a 1\n|'],
  ['{{html .text}}', 'a &lt;b&gt; &amp; &#34;c&#34;'],
  ['{{js "it\'s <a>"}}', "it\\'s \\u003Ca\\u003E"],
  ['{{urlquery "a b&c=é/~"}}', 'a+b%26c%3D%C3%A9%2F~'],
  [
    '{{printf "%d|%5d|%-5d|%05d|%+d|%x|%X|%#x|%o|%b|%c|%U" 42 42 42 42 42 255 255 255 8 5 65 65}}',
    '42|   42|42   |00042|+42|ff|FF|0xff|10|101|A|U+0041',
  ],
  [
    '{{printf "%f|%.2f|%8.2f|%-8.2f|%e|%g" 1.5 1.556 1.5 1.5 1500.0 0.5}}',
    '1.500000|1.56|    1.50|1.50    |1.500000e+03|0.5',
  ],
  [
    '{{printf "%s|%5s|%-5s|%.2s|%q|%x|%X" "ab" "ab" "ab" "abc" "a\\"b" "ab" "ab"}}',
    'ab|   ab|ab   |ab|"a\\"b"|6162|6162',
  ],
  [
    '{{printf "%v|%v|%v|%v|%T|%T|%t" .map .list nil .yes .name .list true}}',
    'map[a:2 m:3 z:1]|[1 2 3]|<nil>|true|string|[]interface {}|true',
  ],
  ['{{printf "%d %s" .list .names}}', '[1 2 3] [x y]'],
  ['{{printf "%*d|%[2]s %[1]s" 5 42}}', '   42|%!s(int=42) %!s(int=5)'],
  ['{{printf "%[2]s %[1]s" "a" "b"}}', 'b a'],
  [
    '{{printf "%d" "a"}} {{printf "%d"}} {{printf "%z" 1}} {{printf "a" 1}} {{printf "%"}} {{printf "%%"}}',
    '%!d(string=a) %!d(MISSING) %!z(int=1) a%!(EXTRA int=1) %!(NOVERB) %',
  ],
  ['{{printf "%q" 65}} {{printf "%d" -5}} {{printf "%06d" -5}} {{printf "% d" 5}}', "'A' -5 -00005  5"],
]);

testRendering('string functions', [
  ['{{trim " a "}}|{{trimAll "$" "$5$"}}|{{trimPrefix "a" "ab"}}|{{trimSuffix "b" "ab"}}', 'a|5|b|a'],
  [
    '{{upper "aé"}} {{lower "AÉ"}} {{title "hello big world"}} {{untitle "Hello World"}} {{swapcase "aB"}}',
    'AÉ aé Hello Big World hello world Ab',
  ],
  [
    '{{snakecase "FirstName"}} {{kebabcase "FirstName"}} {{camelcase "http_server"}}',
    'first_name first-name HttpServer',
  ],
  ['{{nospace "a b c"}} {{initials "First Try"}} {{repeat 3 "ab"}}', 'abc FT ababab'],
  [
    '{{substr 0 2 "hello"}} {{substr 2 -1 "hello"}} {{trunc 2 "hello"}} {{trunc -2 "hello"}} {{abbrev 5 "hello world"}}',
    'he llo he lo he...',
  ],
  ['{{contains "a" "cat"}} {{hasPrefix "c" "cat"}} {{hasSuffix "c" "cat"}}', 'true true false'],
  ['{{quote "a" 1 nil}} {{squote "a"}} {{cat "a" 1 nil "b"}}', '"a" "1" \'a\' a 1 b'],
  ['{{indent 2 "a\\nb"}}|{{nindent 1 "a"}}', '  a\n  b|\n a'],
  ['{{replace " " "-" "a b c"}} {{plural "one" "many" 1}} {{plural "one" "many" 2}}', 'a-b-c one many'],
  [
    '{{(split "$" "a$b")._1}} {{(splitn "$" 2 "a$b$c")._1}} {{splitList "," "a,b"}} {{join "-" .list}}',
    'b b$c [a b] 1-2-3',
  ],
  [
    '{{sortAlpha (list "b" "a")}} {{toString 1}} {{toStrings .list}} {{wrap 5 "aa bb cc"}}',
    '[a b] 1 [1 2 3] aa bb\ncc',
  ],
  ['{{hello}} {{12 | trunc 1}}', 'Hello! 1'],
]);

testRendering('number functions', [
  ['{{add 1 2 3}} {{sub 5 3}} {{mul 2 3 4}} {{div 7 2}} {{mod 7 2}} {{add1 1}}', '6 2 24 3 1 2'],
  ['{{max 1 3 2}} {{min 3 1 2}} {{ceil 1.2}} {{floor 1.8}} {{round 1.2345 2}} {{round 2.5 0}}', '3 1 2 1 1.23 3'],
  [
    '{{addf 1.5 1}} {{subf 3 1.5}} {{mulf 1.5 2}} {{divf 3 2}} {{maxf 1.5 2}} {{minf 1.5 2}} {{add1f 1.5}}',
    '2.5 1.5 3 1.5 2 1.5 2.5',
  ],
  ['{{int "12"}} {{int64 3.9}} {{float64 "1.5"}} {{atoi "7"}} {{atoi "x"}} {{toDecimal "777"}}', '12 3 1.5 7 0 511'],
  [
    '{{until 3}} {{untilStep 3 9 3}} {{seq 3}} {{seq 0 2}} {{seq 0 2 5}} {{seq 2 0}}',
    '[0 1 2] [3 6] 1 2 3 0 1 2 0 2 4 2 1 0',
  ],
  ['{{add "2" "3"}} {{add 1.9 1}}', '5 2'],
]);

testRendering('list functions', [
  ['{{list 1 "a"}} {{first .list}} {{last .list}} {{rest .list}} {{initial .list}}', '[1 a] 1 3 [2 3] [1 2]'],
  [
    '{{append .list 4}} {{prepend .list 0}} {{concat .list .names}} {{reverse .list}}',
    '[1 2 3 4] [0 1 2 3] [1 2 3 x y] [3 2 1]',
  ],
  ['{{uniq (list 1 1 2)}} {{without .list 2}} {{has 2 .list}} {{compact (list 0 1 "")}}', '[1 2] [1 3] true [1]'],
  ['{{chunk 2 .list}} {{mustFirst .list}} {{mustSlice .list 1 2}}', '[[1 2] [3]] 1 [2]'],
]);

testRendering('map functions', [
  [
    '{{$d := dict "a" 1 "b" 2}}{{get $d "a"}} {{get $d "q"}}|{{hasKey $d "b"}} {{keys $d}} {{values $d}}',
    '1 |true [a b] [1 2]',
  ],
  ['{{$d := dict "a" 1}}{{$_ := set $d "b" 2}}{{$d}} {{unset $d "a"}}', 'map[a:1 b:2] map[b:2]'],
  ['{{pick .map "a"}} {{omit .map "a"}} {{pluck "name" (dict "name" 1) (dict)}}', 'map[a:2] map[m:3 z:1] [1]'],
  ['{{merge (dict "a" 1 "d" (dict "x" 1)) (dict "a" 2 "d" (dict "y" 2))}}', 'map[a:1 d:map[x:1 y:2]]'],
  ['{{mergeOverwrite (dict "a" 1) (dict "a" 2 "b" 3)}}', 'map[a:2 b:3]'],
  ['{{dig "deep" "er" "est" "?" .}} {{dig "deep" "no" "?" .}}', 'bottom ?'],
  ['{{$c := deepCopy .deep}}{{$_ := set $c.er "est" "x"}}{{.deep.er.est}} {{$c.er.est}}', 'bottom x'],
]);

testRendering('type and default functions', [
  ['{{default "d" .empty}} {{default "d" .name}} {{.missing | default "d"}}', 'd Ann d'],
  ['{{empty .none}} {{coalesce 0 "" "x"}} {{all 1 0}} {{any 1 0}} {{ternary "y" "n" true}}', 'true x false true y'],
  [
    '{{typeOf "a"}} {{kindOf .list}} {{kindOf .map}} {{kindIs "string" .name}} {{kindIs "float64" .count}} {{typeIs "bool" .yes}}',
    'string slice map true true true',
  ],
  ['{{deepEqual .list (list 1 2 3)}} {{deepEqual .map .deep}}', 'true false'],
]);

testRendering('encoding functions', [
  [
    '{{jsonMarshal .text}} {{toRawJson "<"}} {{jsonMarshal .map}}',
    '"a \\u003cb\\u003e \\u0026 \\"c\\"" "<" {"a":2,"m":3,"z":1}',
  ],
  ['{{toPrettyJson .names}}', '[\n  "x",\n  "y"\n]'],
  [
    '{{jsonMarshal .nothing}} {{jsonMarshal .exact}} {{jsonMarshal .none}} {{jsonMarshal (dict)}}',
    'null 9007199254740993 [] {}',
  ],
  ['{{(fromJson "{\\"a\\":[1]}").a}} {{fromJson "{"}}', '[1] <no value>'],
  [
    '{{b64enc "aé"}} {{b64dec "YcOp"}} {{b32enc "foobar"}} {{b32dec "MZXW6YTBOI======"}}',
    'YcOp aé MZXW6YTBOI====== foobar',
  ],
  ['{{sha1sum "a"}} {{adler32sum "Wikipedia"}}', '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8 300286872'],
  [
    '{{xmlMarshal (dict "a" (dict "-id" 1 "#text" "<"))}} {{xmlMarshal .map}}',
    '<a id="1">&lt;</a> <doc><z>1</z><a>2</a><m>3</m></doc>',
  ],
  ['{{xmlMarshal "a"}} {{xmlMarshal 1}}', '<string>a</string> <int>1</int>'],
  ['{{encryptAES "k" "plain" | decryptAES "k"}}', 'plain'],
]);

testRendering('regular expression functions, with groups by number and name', [
  [
    '{{regexMatch "^a+$" "aaa"}} {{regexFind "b." "abcbd"}} {{regexFindAll "b." "abcbd" -1}} {{regexFindAll "b." "abcbd" 1}}',
    'true bc [bc bd] [bc]',
  ],
  ['{{regexReplaceAll "a(x*)b" "-ab-axxb-" "$1-"}} {{regexReplaceAll "(?P<n>x)" "axb" "<$n>$$"}}', '---xx-- a<x>$b'],
  [
    '{{regexReplaceAllLiteral "a" "banana" "$1"}} {{regexSplit "z+" "pizza" -1}} {{regexSplit "," "a,b,c" 2}}',
    'b$1n$1n$1 [pi a] [a b,c]',
  ],
  ['{{regexQuoteMeta "1.2"}}', '1\\.2'],
  ['{{regexReplaceAll "a(x*)b" "-ab-axxb-" "$' + '{1}W"}}', '-W-xxW-'],
]);

testRendering('date functions', [
  ['{{date "2006-01-02T15:04:05Z07:00" 0}} {{htmlDate 86400}}', '1970-01-01T00:00:00Z 1970-01-02'],
  [
    '{{date "Monday, 2 January 2006 3:04:05 PM (.000) 002 06 _2 -0700" 1234567890}}',
    'Friday, 13 February 2009 11:31:30 PM (.000) 044 09 13 +0000',
  ],
  [
    '{{dateInZone "15:04 -07:00" 1718000000 "Europe/Berlin"}} {{dateInZone "15:04" 0 "Nowhere/Land"}}',
    '08:13 +02:00 00:00',
  ],
  ['{{toDate "2006-01-02 15:04 -0700" "2024-02-29 10:00 +0200" | unixEpoch}}', '1709193600'],
  ['{{toDate "2 Jan 06 3PM" "5 Mar 24 4PM" | dateModify "-1h30m" | date "2006-01-02 15:04"}}', '2024-03-05 14:30'],
  [
    '{{duration 95}} {{duration 3700}} {{durationRound "2h10m5s"}} {{durationRound "2400h10m5s"}}',
    '1m35s 1h1m40s 2h 3mo',
  ],
]);

testRendering('path, URL and semver functions', [
  [
    '{{base "/a/b.c"}} {{dir "/a/b"}} {{clean "/a/../b//c"}} {{ext "a.tar.gz"}} {{isAbs "/a"}} {{osBase "a/b"}}',
    'b.c /a /b/c .gz true b',
  ],
  ['{{(urlParse "http://u:p@h:80/p%20q?x=1#f").path}} {{(urlParse "https://h:81/").host}}', '/p q h:81'],
  ['{{urlJoin (dict "scheme" "http" "host" "h:1" "path" "p" "query" "q=1" "fragment" "f")}}', 'http://h:1/p?q=1#f'],
  [
    '{{(semver "v1.2.3-beta.1+m").Prerelease}} {{semverCompare "^1.2.0" "1.4.1"}} {{semverCompare "~1.2" "1.3.0"}}',
    'beta.1 true false',
  ],
  [
    '{{semverCompare ">=1.2, <2" "1.9.9"}} {{semverCompare "1.x || >=3" "3.1.0"}} {{semverCompare "1.2.3" "1.2.3-rc1"}}',
    'true true false',
  ],
]);

test('random functions respect size and alphabet', () => {
  assert.match(render('{{uuidv4}}'), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.match(render('{{randAlphaNum 8}}{{randNumeric 3}}{{randAlpha 2}}'), /^\w{8}\d{3}[A-Za-z]{2}$/);
  assert.equal(render('{{randInt 3 4}} {{len (randAscii 9)}} {{len (shuffle "abc")}}'), '3 9 3');
  assert.equal(Buffer.from(render('{{randBytes 12}}'), 'base64').length, 12);
  assert.match(render('{{date "2006" now}} {{ago now}}'), /^\d{4} \d+s$/);
});

test('a syntax error is reported with line and reason', () => {
  const faults: readonly [string, RegExp][] = [
    ['a\nb {{.x', /line 2: unclosed action/],
    ['{{"a}}', /unterminated quoted string/],
    ['{{`a}}', /unterminated quoted string/],
    ["{{'ab'}}", /malformed character constant/],
    ['{{"\\q"}}', /invalid escape/],
    ['{{/* a', /unclosed comment/],
    ['{{/* a */ 1}}', /comment ends before closing delimiter/],
    ['{{}}', /missing value for command/],
    ['{{if}}{{end}}', /missing value for if/],
    ['{{if 1}}', /unclosed \{\{if\}\}/],
    ['{{range .a}}', /unclosed \{\{range\}\}/],
    ['{{end}}', /unexpected \{\{end\}\}/],
    ['{{else}}', /unexpected \{\{else\}\}/],
    ['{{if 1}}{{else}}{{else}}{{end}}', /expected end; found \{\{else\}\}/],
    ['{{nope 1}}', /function "nope" not defined/],
    ['{{env "HOME"}}', /function "env" not defined/],
    ['{{expandenv "$HOME"}}', /not defined/],
    ['{{getHostByName "a"}}', /not defined/],
    ['{{$x}}', /undefined variable "\$x"/],
    ['{{$x = 1}}', /undefined variable/],
    ['{{if 1}}{{$x := 1}}{{end}}{{$x}}', /undefined variable/],
    ['{{$x := 1}}{{define "t"}}{{$x}}{{end}}', /undefined variable/],
    ['{{$a, $b := .x}}', /too many declarations/],
    ['{{break}}', /outside/],
    ['{{if 1}}{{continue}}{{end}}', /outside/],
    ['{{if 1}}{{define "t"}}{{end}}{{end}}', /unexpected \{\{define\}\}/],
    ['{{template "no"}}', /template "no" not defined/],
    ['{{template .x}}', /in template clause/],
    ['{{nil}}', /nil is not a command/],
    ['{{1 | 2}}', /non executable command/],
    ['{{.a | .b}}', /non executable command/],
    ['{{.a 1}}', /can't give argument to non-function/],
    ['{{(print 1}}', /in parenthesized pipeline/],
    ['{{print 1)}}', /unexpected/],
    ['{{print 1 |}}', /missing value/],
    ['{{1a}}', /unexpected "a"/],
    ['{{.a#}}', /unexpected "#"/],
    ['{{.}}{{#}}', /unexpected "#"/],
  ];
  for (const [source, what] of faults)
    assert.throws(
      () => compileTemplate(source),
      error => error instanceof TemplateError && what.test(error.message) && error.line > 0,
      source,
    );
});

test('data that does not suit a template throws with the reason', () => {
  expectTemplateError('{{.nothing.x}}', /line 1: nil pointer evaluating interface \{\}\.x/);
  expectTemplateError('{{.name.x}}', /can't evaluate field x in type string/);
  expectTemplateError('{{.list.x}}', /can't evaluate field x/);
  expectTemplateError('{{range .name}}{{end}}', /range can't iterate over string/);
  expectTemplateError('\n{{index .list 9}}', /line 2: error calling index: index out of range: 9/);
  expectTemplateError('{{index nil 1}}', /index of untyped nil/);
  expectTemplateError('{{index .list "a"}}', /cannot index/);
  expectTemplateError('{{slice "abc" 2 1}}', /invalid slice index/);
  expectTemplateError('{{slice .list 0 9}}', /out of range/);
  expectTemplateError('{{len 3}}', /len of type int/);
  expectTemplateError('{{eq 1 "1"}}', /incompatible types/);
  expectTemplateError('{{eq .list .list}}', /non-comparable/);
  expectTemplateError('{{lt .list 1}}', /invalid type for comparison/);
  expectTemplateError('{{lt 1 "a"}}', /incompatible types/);
  expectTemplateError('{{upper}}', /wrong number of args: want 1 got 0/);
  expectTemplateError('{{upper .map}}', /expected string; got map/);
  expectTemplateError('{{upper nil}}', /expected string; got <nil>/);
  expectTemplateError('{{div 1 0}}', /divide by zero/);
  expectTemplateError('{{fail "no way"}}', /no way/);
  expectTemplateError('{{mustFromJson "{"}}', /not JSON/);
  expectTemplateError('{{call .name}}', /no functions to call/);
  expectTemplateError('{{regexMatch "(" "a"}}', /cannot be read/);
  expectTemplateError('{{set . "__proto__" 1}}', /__proto__/);
  expectTemplateError('{{dict "__proto__" 1}}', /__proto__/);
  expectTemplateError('{{xmlMarshal (dict "a b" 1)}}', /not a name/);
  expectTemplateError('{{and}}', /want at least 1/);
  expectTemplateError('{{jsonMarshal (float64 "inf")}}', /not JSON/);
  expectTemplateError('{{divf 1 0}}', /decimal division by 0/);
  expectTemplateError('{{mul 3037000500 3037000500}}', /integer overflow/);
});

test('an expensive template exceeds its budget instead of blocking the thread', () => {
  const double = '{{$x := "aaaaaaaa"}}{{range until 40}}{{$x = print $x $x}}{{end}}';
  const shared = '{{$d := dict "a" 1}}{{range until 40}}{{$d = dict "a" $d "b" $d}}{{end}}';
  const cycle = '{{$d := dict}}{{$_ := set $d "d" $d}}';
  const long = '{{$x := repeat 4000000 "a"}}';
  const hostile = [
    '{{define "r"}}{{template "r" .}}{{end}}{{template "r" .}}',
    '{{define "a"}}{{template "b"}}{{end}}{{define "b"}}{{template "a"}}{{end}}{{template "a"}}',
    '{{range until 100000}}{{range until 100000}}a{{end}}{{end}}',
    '{{range 100000000000}}{{end}}',
    '{{until 1000000000}}',
    '{{untilStep 0 1000000000 1}}',
    '{{seq 1000000000}}',
    '{{repeat 1000000000 "x"}}',
    '{{repeat 100000 (repeat 100000 "x")}}',
    '{{indent 100000000 "x"}}',
    `${double}{{$x}}`,
    `${shared}{{$d}}`,
    `${shared}{{jsonMarshal $d}}`,
    `${shared}{{xmlMarshal $d}}`,
    `${shared}{{deepCopy $d}}`,
    `${shared}{{deepEqual $d (dict "a" $d)}}{{deepEqual $d $d}}`,
    `${shared}{{printf "%s" $d}}`,
    `${cycle}{{$d}}`,
    `${cycle}{{jsonMarshal $d}}`,
    `${cycle}{{xmlMarshal $d}}`,
    `${cycle}{{deepCopy $d}}`,
    `${cycle}{{printf "%d" $d}}`,
    `${long}{{range until 10000}}{{if contains "b" $x}}{{end}}{{end}}`,
    `${long}{{range until 10000}}{{if regexMatch "(a*)*b" $x}}{{end}}{{end}}`,
    `${long}{{range until 10000}}{{if upper $x}}{{end}}{{end}}`,
    `${long}{{replace "a" (repeat 1000 "b") $x}}`,
    `${long}{{regexReplaceAll "a" $x "bbbbbbbb"}}`,
    `${long}{{$x}}{{$x}}`,
    '{{$l := list 1}}{{range until 40}}{{$l = concat $l $l}}{{end}}',
    '{{$l := until 90000}}{{range until 90000}}{{$l = append $l 1}}{{end}}',
    '{{uniq (until 50000)}}',
    '{{range until 1000}}{{if split "a" (repeat 400000 "a ")}}{{end}}{{end}}',
    '{{range $i, $_ := until 9000}}{{if regexMatch (printf "a{900}%d" $i) "a"}}{{end}}{{end}}',
    '{{range until 1000}}{{printf "%1000000d" 1}}{{end}}',
  ];
  for (const source of hostile)
    assert.throws(
      () => render(source),
      error => error instanceof TemplateError && error.isLimitExceeded,
      source,
    );
});

test('printf widths beyond the bound print BADWIDTH', () => {
  assert.equal(render('{{printf "%1000000000d" 1}}'), '%!(BADWIDTH)1');
  assert.equal(render('{{printf "%.1000000000f" 1.5}}'), '%!(BADPREC)1.500000');
  expectTemplateError('{{randAlphaNum 1000000000}}', /0 to 4096/);
});

test('deeply nested sources are rejected', () => {
  const deep = 10_000;
  expectTemplateError(`${'{{if 1}}'.repeat(deep)}${'{{end}}'.repeat(deep)}`, /nested deeper/);
  expectTemplateError(`{{${'('.repeat(deep)}1${')'.repeat(deep)}}}`, /nested deeper/);
  expectTemplateError(`{{if 0}}${'{{else if 0}}'.repeat(deep)}{{end}}`, /nested deeper/);
  expectTemplateError('a'.repeat(2_000_000), /longer than/);
});

test('render takes the caller’s bounds', () => {
  const template = compileTemplate('{{range until 100}}aaaaaaaaaa{{end}}');
  assert.equal(template.render({}).length, 1000);
  assert.throws(() => template.render({}, { maxBytes: 999 }), /more than 999 bytes/);
  assert.throws(() => template.render({}, { maxSteps: 50 }), /more than 50 steps/);
  assert.throws(
    () =>
      compileTemplate('{{define "t"}}{{if .}}{{template "t" sub . 1}}{{end}}{{end}}{{template "t" 9}}').render(
        {},
        { maxDepth: 5 },
      ),
    /deeper than 5/,
  );
});

test('output is bounded in bytes, not characters', () => {
  assert.throws(() => compileTemplate('{{.}}').render('é'.repeat(60), { maxBytes: 100 }), /more than 100 bytes/);
});

test('renderings share no state', () => {
  const template = compileTemplate('{{$x := 1}}{{if .again}}{{$x = 2}}{{end}}{{$x}}');
  assert.equal(template.render({ again: true }), '2');
  assert.equal(template.render({}), '1');
});

test('options add functions and escape the output of actions', () => {
  const functions = { shout: (args: readonly unknown[]) => `${args[0]}!` };
  assert.equal(compileTemplate('{{shout .}}', { functions }).render('a'), 'a!');
  assert.equal(compileTemplate('<{{.}}>', { escape: escapeHtml }).render('<'), '<&lt;>');
});

test('substitutions apply to literal text only, not to the output of actions', () => {
  const texts = (text: string) =>
    text.split(/(@)/).map(part => (part === '@' ? (about: unknown) => `<${about}>` : part));
  const template = compileTemplate('a@{{.}}{{"@"}}@', { parseText: texts });
  assert.equal(template.render('@', {}, 'it'), 'a<it>@@<it>');
});

test('mutatesData is known after compilation', () => {
  assert.equal(compileTemplate('{{$_ := set . "a" 1}}').mutatesData, true);
  assert.equal(compileTemplate('{{.a}}').mutatesData, false);
});
