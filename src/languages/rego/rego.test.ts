import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RegoError } from './error.ts';
import { compileRego } from './rego.ts';

const input = {
  user: { email: 'ann@example.org', roles: ['editor', 'reader'], limits: { apis: 3 } },
  request: { method: 'DELETE', path: '/api/apis/1', body: { name: 'Orders', tags: ['a', 'b'], owner: null } },
};

/** Value of `r` in a module with these rules. */
const evaluate = (rules: string) => compileRego(`package test\n${rules}`).evaluate(input, ['r']).r;
const holds = (body: string) => evaluate(`r { ${body} }`) === true;

describe('Rego', () => {
  test('comparisons follow types, then values', () => {
    for (const body of [
      'input.user.limits.apis == 3',
      'input.user.limits.apis != 4',
      '1 < 2; 2 <= 2; 3 > 2; 2 >= 2; -1 < 0',
      '"a" < "b"',
      'null < false; true < 0; 9 < "1"; "z" < []; [] < {}; {} < set()',
      '[1, 2] < [1, 3]; [1] < [1, 2]',
      '{"a": 1, "b": [2]} == {"b": [2], "a": 1}',
      '{1, 2} == {2, 1, 2}',
      '`raw "text"` == "raw \\"text\\""',
      'input.request.body.owner == null',
    ])
      assert.ok(holds(body), body);
    for (const body of ['1 == "1"', 'input.user.name == "x"', 'input.user.name != "x"', '[1, 2] == [2, 1]'])
      assert.ok(!holds(body), body);
  });

  test('a statement fails on false and on what has no value; null, 0 and empty text hold', () => {
    for (const body of ['null', '0', '""', 'true', 'input.user', 'input.request.body.owner'])
      assert.ok(holds(body), body);
    for (const body of [
      'false',
      'input.none',
      'input.user.roles[2]',
      'input.user.email.x',
      'input.user["constructor"]',
    ])
      assert.ok(!holds(body), body);
  });

  test('not holds where a statement has no solution', () => {
    assert.ok(holds('not input.none'));
    assert.ok(holds('not false'));
    assert.ok(holds('not input.user.limits.apis > 3'));
    assert.ok(holds('not "admin" in input.user.roles'));
    assert.ok(!holds('not input.user.email'));
  });

  test('an unbound index runs over arrays, objects and sets', () => {
    assert.ok(holds('input.user.roles[_] == "reader"'));
    assert.ok(holds('some i; input.user.roles[i] == "reader"; i == 1'));
    assert.deepEqual(evaluate('r[x] { x := input.user.roles[_] }'), ['editor', 'reader']);
    assert.deepEqual(evaluate('r contains name if { input.request.body[name] }'), ['name', 'owner', 'tags']);
    assert.deepEqual(evaluate('r contains x if { some x in {1, 2, 2} }'), [1, 2]);
    assert.deepEqual(evaluate('r contains [k, v] if { some k, v in {"a": 1} }'), [['a', 1]]);
    assert.deepEqual(evaluate('r contains [i, j] if { ["x"][i]; [true, false, true][j] }'), [
      [0, 0],
      [0, 2],
    ]);
  });

  test('complete rules have one value; defaults and several definitions add up', () => {
    assert.equal(evaluate('r := 1 if { input.none }\nr := 2 if { input.user }'), 2);
    assert.equal(evaluate('default r := "no"\nr = "yes" { input.none }'), 'no');
    assert.equal(evaluate('default r = false\nr { input.user }'), true);
    assert.equal(evaluate('r if input.user.email == "ann@example.org"'), true);
    assert.equal(evaluate('r if { input.none }'), undefined);
    assert.deepEqual(evaluate('default r = [1, {"a": {2}}]'), [1, { a: [2] }]);
    assert.throws(() => evaluate('r = 1 { true }\nr = 2 { true }'), /r has two different values/);
  });

  test('rules refer to rules and functions, and a set holds its members by themselves', () => {
    const rules = `
      methods := {"POST", "PUT", "DELETE"}
      is_write { methods[input.request.method] }
      below(path, root) { startswith(path, concat("", [root, "/"])) }
      size(x) := "many" if count(x) > 1
      size(x) := "few" if count(x) <= 1
      r[reason] {
        is_write
        below(input.request.path, "/api/apis")
        role = input.user.roles[_]
        reason := sprintf("%s as %v: %d %s%%", [input.user.email, role, 2, size(input.user.roles)])
      }`;
    assert.deepEqual(evaluate(rules), ['ann@example.org as editor: 2 many%', 'ann@example.org as reader: 2 many%']);
  });

  test('functions of the language take their types; others have no value', () => {
    for (const body of [
      'count("äö") == 2; count([1]) == 1; count({1, 2}) == 2; count({"a": 1}) == 1',
      'startswith("abc", "ab"); endswith("abc", "bc"); contains("abc", "b")',
      'lower("AB") == "ab"; upper("ab") == "AB"; trim_space(" a ") == "a"',
      'trim_prefix("abc", "ab") == "c"; trim_suffix("abc", "bc") == "a"; trim_suffix("abc", "") == "abc"',
      'split("a/b", "/") == ["a", "b"]; concat(",", {"b", "a"}) == "a,b"',
      'object.get(input.user, "email", "") == "ann@example.org"; object.get({}, "a", 1) == 1',
      'is_null(null); is_boolean(true); is_number(1); is_string(""); is_array([]); is_object({}); is_set(set())',
    ])
      assert.ok(holds(body), body);
    for (const body of ['count(1)', 'lower(1)', 'concat(",", [1])', 'sprintf("%x", [1])', 'sprintf("%s", [])'])
      assert.ok(!holds(body), body);
  });

  test('strings, comments and line ends are read as in the language', () => {
    assert.equal(evaluate('r := "a#b" # comment {'), 'a#b');
    assert.equal(evaluate('r {\n  x :=\n    1\n  x == 1\n}'), true);
    assert.deepEqual(evaluate('r := [\n  1,\n  2,\n]'), [1, 2]);
    const module = 'package a.b["c-d"]\nimport rego.v1\nimport future.keywords.in\nr := `x\ny`\n';
    assert.equal(compileRego(module).evaluate({}, ['r']).r, 'x\ny');
  });

  test('unsupported syntax is refused with line and column', () => {
    for (const [rules, message] of [
      ['r := [x | x := 1]', 'line 2, column 9: comprehensions are not supported'],
      ['r := {x | x := 1}', 'line 2, column 9: comprehensions are not supported'],
      ['r { true } else = 1 { true }', 'line 2, column 12: else is not supported behind a rule'],
      ['r { every x in [1] { x } }', 'line 2, column 5: every is not supported'],
      ['r { input with input as {} }', 'line 2, column 11: with is not supported'],
      ['r { x := 1 + 2 }', 'line 2, column 12: unexpected +'],
      ['r { data.users }', 'line 2, column 5: data is not supported: rules can refer to input only'],
      ['r { http.send({}) }', 'line 2, column 5: the function http.send is not supported'],
      ['r { time.now_ns() > 1 }', 'line 2, column 5: the function time.now_ns is not supported'],
      ['import data.x', 'line 2, column 1: import data.x is not supported'],
      ['r[k] = v { k := 1; v := 2 }', 'line 2, column 6: rules that are objects are not supported'],
      ['r[x] if { x := 1 }', 'line 2, column 1: name[…] if is not supported: use contains'],
      ['a.b { true }', 'line 2, column 2: rules with a path are not supported'],
      ['r { x == 1 }', 'line 2, column 5: x has no value here'],
      ['r { not x == 1; x := 1 }', 'line 2, column 9: x has no value here: a statement behind not cannot give it one'],
      ['r { not input.a[_] }', 'line 2, column 17: _ has no value here: a statement behind not cannot give it one'],
      ['r { x := 1; x := 2 }', 'line 2, column 13: x is assigned twice'],
      ['r[x] { true }', 'line 2, column 3: x has no value here'],
      ['r { _ == 1 }', 'line 2, column 5: _ is only allowed as an index'],
      ['r { s }\ns { r }', 'line 2, column 1: r is recursive'],
      ['f(x) { f(x) }\nr { f(1) }', 'line 2, column 1: f is recursive'],
      ['f(x) { x }\nr { f }', 'line 3, column 5: f is a function: call it'],
      ['f(x) { x }\nr { f(1, 2) }', 'line 3, column 5: f takes 1 argument'],
      ['r = 1\nr[x] { x := 1 }', 'line 3, column 1: r is already defined with another kind or number of parameters'],
      ['default r = input.x', 'line 2, column 9: a default must be a constant'],
      ['r { }', 'line 2, column 6: the body is empty'],
      ['r', 'line 2, column 2: the rule has no body'],
      ['r { true', 'line 2, column 9: a term is missing'],
      ['r := "open', 'line 2, column 6: the text is not closed'],
      ['r := "\\q"', 'line 2, column 6: the text has an invalid escape or character'],
      ['r := 1e999', 'line 2, column 6: the number is too large'],
      ['r { true } s { true }', 'line 2, column 12: expected the end of the line'],
    ] as const)
      assert.throws(() => evaluate(rules), { name: 'RegoError', message }, rules);
    assert.throws(() => compileRego('r { true }'), { message: 'line 1, column 1: expected package, found r' });
  });

  test('a search beyond the budget ends', () => {
    const pairs = Array.from({ length: 8 }, (_, at) => `list[i${at}]`).join('; ');
    const list = `list := [${Array.from({ length: 20 }, () => '1').join()}]`;
    assert.throws(() => evaluate(`${list}\nr { ${pairs}; false }`), /more than 200000 steps/);
    const long = `r { x := "${'a'.repeat(60_000)}"; count(concat("", [x, x])) > 1 }`;
    assert.throws(() => evaluate(long), /more than 100000 bytes of text/);
    const chain = Array.from({ length: 60 }, (_, at) => `f${at}(x) { f${at + 1}(x) }`).join('\n');
    assert.throws(() => evaluate(`${chain}\nf60(x) { x }\nr { f0(1) }`), /deeper than 50 calls/);
    assert.throws(() => compileRego(`package a\nr := ${'['.repeat(60)}`), /nested deeper than 50 levels/);
    assert.throws(() => compileRego(`package a\nr := [${'1,'.repeat(600)}]`), /more than 500 members/);
    assert.throws(() => compileRego(`package ${'a'.repeat(100_001)}`), /longer than 100000 characters/);
  });

  test('work on large values is charged by their size', () => {
    const turns = Array.from({ length: 200 }, (_, at) => at);
    const large = {
      turns,
      text: 'a'.repeat(1_000_000),
      list: Array.from({ length: 100_000 }, () => 1),
      object: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, 1])),
      named: { ['n'.repeat(1_000_000)]: 1 },
      words: Array.from({ length: 3000 }, (_, at) => `word ${at}`),
      empty: Array.from({ length: 100_000 }, () => ''),
    };
    for (const body of [
      'count(input.text) > 0',
      'count(input.object) > 0',
      '1 in input.list',
      '1 in input.object',
      'input.named == input.named',
      'set_of_words == set_of_words',
      'concat("", input.empty) == ""',
    ]) {
      const rules = `set_of_words contains w if { some w in input.words }\nr contains i if { some i in input.turns; ${body} }`;
      assert.throws(
        () => compileRego(`package test\n${rules}`).evaluate(large, ['r']),
        { name: 'RegoError', message: 'more than 200000 steps' },
        body,
      );
    }
  });

  test('a long needle costs no more than the text it is searched in', () => {
    const long = { text: 'a'.repeat(1_000_000), part: `ab${'a'.repeat(100_000)}` };
    const rules = 'r := [contains(input.text, input.part), count(split(input.text, input.part))]';
    assert.deepEqual(compileRego(`package test\n${rules}`).evaluate(long, ['r']).r, [false, 1]);
  });

  test('rules that exhaust the stack are an error of the rules', () => {
    const body = 'true\n'.repeat(190);
    const chain = Array.from({ length: 45 }, (_, at) => `r${at} if {\n${body}r${at + 1}\n}`).join('\n');
    assert.throws(() => evaluate(`${chain}\nr45 := true\nr if r0`), {
      name: 'RegoError',
      message: 'the rules are nested too deeply, or make too long a text',
    });
  });

  test('any text is compiled and evaluated, or refused with a RegoError', () => {
    const words = ['r', 's', 'x', '_', 'input', 'not', 'some', 'in', 'if', 'contains', 'default', 'f', 'count', 'set'];
    const marks = ['{', '}', '[', ']', '(', ')', ':=', '=', '==', '<', '.', ',', ';', ':', '\n', '"t"', '1', '|', '-'];
    const part = fc.constantFrom(...words, ...marks);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), parts => {
        try {
          compileRego(`package p\n${parts.join(' ')}`).evaluate(input, ['r', 's']);
        } catch (error) {
          assert.ok(error instanceof RegoError, String(error));
        }
      }),
      { numRuns: 3000 },
    );
  });
});
