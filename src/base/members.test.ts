import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import {
  checkMembers,
  defaultMemberBounds,
  formatUnknownMember,
  freeForm,
  legacyMembers,
  meaningfulNull,
  readOnlyMembers,
} from './members.ts';
import { publishMembers } from './members-schema.ts';

const texts = (schema: z.ZodType, value: unknown, bounds?: Parameters<typeof checkMembers>[2]) =>
  checkMembers(schema, value, bounds).unknown.map(member => `${member.path}: ${formatUnknownMember(member)}`);

const inner = z.looseObject({ listen_path: z.string().optional(), strip: z.boolean().optional() });
const places: Record<string, [z.ZodType, (value: unknown) => unknown, string]> = {
  object: [z.object({ a: inner }), value => ({ a: value }), 'a.'],
  'strict object': [z.strictObject({ a: inner }), value => ({ a: value }), 'a.'],
  'loose object': [z.looseObject({ a: inner }), value => ({ a: value }), 'a.'],
  catchall: [z.object({}).catchall(inner), value => ({ a: value }), 'a.'],
  record: [z.record(z.string(), inner), value => ({ 'a b': value }), '["a b"].'],
  array: [z.array(inner), value => [{}, value], '[1].'],
  tuple: [z.tuple([z.string(), inner]), value => ['', value], '[1].'],
  'rest of a tuple': [z.tuple([z.string()], inner), value => ['', {}, value], '[2].'],
  optional: [inner.optional(), value => value, ''],
  nullable: [inner.nullable(), value => value, ''],
  default: [inner.default({}), value => value, ''],
  prefault: [inner.prefault({}), value => value, ''],
  catch: [inner.catch({}), value => value, ''],
  readonly: [inner.readonly(), value => value, ''],
  transform: [inner.transform(value => value.strip), value => value, ''],
  preprocess: [z.preprocess(value => value, inner), value => value, ''],
  refined: [inner.refine(() => true).describe('x'), value => value, ''],
  lazy: [z.lazy(() => inner), value => value, ''],
  union: [z.union([z.string(), z.array(z.string()), inner]), value => value, ''],
  'union beside a union of texts': [z.union([z.union([z.string(), z.int()]), inner]), value => value, ''],
  'union of objects': [z.union([z.object({ other: z.string() }), inner]), value => value, ''],
  intersection: [
    z.intersection(z.looseObject({ b: z.string() }), inner),
    value => ({ b: '', ...(value as object) }),
    '',
  ],
  'beside a free-form member': [
    z.object({ meta: freeForm(z.object({})), a: inner }),
    value => ({ meta: { x: 1 }, a: value }),
    'a.',
  ],
};

describe('unknown members', () => {
  for (const [name, [schema, wrap, prefix]] of Object.entries(places)) {
    test(`a misspelt member is found in: ${name}`, () => {
      assert.deepEqual(texts(schema, wrap({ listen_pth: '/', strip: true })), [
        `${prefix}listen_pth: no such member; did you mean listen_path?`.replace(/^\./, ''),
      ]);
      assert.deepEqual(texts(schema, wrap({ listen_path: '/' })), []);
    });

    test(`null of an optional member is absent in: ${name}`, () => {
      const value = wrap({ listen_path: null, strip: true });
      const checked = checkMembers(schema, value);
      assert.deepEqual(checked.value, wrap({ strip: true }));
      assert.deepEqual(value, wrap({ listen_path: null, strip: true }), 'the value given is not changed');
      assert.equal(z.safeParse(schema, checked.value).success, true);
    });
  }

  test('a discriminated union is read by its discriminator', () => {
    const schema = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), path: z.string() }),
      z.object({ kind: z.literal('b'), port: z.int() }),
    ]);
    assert.deepEqual(texts(schema, { kind: 'a', path: '', port: 1 }), ['port: no such member']);
    assert.deepEqual(texts(schema, { kind: 'b', port: 1 }), []);
  });

  test('a record of literal keys allows those only', () => {
    const schema = z.partialRecord(z.enum(['get', 'post']), z.boolean());
    assert.deepEqual(texts(schema, { pots: true }), ['pots: no such member; did you mean post?']);
  });

  test('a name declared at one other path is suggested with that path', () => {
    const schema = z.object({
      proxy: z.object({ target_url: z.string() }),
      b: z.object({ on: z.boolean() }),
      c: z.object({ on: z.boolean() }),
    });
    assert.deepEqual(texts(schema, { target_url: '' }), ['target_url: no such member; did you mean proxy.target_url?']);
    assert.deepEqual(texts(schema, { on: true }), ['on: no such member']);
  });

  test('names that objects inherit are not declared', () => {
    assert.deepEqual(texts(z.object({}), { constructor: 1, toString: 2 }), [
      'constructor: no such member',
      'toString: no such member',
    ]);
  });

  test('legacy members are kept and reported, and never suggested', () => {
    const schema = legacyMembers(
      z.object({ use: z.boolean().optional() }).refine(() => true),
      ['use_certificate'],
    );
    const value = { use_certificate: true };
    assert.deepEqual(checkMembers(schema, value), { value, unknown: [], legacy: ['use_certificate'] });
    assert.deepEqual(schema.parse(value), value);
    assert.deepEqual(texts(schema, { use_certificat: 1 }), ['use_certificat: no such member']);
  });

  test('an empty legacy member is kept without a report', () => {
    const schema = legacyMembers(z.looseObject({}), ['old']);
    for (const old of [false, 0, '', null, [], {}, { secret: '', list: [], deep: { on: false } }]) {
      const value = { old };
      assert.deepEqual(checkMembers(schema, value), { value, unknown: [], legacy: [] });
    }
    for (const old of [true, -1, 'x', [0, 1], { secret: '', deep: { on: true } }])
      assert.deepEqual(checkMembers(schema, { old }).legacy, ['old']);
  });

  test('free-form objects take any member, and their declared members are still checked', () => {
    const schema = freeForm(z.object({ a: inner })).extend({ b: z.string().optional() });
    assert.deepEqual(texts(schema, { anything: { at: null }, a: { strp: true } }), [
      'a.strp: no such member; did you mean strip?',
    ]);
    assert.deepEqual(checkMembers(schema, { a: {}, x: null }).value, { a: {}, x: null });
  });

  test('reports, depth and names are bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`m${index}`, 1]));
    assert.equal(texts(z.object({}), many, { maxReported: 7, maxDepth: 9 }).length, 7);
    const tree: z.ZodType = z.object({ a: z.lazy(() => tree).optional() });
    assert.deepEqual(texts(tree, { a: { a: { a: { a: {} } } } }, { maxReported: 9, maxDepth: 3 }), [
      'a.a.a.a: no such member',
    ]);
    assert.equal(texts(z.object({}), { ['n'.repeat(1_000_000)]: 1 })[0]!.length < 200, true);
  });
});

describe('null', () => {
  test('null stays where the schema accepts it', () => {
    const schema = z.object({ a: z.string().nullable(), b: z.unknown().optional(), c: z.string() });
    const value = { a: null, b: null, c: null };
    assert.equal(checkMembers(schema, value).value, value);
  });

  test('null is absent where there is a default, in lists and maps of optional items too', () => {
    const schema = z.object({
      a: z.string().default('x'),
      list: z.array(z.string().optional()),
      map: z.record(z.string(), z.string().nullable().optional()),
    });
    assert.deepEqual(checkMembers(schema, { a: null, list: ['1', null], map: { b: null, c: '2' } }).value, {
      list: ['1'],
      map: { c: '2' },
    });
  });

  test('a value without null is not copied', () => {
    const schema = z.object({ a: z.array(inner), m: z.record(z.string(), inner) });
    const value = { a: [{ strip: true }], m: { x: {} } };
    assert.equal(checkMembers(schema, value).value, value);
    const changed = checkMembers(schema, { ...value, a: [{ strip: null }] }).value as typeof value;
    assert.equal(changed.m, value.m);
  });
});

describe('published JSON Schema', () => {
  test('closes objects where members are refused, and allows null where it means absent', () => {
    const schema = legacyMembers(
      z.looseObject({ name: z.string(), size: z.int().max(9).optional(), meta: freeForm(z.object({})).optional() }),
      ['old'],
    );
    assert.deepEqual(z.toJSONSchema(schema, { io: 'input', override: publishMembers }), {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        name: { type: 'string' },
        size: { anyOf: [{ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: 9 }, { type: 'null' }] },
        meta: { anyOf: [{ type: 'object', properties: {}, additionalProperties: {} }, { type: 'null' }] },
        old: { deprecated: true, description: 'Legacy: kept and returned, without effect.' },
      },
      required: ['name'],
      additionalProperties: false,
    });
  });
});

describe('members of reads and of changes', () => {
  const schema = readOnlyMembers(
    z.looseObject({ name: z.string(), tags: meaningfulNull(z.array(z.string()).nullable().optional()) }),
    ['id', 'name', 'created_at'],
  );

  test('a read-only member is accepted, left out, and never suggested', () => {
    assert.deepEqual(checkMembers(schema, { id: 1, name: 'x', created_at: {} }), {
      value: { name: 'x' },
      unknown: [],
      legacy: [],
    });
    assert.deepEqual(texts(schema, { created_att: '' }), ['created_att: no such member']);
  });

  test('a meaningful null reaches the schema', () => {
    assert.deepEqual(checkMembers(schema, { name: 'x', tags: null }).value, { name: 'x', tags: null });
    const published = z.toJSONSchema(schema, { io: 'input', override: publishMembers });
    assert.deepEqual(published.properties?.tags, {
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
    });
  });

  test('unknown members are left out where the caller requests it', () => {
    const deep = z.looseObject({ list: z.array(schema), map: z.record(z.string(), schema) });
    const value = { list: [{ name: 'a', nme: 1 }], map: { k: { name: 'b', x: null } }, lst: [] };
    const checked = checkMembers(deep, value, { ...defaultMemberBounds, dropsUnknown: true });
    assert.deepEqual(checked.value, { list: [{ name: 'a' }], map: { k: { name: 'b' } } });
    assert.deepEqual(
      checked.unknown.map(({ path }) => path),
      ['list[0].nme', 'map.k.x', 'lst'],
    );
  });
});
