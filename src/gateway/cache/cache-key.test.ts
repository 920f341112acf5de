import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as holds, option, property, string, uniqueArray } from 'fast-check';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { Exchange } from '../pipeline/exchange.ts';
import { buildVariantKey, createCacheKeys, isSameVariant, serializeTuple } from './cache-key.ts';

const definition = (more: object = {}) =>
  classicToModel({
    ...{ api_id: 'api', org_id: 'org', name: 'A', use_keyless: true },
    cache_options: { enable_cache: true, cache_by_headers: ['X-Lang', 'x-lang', 'Accept'] },
    version_data: { not_versioned: true, versions: { one: { name: 'one' }, two: { name: 'two' } } },
    ...more,
  } as unknown as ClassicDefinition);

type Change = (call: Exchange) => void;

function call(headers: Record<string, string> = {}, change: Change = () => undefined): Exchange {
  const made = new Exchange({
    ...{ method: 'GET', target: '/a/b', path: '/a/b', query: 'c=d', host: 'example.org' },
    headers: new HeaderList(Object.entries(headers).flat()),
    body: noBody(),
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined },
    ...{ clientAddress: '10.0.0.1', receivedAtMs: 0, startedAt: 0 },
  });
  change(made);
  return made;
}

const keys = (model = definition(), version = 0) => createCacheKeys(model, model.versions[version]!);
const plain = keys().build(call(), 'GET');

test('hashTuple: different lists have different hashes, also where their joined text is equal', () => {
  const list = array(option(string(), { nil: undefined }), { maxLength: 6 });
  holds(
    property(
      uniqueArray(list, { minLength: 2, maxLength: 2, selector: it => JSON.stringify(it.map(x => x ?? null)) }),
      ([one, other]) => {
        assert.notEqual(serializeTuple(one!), serializeTuple(other!));
      },
    ),
    { numRuns: 1000 },
  );
});

const different: Record<string, string> = {
  method: keys().build(call(), 'OPTIONS'),
  body: keys().build(call(), 'GET', ''),
  host: keys().build(
    call({}, it => Object.assign(it, { host: 'example.com' })),
    'GET',
  ),
  path: keys().build(
    call({}, it => Object.assign(it, { path: '/a' })),
    'GET',
  ),
  query: keys().build(
    call({}, it => Object.assign(it, { query: 'c=e' })),
    'GET',
  ),
  key: keys().build(
    call({}, it => Object.assign(it, { keyId: 'one' })),
    'GET',
  ),
  'another key': keys().build(
    call({}, it => Object.assign(it, { keyId: 'two' })),
    'GET',
  ),
  'a key that looks like the address': keys().build(
    call({}, it => Object.assign(it, { keyId: '10.0.0.1' })),
    'GET',
  ),
  address: keys().build(
    call({}, it => Object.assign(it, { clientAddress: '10.0.0.2' })),
    'GET',
  ),
  authorization: keys().build(call({ Authorization: 'Bearer a' }), 'GET'),
  'another authorization': keys().build(call({ Authorization: 'Bearer b' }), 'GET'),
  cookie: keys().build(call({ Cookie: 'a=b' }), 'GET'),
  'a header of the definition': keys().build(call({ 'X-Lang': 'de' }), 'GET'),
  'an empty header of the definition': keys().build(call({ 'X-Lang': '' }), 'GET'),
  'another header of the definition': keys().build(call({ Accept: 'de' }), 'GET'),
  'a rewritten target': keys().build(
    call({}, it => Object.assign(it, { rewrittenTarget: { address: undefined, path: '/b', query: '' } })),
    'GET',
  ),
  'the method upstream': keys().build(
    call({}, it => Object.assign(it, { upstreamMethod: 'POST' })),
    'GET',
  ),
  version: keys(definition(), 1).build(call(), 'GET'),
  organisation: keys(definition({ org_id: 'other' })).build(call(), 'GET'),
  API: keys(definition({ api_id: 'other' })).build(call(), 'GET'),
  definition: keys(definition({ name: 'B' })).build(call(), 'GET'),
};

test('cache keys differ in every attribute of the request that is part of the key', () => {
  const all = [plain, ...Object.values(different)];
  assert.equal(new Set(all).size, all.length);
});

test('cache keys are equal for requests that differ in other headers only', () => {
  assert.equal(keys().build(call({ 'User-Agent': 'x', Accept_Language: 'de' }), 'GET'), plain);
});

test('cache keys differ in the content type of the body', () => {
  const of = (type: string) => keys().build(call({ 'Content-Type': type }), 'POST', 'same');
  assert.notEqual(of('text/plain'), of('application/json'));
});

test('cache keys of an HMAC API leave the signature out', () => {
  const buildKey = (model: ReturnType<typeof definition>, text: string) =>
    keys(model).build(
      call({ Authorization: text }, it => Object.assign(it, { keyId: 'k' })),
      'GET',
    );
  const hmac = definition({ use_keyless: false, enable_signature_checking: true });
  assert.equal(
    buildKey(hmac, 'Signature keyId="a",signature="b"'),
    buildKey(hmac, 'Signature keyId="a",signature="c"'),
  );
  assert.notEqual(buildKey(hmac, 'Bearer a'), buildKey(hmac, 'Bearer b'));
  assert.notEqual(buildKey(definition(), 'Signature a'), buildKey(definition(), 'Signature b'));
});

test('variant keys differ in the Vary headers and in the id of the marker', () => {
  const marker = { varyNames: ['accept', 'origin'], variantId: 'm', expiresAtMs: 0 };
  const of = (headers: Record<string, string>, signpost = marker) =>
    buildVariantKey('key', signpost, new HeaderList(Object.entries(headers).flat()));
  const all = [
    of({}),
    of({ Accept: 'a' }),
    of({ Origin: 'a' }),
    of({ Accept: '' }),
    of({ Accept: 'a', Origin: 'a' }),
    of({}, { ...marker, variantId: 'n' }),
  ];
  assert.equal(new Set(all).size, all.length);
  assert.equal(of({ ACCEPT: 'a', 'X-Else': '1' }), of({ accept: 'a' }));
  const [one, other] = [new HeaderList(['Accept', 'a', 'Accept', 'b']), new HeaderList(['accept', 'a, b', 'X', '1'])];
  assert.ok(isSameVariant(['accept'], one, other));
  assert.ok(!isSameVariant(['accept', 'x'], one, other));
});
