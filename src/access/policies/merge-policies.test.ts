import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessRight } from '../keys/schema.ts';
import { freerRate, largerLimit, mergeAccess, unionOfEndpoints } from './merge-policies.ts';

const mergeAll = (...rights: AccessRight[]): AccessRight =>
  rights.reduce((one: AccessRight | undefined, other) => mergeAccess(one, other), undefined) ?? {};

test('versions are merged as union', () => {
  assert.deepEqual(mergeAll({ versions: ['v1'] }, { versions: ['v2', 'v1'] }, { versions: null }).versions, [
    'v1',
    'v2',
  ]);
});

test('allowed URLs are merged as union, with their methods per URL', () => {
  const right = mergeAll(
    { allowed_urls: [{ url: '/a', methods: ['GET'] }] },
    {
      allowed_urls: [
        { url: '/a', methods: ['POST', 'GET'] },
        { url: '/b', methods: ['GET'] },
      ],
    },
  );
  assert.deepEqual(right.allowed_urls, [
    { url: '/a', methods: ['GET', 'POST'] },
    { url: '/b', methods: ['GET'] },
  ]);
});

test('a right without URL list makes the union unrestricted, in any order', () => {
  const some = { allowed_urls: [{ url: '/a', methods: ['GET'] }] };
  for (const none of [{}, { allowed_urls: null }, { allowed_urls: [] }]) {
    for (const order of [
      [some, none, some],
      [none, some, some],
      [some, some, none],
    ]) {
      assert.deepEqual(mergeAll(...order).allowed_urls, []);
    }
  }
});

for (const list of ['restricted_types', 'allowed_types'] as const) {
  test(`${list} merge types and fields as union`, () => {
    const right = mergeAll(
      { [list]: [{ name: 'Query', fields: ['a'] }] },
      {
        [list]: [
          { name: 'Query', fields: ['b'] },
          { name: 'User', fields: ['c'] },
        ],
      },
    );
    assert.deepEqual(right[list], [
      { name: 'Query', fields: ['a', 'b'] },
      { name: 'User', fields: ['c'] },
    ]);
  });
}

test('the larger depth of a field wins, -1 being the largest', () => {
  const depth = (field_name: string, max_query_depth: number) => ({
    type_name: 'Query',
    field_name,
    limits: { max_query_depth },
  });
  const right = mergeAll(
    { field_access_rights: [depth('a', 2), depth('b', 5)] },
    { field_access_rights: [depth('a', 4), depth('b', -1), depth('c', 1)] },
  );
  assert.deepEqual(right.field_access_rights, [depth('a', 4), depth('b', -1), depth('c', 1)]);
});

test('introspection is disabled when any policy disables it', () => {
  assert.equal(mergeAll({ disable_introspection: true }, {}).disable_introspection, true);
  assert.equal(mergeAll({}, { disable_introspection: true }).disable_introspection, true);
  assert.equal(mergeAll({}, {}).disable_introspection, false);
  const enabled = { disable_introspection: false };
  assert.equal(mergeAll(enabled, enabled).disable_introspection, false);
});

test('endpoints are merged as union; of two rates for one method the higher wins, of equal ones the larger', () => {
  const method = (name: string, rate: number, per: number) => ({ name, limit: { rate, per } });
  const endpoints = unionOfEndpoints(
    [
      { path: '/x', methods: [method('GET', 10, 60)] },
      { path: '/y', methods: [method('GET', 5, 5)] },
    ],
    [
      { path: '/x', methods: [method('GET', 10, 30), method('POST', 1, 1)] },
      { path: '/y', methods: [method('GET', 9, 9)] },
    ],
  );
  assert.deepEqual(endpoints, [
    { path: '/x', methods: [method('GET', 10, 30), method('POST', 1, 1)] },
    { path: '/y', methods: [method('GET', 9, 9)] },
  ]);
});

test('of two equal rates the one without smoothing wins, then the one with the higher threshold', () => {
  const withSmoothing = (threshold: number) => ({
    ...{ rate: 10, per: 1 },
    smoothing: { enabled: true, threshold, step: 1, delay: 1 },
  });
  const plain = { rate: 10, per: 1 };
  assert.equal(freerRate(withSmoothing(5), plain), plain);
  assert.equal(freerRate(plain, withSmoothing(5)), plain);
  assert.equal(freerRate(withSmoothing(5), withSmoothing(6)).smoothing?.threshold, 6);
  assert.equal(freerRate(withSmoothing(6), withSmoothing(5)).smoothing?.threshold, 6);
});

for (const [a, b, expected] of [
  [1, 2, 2],
  [0, 2, 2],
  [-1, 2, -1],
  [-1, 0, -1],
  [-1, -5, -1],
] as const) {
  test(`the larger of ${a} and ${b} is ${expected}`, () => {
    assert.equal(largerLimit(a, b), expected);
    assert.equal(largerLimit(b, a), expected);
  });
}
