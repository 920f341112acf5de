import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatKeyId, keyHash, keyIdCandidates, nameFault, orgOfKey, parseKeyToken } from './ids.ts';

const org = '5e9d9544a1dcd60001d0ed20';
const id = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';

test('without an algorithm a key is its organisation and its id', () => {
  assert.equal(formatKeyId(org, id), org + id);
  assert.equal(formatKeyId(org, id, ''), org + id);
});

test('with an algorithm a key is base64 of org, id and h, in that order and without spaces', () => {
  const key = formatKeyId(org, id, 'sha256');
  assert.equal(Buffer.from(key, 'base64').toString(), `{"org":"${org}","id":"${id}","h":"sha256"}`);
  assert.ok(key.startsWith('ey'));
});

test('an unknown algorithm becomes murmur64', () => {
  assert.equal(parseKeyToken(formatKeyId(org, id, 'md5'))?.h, 'murmur64');
  assert.equal(parseKeyToken(formatKeyId(org, id, 'constructor'))?.h, 'murmur64');
});

test('an id that already begins with the organisation does not get it twice', () => {
  assert.equal(formatKeyId(org, org + id), org + id);
  assert.equal(parseKeyToken(formatKeyId(org, `${org}alice`, 'murmur32'))?.id, 'alice');
});

test('any name round-trips through the JSON form', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.string(),
      fc.constantFrom('murmur32', 'murmur64', 'murmur128', 'sha256'),
      (o, name, h) => {
        const key = formatKeyId(o, name, h);
        fc.pre(o.isWellFormed() && name.isWellFormed());
        assert.deepEqual(parseKeyToken(key), { org: o, id: name.startsWith(o) ? name.slice(o.length) : name, h });
      },
    ),
  );
});

for (const [text, found] of [
  [org + id, org],
  [org, org],
  [org.toUpperCase() + id, org.toUpperCase()],
  [formatKeyId('acme', 'x', 'sha256'), 'acme'],
  ['alice', undefined],
  [`zz9d9544a1dcd60001d0ed20${id}`, undefined],
  ['eyJub3QiOiJhIHRva2VuIn0=', undefined],
  ['eyJhbGciOiJIUzI1NiJ9.e30.x', undefined],
  ['ey', undefined],
  ['', undefined],
] as const) {
  test(`the organisation of ${JSON.stringify(text)} is ${found}`, () => assert.equal(orgOfKey(text), found));
}

test('a key in JSON form is hashed with its algorithm; any other with murmur32', () => {
  assert.equal(keyHash('hello'), '248bfa47');
  for (const [h, width] of [
    ['murmur32', 8],
    ['murmur64', 16],
    ['murmur128', 32],
    ['sha256', 64],
  ] as const) {
    const key = formatKeyId(org, id, h);
    assert.equal(keyHash(key).length, width);
    assert.equal(keyHash(key), keyHash(key, h));
  }
  assert.equal(keyHash('hello', 'sha256'), '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824');
  assert.equal(keyHash('hello', 'unheard of'), '248bfa47');
});

test('a custom name is looked up as itself, in the current form, in former forms and in the legacy form', () => {
  assert.deepEqual(keyIdCandidates('alice', { orgId: org }), ['alice', `${org}alice`]);
  assert.deepEqual(keyIdCandidates('alice', { orgId: org, algorithm: 'sha256', formerAlgorithms: ['murmur64'] }), [
    'alice',
    formatKeyId(org, 'alice', 'sha256'),
    formatKeyId(org, 'alice', 'murmur64'),
    `${org}alice`,
  ]);
});

test('a full key is looked up once where that is all it can be', () => {
  assert.deepEqual(keyIdCandidates(org + id, { orgId: org }), [org + id]);
});

test('a key of another organisation is never read as a name in this one', () => {
  const foreign = formatKeyId('other', 'alice', 'murmur64');
  assert.deepEqual(keyIdCandidates(foreign, { orgId: org, algorithm: 'murmur64' }), [foreign]);
});

test('a key of this organisation is also found under its legacy name', () => {
  const own = formatKeyId(org, 'alice', 'murmur64');
  assert.deepEqual(keyIdCandidates(own, { orgId: org, algorithm: 'murmur64' }), [own, `${org}alice`]);
});

test('neither the empty text nor the id of the organisation is a credential', () => {
  for (const text of ['', org, formatKeyId(org, '', 'sha256')])
    assert.deepEqual(keyIdCandidates(text, { orgId: org }), []);
});

test('short names are refused with the minimum length', () => {
  assert.equal(nameFault('ab'), 'a key must have at least 3 characters');
  assert.equal(nameFault('abc'), undefined);
  assert.equal(nameFault('abcd', 5), 'a key must have at least 5 characters');
});
