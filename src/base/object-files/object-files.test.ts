import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { parseUniqueJson } from '../json.ts';
import type { Problem } from '../problems.ts';
import { parseYaml } from '../yaml.ts';
import { escapeReferences, type ReferenceFault, substituteVariables } from './environment-references.ts';
import { toFileName, toVariableName } from './file-names.ts';
import { locateLine } from './locate-line.ts';
import { formatFileFault, listObjectFiles, locateFaults, readObjectDirectory } from './object-directory.ts';
import { watchDirectory } from './watch-directory.ts';
import { formatSortedJson, formatSortedYaml } from './yaml-writer.ts';

/** JSON values as files can hold them: without NUL characters, lone surrogates and `__proto__`. */
const jsonValues = fc
  .jsonValue({
    maxDepth: 4,
    stringUnit: fc.oneof(
      fc.constantFrom('\n', ' ', ':', '#', '-', '"', "'", '\t', '{env.'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
  })
  .filter(value => !/__proto__|\\u0000/.test(JSON.stringify(value)));
const wellFormed = (value: unknown) => JSON.parse(JSON.stringify(value).toWellFormed());

describe('YAML of objects', () => {
  test('a value is read back as it was, from YAML and JSON', () => {
    fc.assert(
      fc.property(jsonValues, given => {
        const value = { top: wellFormed(given) };
        assert.deepEqual(parseYaml(formatSortedYaml(value)), value);
        assert.deepEqual(parseUniqueJson(formatSortedJson(value)), value);
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  test('members are sorted, texts are plain where that is safe, and lines are a block', () => {
    const value = {
      b: ['x', { z: 1, w: [] }, [true, null]],
      a: { text: 'a b/c.d', number: '12', word: 'yes', url: 'http://127.0.0.1:9/x', odd: 'a: b', empty: '', none: {} },
      pem: '-----BEGIN X-----\nabc=\n-----END X-----\n',
      script: 'one\ntwo',
      indented: ' one\ntwo',
    };
    assert.equal(
      formatSortedYaml(value),
      `a:
  empty: ""
  none: {}
  number: "12"
  odd: "a: b"
  text: a b/c.d
  url: http://127.0.0.1:9/x
  word: "yes"
b:
  - x
  - w: []
    z: 1
  - - true
    - null
indented: " one\\ntwo"
pem: |
  -----BEGIN X-----
  abc=
  -----END X-----
script: |-
  one
  two
`,
    );
  });

  test('a member name longer than YAML allows without a marker is read back', () => {
    const value = { ['k'.repeat(2000)]: { b: 1, a: ['x'] } };
    assert.deepEqual(parseYaml(formatSortedYaml(value)), value);
  });
});

describe('References to environment variables', () => {
  const environment = {
    GW_VAR_NAME: 'value',
    GW_VAR_RATE: '12.5',
    GW_VAR_FLAG: 'false',
    GW_VAR_EMPTY: '',
    GW_MASTER_KEY: 'master',
    AWS_SECRET: 'cloud',
  };
  function resolve(value: unknown): unknown {
    const errors: ReferenceFault[] = [];
    const resolved = substituteVariables(value, environment, errors);
    assert.deepEqual(errors, []);
    return resolved;
  }
  function reject(value: unknown): string {
    const errors: ReferenceFault[] = [];
    substituteVariables(value, environment, errors);
    return errors.map(({ path, message }) => `${path.join('/')}: ${message}`).join('; ');
  }

  test('references are replaced inside texts, with defaults and types', () => {
    assert.deepEqual(resolve({ a: ['${env.GW_VAR_NAME}', 'x-${env.GW_VAR_NAME}-${env.GW_VAR_NAME}'] }), {
      a: ['value', 'x-value-value'],
    });
    assert.deepEqual(
      resolve(['${env.GW_VAR_MISSING:-default}', '${env.GW_VAR_EMPTY:-default}', '${env.GW_VAR_MISSING:-}']),
      ['default', '', ''],
    );
    assert.deepEqual(
      resolve(['${env.GW_VAR_RATE|number}', '${env.GW_VAR_FLAG|boolean}', '${env.GW_VAR_MISSING|number:-7}']),
      [12.5, false, 7],
    );
    assert.deepEqual(
      resolve(['$${env.GW_VAR_NAME}', '$$${env.GW_VAR_NAME}', '${other}', { '${env.GW_VAR_NAME}': 1 }]),
      ['${env.GW_VAR_NAME}', '$${env.GW_VAR_NAME}', '${other}', { '${env.GW_VAR_NAME}': 1 }],
    );
  });

  test('unset variables, wrong types and malformed references are errors with their paths', () => {
    assert.equal(reject({ a: ['${env.GW_VAR_MISSING}'] }), 'a/0: the environment variable GW_VAR_MISSING is not set');
    assert.equal(reject(['${env.GW_VAR_NAME|number}']), '0: the environment variable GW_VAR_NAME is no number');
    assert.equal(reject(['x${env.GW_VAR_RATE|number}']), '0: ${env.GW_VAR_RATE|number} must be the whole text');
    for (const text of ['${env.}', '${env.a-b}', '${env.GW_VAR_NAME', '${env.GW_VAR_NAME|text}'])
      assert.match(reject([text]), /^0: has a reference that is none of/, text);
  });

  test('variables without the prefix are errors that name the permitted one, and their values are not read', () => {
    for (const name of ['GW_MASTER_KEY', 'AWS_SECRET', 'gw_var_name', 'GW_VARIABLE', 'UNSET'])
      for (const text of [`\${env.${name}}`, `x-\${env.${name}:-default}`, `\${env.${name}|number:-7}`]) {
        const errors: ReferenceFault[] = [];
        const resolved = JSON.stringify(substituteVariables([text], environment, errors));
        const message = `the environment variable ${name} cannot be read by files: supply it as GW_VAR_${name}`;
        assert.deepEqual(errors, [{ path: [0], message }], text);
        assert.ok(!/master|cloud|value/.test(resolved), resolved);
      }
  });

  test('escaped texts resolve to themselves', () => {
    fc.assert(
      fc.property(jsonValues, given => {
        assert.deepEqual(resolve(escapeReferences(given)), given);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});

describe('Names of object files', () => {
  test('safe ids are their own names, other ids get names that differ also without case', () => {
    assert.equal(toFileName('orders-v1.2'), 'orders-v1.2');
    assert.equal(toFileName('ann@example.org'), 'ann@example.org');
    assert.match(toFileName('Orders'), /^orders~[0-9a-f]{8}$/);
    assert.match(toFileName('../etc/passwd'), /^%2e\.%2fetc%2fpasswd~[0-9a-f]{8}$/);
    assert.match(toFileName('nul'), /^nul~/);
    const ids = [
      'orders',
      'Orders',
      'ORDERS',
      'a/b',
      'a%2fb',
      '.hidden',
      'x'.repeat(300),
      'x'.repeat(301),
      'con',
      'ä',
      'Ä',
    ];
    assert.equal(new Set(ids.map(id => toFileName(id).toLowerCase())).size, ids.length);
    for (const id of ids) assert.match(toFileName(id), /^[^./\\][^/\\]{0,200}$/, id);
  });

  test('two secrets never share a variable', () => {
    const names = [
      toVariableName('api', 'a-b', ['definition', 'x', 'secret']),
      toVariableName('api', 'a_b', ['definition', 'x', 'secret']),
      toVariableName('api', 'a-b', ['definition', 'y', 'x', 'secret']),
    ];
    assert.equal(new Set(names).size, 3);
    for (const name of names) assert.match(name, /^GW_VAR_API_[A-Z0-9_]*$/);
  });
});

describe('Directory of objects', () => {
  const root = mkdtempSync(join(tmpdir(), 'gw-objects-'));
  after(() => rmSync(root, { recursive: true, force: true }));
  let count = 0;
  function write(files: Record<string, string>): string {
    const directory = join(root, String(count++));
    for (const [name, text] of Object.entries(files)) {
      const path = join(directory, name);
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, text);
    }
    return directory;
  }
  const read = (directory: string) =>
    readObjectDirectory({ directory, kinds: ['api', 'policy'], environment: { GW_VAR_NAME: 'n', GW_ACCESS_KEY: 'k' } });

  test('objects are read from YAML and JSON files of any folder, hidden names left out, links followed', () => {
    const directory = write({
      'apis/a.yaml': 'kind: api\nid: a\nspec: {name: "${env.GW_VAR_NAME}"}\n',
      'policies/b.json': '{"kind":"policy","id":"b","spec":{}}',
      '.git/c.yaml': 'broken: [',
      'README.md': 'no object',
    });
    symlinkSync(join(directory, 'apis/a.yaml'), join(directory, '.linked'));
    assert.deepEqual(listObjectFiles(directory), ['apis/a.yaml', 'policies/b.json']);
    const { objects, faults } = read(directory);
    assert.deepEqual(faults, []);
    assert.deepEqual(objects, [
      { kind: 'api', id: 'a', spec: { name: 'n' }, file: 'apis/a.yaml' },
      { kind: 'policy', id: 'b', spec: {}, file: 'policies/b.json' },
    ]);
    assert.throws(
      () => read(join(directory, 'none')),
      (error: Problem) => /cannot be read \(ENOENT\)/.test(error.message),
    );
  });

  test('every fault is reported with file, line and path', () => {
    const directory = write({
      'a.yaml': 'kind: api\nid: a\nspec:\n  list:\n    - name: "${env.GW_VAR_UNSET}"\n',
      'b.yaml': 'kind: api\nid: b\nspec:\n  text: "open\n',
      'c.json': '{"kind":"api",\n"id":"c",\n"spec":{},}',
      'd.yaml': 'kind: apii\nid: ""\nspec: 1\nmore: 2\n',
      'e.yaml': 'kind: api\nid: same\nspec: {}\n',
      'f.yaml': 'kind: api\nid: same\nspec: {}\n',
      'g.yaml': 'kind: api\nid: g\nspec: {a: 1, a: 2}\n',
      'h.yaml': '- 1\n',
      'i.yaml': 'kind: api\nid: i\nspec:\n  name: "${env.GW_ACCESS_KEY}"\n',
    });
    const lines = read(directory).faults.map(formatFileFault);
    assert.deepEqual(
      lines.filter(line => !line.startsWith('b.yaml')),
      [
        'a.yaml:5: spec.list[0].name: the environment variable GW_VAR_UNSET is not set',
        'c.json:3: it is not JSON',
        'd.yaml:1: kind: must be one of api, policy',
        'd.yaml:2: id: must be a text',
        'd.yaml:3: spec: must be an object',
        'd.yaml:4: more: no such member: an object has kind, id and spec',
        'f.yaml:1: id: e.yaml has the same kind and id',
        'g.yaml:1: duplicate member a',
        'h.yaml:1: must be an object with kind, id and spec',
        'i.yaml:4: spec.name: the environment variable GW_ACCESS_KEY cannot be read by files: supply it as GW_VAR_GW_ACCESS_KEY',
      ],
    );
    assert.match(lines.find(line => line.startsWith('b.yaml'))!, /^b\.yaml:[45]: it is not YAML/);
  });

  test('a path leads to the line of its member, or of the nearest one above', () => {
    const text = 'kind: api\nspec:\n  a.b:\n    - x: 1\n      "y z": 2\n  "/p/{id}":\n    get: {}\n';
    const lines = {
      'spec.a.b[0].x': 4,
      'spec.a.b[0]["y z"]': 5,
      'spec["/p/{id}"].get': 7,
      'spec.a.b[9]': 3,
      none: 1,
      '': 1,
    };
    for (const [path, line] of Object.entries(lines)) assert.equal(locateLine(text, path), line, path);
    const directory = write({ 'a.yaml': text });
    assert.deepEqual(locateFaults(directory, [{ file: 'a.yaml', path: 'spec.a.b', message: 'm' }]), [
      { file: 'a.yaml', path: 'spec.a.b', message: 'm', line: 3 },
    ]);
  });

  test('a watch runs after changes, once they have settled, until it is closed', async () => {
    const directory = write({ 'a.yaml': 'x' });
    let runs = 0;
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    const watching = watchDirectory(directory, async () => {
      runs++;
      resolve();
    });
    writeFileSync(join(directory, 'b.yaml'), 'y');
    await changed;
    await watching.close();
    const before = runs;
    writeFileSync(join(directory, 'c.yaml'), 'z');
    await watching.ended;
    assert.equal(runs, before);
  });

  test('a watch of a directory that does not exist is refused', () => {
    assert.throws(() => watchDirectory(join(root, 'none'), async () => undefined), /cannot be read/);
  });
});
