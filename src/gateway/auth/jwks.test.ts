import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createOutboundClient } from '#base/http-client/client.ts';
import { createLog } from '#base/log.ts';
import { ecPair, jwkOf, type Publisher, rsaPair, startPublisher } from '../../../tests/support/tokens.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { createJwksCache, type JwksCache, type KeyQuery } from './jwks.ts';
import { mergeKeySetReports } from './key-set-report.ts';

const ttlSeconds = 240;
const pauseSeconds = 10;
const [one, two] = [rsaPair(), rsaPair()];

describe('JWKS', () => {
  let publisher: Publisher;
  let sets: JwksCache;
  let nowMs = 0;
  const out = createOutboundClient();
  const createKeyQuery = (kid?: string, more: Partial<KeyQuery> = {}): KeyQuery => ({
    kid,
    algorithm: 'RS256',
    families: ['rsa'],
    ...more,
  });
  before(async () => {
    publisher = await startPublisher();
  });
  after(async () => {
    await out.close();
    await publisher.close();
  });
  beforeEach(() => {
    nowMs = 1_000_000;
    publisher.isUnavailable = false;
    publisher.asked = [];
    publisher.pages = { '/keys': { keys: [jwkOf(one.publicKey, { kid: 'one' })] } };
    const log = createLog({ level: 'silent', format: 'json' });
    sets = createJwksCache({
      outbound: out,
      clock: { now: () => nowMs },
      log,
      ttlSeconds,
      minRefreshSeconds: pauseSeconds,
    });
  });
  const at = () => sets.forUrl(`${publisher.url}/keys`);

  test('concurrent lookups fetch a set once; later lookups are synchronous', async () => {
    const found = await Promise.all([1, 2, 3].map(() => at().find(createKeyQuery('one'))));
    assert.ok(found.every(it => it?.key.equals(one.publicKey)));
    const again = at().find(createKeyQuery('one'));
    assert.ok(!(again instanceof Promise) && again === found[0]);
    assert.equal(publisher.asked.length, 1);
  });

  test('the sets of many sources are known at the same time', async () => {
    const paths = ['/a', '/b', '/c', '/d'];
    for (const path of paths) publisher.pages[path] = publisher.pages['/keys'];
    for (const path of [...paths, ...paths])
      assert.ok(await sets.forUrl(publisher.url + path).find(createKeyQuery('one')));
    assert.deepEqual(publisher.asked, paths);
  });

  test('an unknown kid refreshes the set; unchanged keys stay the same objects', async () => {
    const first = await at().find(createKeyQuery('one'));
    publisher.pages['/keys'] = { keys: [jwkOf(two.publicKey, { kid: 'two' }), jwkOf(one.publicKey, { kid: 'one' })] };
    nowMs += pauseSeconds * 1000;
    assert.ok((await at().find(createKeyQuery('two')))?.key.equals(two.publicKey));
    assert.equal(at().find(createKeyQuery('one')), first);
    assert.equal(publisher.asked.length, 2);
  });

  test('a removed key is unknown after the TTL', async () => {
    await at().find(createKeyQuery('one'));
    publisher.pages['/keys'] = { keys: [jwkOf(two.publicKey, { kid: 'two' })] };
    nowMs += ttlSeconds * 1000 - 1;
    assert.ok(at().find(createKeyQuery('one')));
    nowMs += 1;
    assert.equal(await at().find(createKeyQuery('one')), undefined);
  });

  test('an invalidated set is fetched again, others are not', async () => {
    const url = `${publisher.url}/keys`;
    publisher.pages['/other'] = publisher.pages['/keys'];
    const other = sets.forUrl(`${publisher.url}/other`);
    const first = await at().find(createKeyQuery('one'));
    await other.find(createKeyQuery('one'));
    publisher.pages['/keys'] = { keys: [] };
    sets.invalidate({ urls: [`${publisher.url}/other`, 'http://nobodys.test/'], issuers: ['nobody'] });
    assert.equal(at().find(createKeyQuery('one')), first);
    assert.ok((await other.find(createKeyQuery('one')))?.key.equals(one.publicKey));
    sets.invalidate({ urls: [url], issuers: [] });
    assert.equal(await at().find(createKeyQuery('one')), undefined);
    sets.invalidate();
    await other.find(createKeyQuery('one'));
    assert.deepEqual(publisher.asked, ['/keys', '/other', '/other', '/keys', '/other']);
  });

  test('an invalidated issuer is discovered again, others are not', async () => {
    const issuers = ['a', 'b'].map(name => `${publisher.url}/${name}`);
    for (const [at, issuer] of issuers.entries()) {
      const path = new URL(issuer).pathname;
      publisher.pages[`${path}/.well-known/openid-configuration`] = { issuer, jwks_uri: `${issuer}/keys` };
      publisher.pages[`${path}/keys`] = { keys: [jwkOf([one, two][at]!.publicKey, { kid: 'one' })] };
      assert.ok(await sets.forIssuer(issuer).find(createKeyQuery('one')));
    }
    publisher.pages['/a/keys'] = { keys: [] };
    publisher.pages['/b/keys'] = { keys: [] };
    publisher.asked = [];
    sets.invalidate({ urls: [], issuers: [issuers[0]!] });
    assert.equal(
      await sets.forIssuer(issuers[0]!).find(createKeyQuery('one')),
      undefined,
      'a withdrawn key is not trusted',
    );
    assert.ok(await sets.forIssuer(issuers[1]!).find(createKeyQuery('one')));
    assert.deepEqual(publisher.asked, ['/a/.well-known/openid-configuration', '/a/keys']);
  });

  test('unknown kids refresh the set at most once per interval', async () => {
    await at().find(createKeyQuery('one'));
    for (const kid of ['../../etc/passwd', "' or 1=1 --", '', '__proto__', 'constructor'])
      assert.equal(await at().find(createKeyQuery(kid)), undefined, kid);
    assert.equal(publisher.asked.length, 1);
    nowMs += pauseSeconds * 1000;
    await Promise.all(['a', 'b', 'c'].map(kid => at().find(createKeyQuery(kid))));
    await at().find(createKeyQuery('d'));
    assert.equal(publisher.asked.length, 2);
  });

  test('while the source is unavailable cached keys stay valid, and lookups do not wait for it again', async () => {
    const first = await at().find(createKeyQuery('one'));
    publisher.isUnavailable = true;
    nowMs += ttlSeconds * 1000;
    assert.equal(await at().find(createKeyQuery('one')), first);
    nowMs += pauseSeconds * 1000;
    assert.equal(at().find(createKeyQuery('one')), first, 'at once, although it is asked again behind it');
    await eventually(() => assert.equal(publisher.asked.length, 3));
  });

  test('while the source hangs one lookup waits, lookups of known keys do not', async () => {
    const first = await at().find(createKeyQuery('one'));
    const hung = Promise.withResolvers<undefined>();
    publisher.pages['/keys'] = () => hung.promise;
    nowMs += ttlSeconds * 1000;
    const waiting = at().find(createKeyQuery('one'));
    assert.ok(waiting instanceof Promise);
    for (let n = 0; n < 100; n++) assert.equal(at().find(createKeyQuery('one')), first);
    hung.resolve(undefined);
    assert.equal(await waiting, first);
    assert.equal(publisher.asked.length, 2);
  });

  test('a source that failed is not fetched again before the interval', async () => {
    publisher.isUnavailable = true;
    assert.equal(await at().find(createKeyQuery('one')), undefined);
    assert.equal(await at().find(createKeyQuery('one')), undefined);
    assert.equal(publisher.asked.length, 1);
    publisher.isUnavailable = false;
    nowMs += pauseSeconds * 1000;
    assert.ok(await at().find(createKeyQuery('one')));
  });

  test('a malformed or too large set and a redirect give no keys', async () => {
    for (const page of ['[]', 'nonsense', '{"keys":{}}', `{"keys":[],"pad":"${'x'.repeat(600_000)}"}`]) {
      nowMs += pauseSeconds * 1000;
      publisher.pages['/keys'] = page;
      assert.equal(await at().find(createKeyQuery('one')), undefined);
    }
    assert.equal(await sets.forUrl('http://169.254.169.254/keys').find(createKeyQuery('one')), undefined);
  });

  test('a key verifies only its type and algorithm; without kid it must be the only candidate', async () => {
    const ec = ecPair();
    publisher.pages['/keys'] = {
      keys: [
        jwkOf(one.publicKey, { kid: 'same', alg: 'RS512' }),
        jwkOf(ec.publicKey, { kid: 'same' }),
        { kty: 'oct', k: 'c2VjcmV0', kid: 'same' },
        jwkOf(two.publicKey, { kid: 'enc', use: 'enc' }),
        null,
        7,
      ],
    };
    assert.equal(await at().find(createKeyQuery('same')), undefined);
    assert.equal(at().find(createKeyQuery('same', { algorithm: 'RS512' }))?.constructor, Object);
    assert.equal(
      (await at().find(createKeyQuery('same', { algorithm: 'ES256', families: ['ecdsa'] })))?.family,
      'ecdsa',
    );
    assert.equal((await at().find(createKeyQuery(undefined, { algorithm: 'RS512' })))?.family, 'rsa');
    assert.equal(await at().find(createKeyQuery('enc')), undefined);
  });

  test('discovery is refused where the issuer does not match', async () => {
    const issuer = publisher.url;
    const discovery = '/.well-known/openid-configuration';
    publisher.pages[discovery] = { issuer: 'https://other.example', jwks_uri: `${issuer}/keys` };
    assert.equal(await sets.forIssuer(issuer).find(createKeyQuery('one')), undefined);
    assert.deepEqual(publisher.asked, [discovery]);
    nowMs += pauseSeconds * 1000;
    publisher.pages[discovery] = { issuer, jwks_uri: `${issuer}/keys` };
    assert.ok(await sets.forIssuer(issuer).find(createKeyQuery('one')));
  });

  test('the list has the keys, the time and the last error of each set, failed ones first, without secrets', async () => {
    const { host } = new URL(publisher.url);
    publisher.pages['/a?token=hidden'] = publisher.pages['/keys'];
    assert.ok(await sets.forUrl(`${publisher.url}/a?token=hidden#hidden`).find(createKeyQuery('one')));
    for (const url of [`${publisher.url}/none?token=hidden`, `http://user:hidden@${host}/user`])
      assert.equal(await sets.forUrl(url).find(createKeyQuery('one')), undefined);
    assert.ok(await at().find(createKeyQuery('one')));
    const list = sets.list();
    assert.ok(!JSON.stringify(list).includes('hidden'), JSON.stringify(list));
    const kind = 'url';
    assert.deepEqual(
      list.map(({ failure, ...rest }) => ({ ...rest, failed: failure !== '' })),
      [
        { kind, source: `${publisher.url}/none`, keys: 0, loadedAtMs: 0, failed: true },
        { kind, source: `${publisher.url}/user`, keys: 0, loadedAtMs: 0, failed: true },
        { kind, source: `${publisher.url}/a`, keys: 1, loadedAtMs: nowMs, failed: false },
        { kind, source: `${publisher.url}/keys`, keys: 1, loadedAtMs: nowMs, failed: false },
      ],
    );
    assert.match(list[0]!.failure, /^http:.*\/none responded with status 503$/);
    const loadedAtMs = nowMs;
    publisher.isUnavailable = true;
    nowMs += ttlSeconds * 1000;
    assert.ok(await at().find(createKeyQuery('one')));
    const stale = sets.list().find(({ source }) => source.endsWith('/keys'))!;
    assert.deepEqual([stale.keys, stale.loadedAtMs, stale.failure !== ''], [1, loadedAtMs, true]);
    publisher.isUnavailable = false;
    nowMs += pauseSeconds * 1000;
    at().find(createKeyQuery('one'));
    await eventually(() => assert.equal(sets.list().find(({ source }) => source.endsWith('/keys'))!.failure, ''));
    sets.invalidate();
    assert.deepEqual(sets.list(), []);
  });

  test('the list is bounded, and the reports of several threads are one per source', async () => {
    const report = { kind: 'url', keys: 2, loadedAtMs: 5, failure: '' } as const;
    const many = Array.from({ length: 150 }, (_, n) => ({ ...report, source: `http://a/${n}` }));
    const failed = { ...report, source: 'http://z', keys: 0, loadedAtMs: 0, failure: 'refused' };
    const merged = mergeKeySetReports([...many, { ...report, source: 'http://z' }, failed]);
    assert.equal(merged.length, 100);
    assert.deepEqual(merged[0], { ...failed, loadedAtMs: 5 });
  });
});
