import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { murmur32, murmur64, murmur128 } from '#base/murmur.ts';
import { hashPassword } from '#base/passwords.ts';
import { type Bench, errorBody, openBench, type Sent } from '../../../tests/support/step-harness.ts';
import type { Api } from '../routing/api.ts';

const rights = { access_rights: { bench: {} } };
const encodeBasic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const missing = errorBody('Authorization field missing');
const unauthorised = errorBody('User not authorised');
const challenge = 'Basic realm="Bench \\"1\\""';
/** As cheap as scrypt gets: these tests are not about its cost. */
const cheap = { N: 2, r: 1, p: 1 };

describe('Basic authentication', () => {
  let bench: Bench;
  let api: Api;
  before(async () => {
    bench = await openBench();
    api = await bench.compile({ use_basic_auth: true });
    await user('ann', await hashPassword('se:cret', cheap), 'scrypt');
  });
  after(() => bench.close());
  const user = (name: string, password: string, hash_type: string) =>
    bench.key({ ...rights, basic_auth_data: { password, hash_type } }, { name, kind: 'basic' });
  const hash = (name: string) => bench.services.keyCache.hashOf(name);

  test('valid credentials authenticate; the user name ends at the first colon', async () => {
    for (const headers of [
      encodeBasic('ann:se:cret'),
      { Authorization: encodeBasic('ann:se:cret').Authorization.replace('Basic', 'basic') },
    ]) {
      const { status, call } = await bench.send(api, { headers });
      assert.equal(status, 0);
      assert.equal(call.authMethod, 'basic');
      assert.match(call.keyId, /ann$/);
    }
  });

  const refusedRows: readonly [what: string, headers: Record<string, string>, status: number, message: string][] = [
    [
      'one word',
      { Authorization: 'abc' },
      400,
      'Attempted access with malformed header, header not in basic auth format',
    ],
    [
      'three words',
      { Authorization: 'Basic a b' },
      400,
      'Attempted access with malformed header, header not in basic auth format',
    ],
    [
      'another scheme',
      { Authorization: 'Bearer abcd' },
      400,
      'Attempted access with malformed header, header not in basic auth format',
    ],
    [
      'no base64',
      { Authorization: 'Basic a!b' },
      400,
      'Attempted access with malformed header, auth data not encoded correctly',
    ],
    [
      'no colon',
      encodeBasic('annsecret'),
      400,
      'Attempted access with malformed header, values not in basic auth format',
    ],
  ];
  for (const [what, headers, status, message] of refusedRows) {
    test(`${what}: ${status}`, async () => {
      const given = await bench.send(api, { headers });
      assert.deepEqual([given.status, given.body, given.events], [status, errorBody(message), []]);
      assert.equal(given.headers.get('www-authenticate'), undefined);
    });
  }

  test('no credentials: 401 with WWW-Authenticate', async () => {
    const { status, body, events, headers } = await bench.send(api);
    assert.deepEqual([status, body, events], [401, missing, []]);
    assert.equal(headers.get('www-authenticate'), challenge);
  });

  test('an unknown user and a wrong password: the same 401, with an event', async () => {
    await bench.key(rights, { name: 'no-password' });
    for (const [name, password] of [
      ['ann', 'wrong'],
      ['ann', ''],
      ['nobody', 'se:cret'],
      ['no-password', ''],
      ['', 'x'],
    ]) {
      const { status, body, events, headers, call } = await bench.send(api, {
        headers: encodeBasic(`${name}:${password}`),
      });
      assert.deepEqual(
        [status, body, events],
        [401, unauthorised, [{ event: 'AuthFailure', message: 'Auth Failure', key: hash(name!) }]],
      );
      assert.equal(headers.get('www-authenticate'), challenge);
      assert.equal(call.session, undefined);
    }
  });

  test('imported password hashes of other gateways verify', async () => {
    const kept: Record<string, string> = {
      '': 'pass',
      sha256: createHash('sha256').update('pass').digest('hex'),
      murmur32: murmur32('pass'),
      murmur64: murmur64('pass'),
      murmur128: murmur128('pass'),
    };
    for (const [type, stored] of Object.entries(kept)) {
      await user(`user-${type}`, stored, type);
      assert.equal((await bench.send(api, { headers: encodeBasic(`user-${type}:pass`) })).status, 0, type);
      assert.equal((await bench.send(api, { headers: encodeBasic(`user-${type}:Pass`) })).status, 401, type);
      assert.equal((await bench.send(api, { headers: encodeBasic(`user-${type}:${stored}x`) })).status, 401, type);
    }
  });

  test('an unknown hash format matches no password', async () => {
    await user('foreign', '$2a$10$abcdefghijklmnopqrstuv', 'bcrypt');
    for (const word of ['', '$2a$10$abcdefghijklmnopqrstuv'])
      assert.equal((await bench.send(api, { headers: encodeBasic(`foreign:${word}`) })).status, 401);
  });

  test('a correct password is cached until it changes', async () => {
    const { call } = await bench.send(api, { headers: encodeBasic('ann:se:cret') });
    const stored = (await bench.keys.getAnywhere(call.keyId))!;
    const password = await hashPassword('new', cheap);
    await bench.keys.change(stored, async key => ({
      key: { ...key, basic_auth_data: { password, hash_type: 'scrypt' } },
      policyIds: [],
    }));
    bench.services.keyCache.invalidate([{ topic: 'keys', id: '' }]);
    assert.equal((await bench.send(api, { headers: encodeBasic('ann:se:cret') })).status, 401);
    assert.equal((await bench.send(api, { headers: encodeBasic('ann:new') })).status, 0);
  });
});

test('wrong passwords are counted for all APIs of a thread together, and 429 has Retry-After', async () => {
  const bench = await openBench({ 'gateway.max_wrong_passwords_per_minute': '2' });
  try {
    const apis: Api[] = [];
    for (const api_id of ['one', 'two']) apis.push(await bench.compile({ api_id, use_basic_auth: true }));
    const guess = async (at: number) => (await bench.send(apis[at]!, { headers: encodeBasic('ann:wrong') })).status;
    assert.deepEqual([await guess(0), await guess(1)], [401, 401]);
    for (const api of apis) {
      const { status, headers, call } = await bench.send(api, { headers: encodeBasic('ann:wrong') });
      assert.deepEqual([status, headers.get('retry-after'), call.session], [429, '60', undefined]);
    }
  } finally {
    await bench.close();
  }
});

describe('Basic authentication from the body', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
    await bench.key(
      { ...rights, basic_auth_data: { password: 'word', hash_type: '' } },
      { name: 'form-user', kind: 'basic' },
    );
  });
  after(() => bench.close());
  const expressions = { body_user_regexp: '<User>(.*?)</User>', body_password_regexp: '<Pass>(.*?)</Pass>' };
  const reading = (more: object = {}) =>
    bench.compile({ use_basic_auth: true, basic_auth: { extract_from_body: true, ...expressions, ...more } });

  test('credentials are read from the body, which is forwarded unchanged', async () => {
    const body = '<User>form-user</User><Pass>word</Pass>';
    const { status, call } = await bench.send(await reading(), { method: 'POST', body });
    assert.equal(status, 0);
    assert.equal(call.body.bytes?.toString(), body);
  });

  test('the header wins over the body', async () => {
    const { status } = await bench.send(await reading(), { headers: encodeBasic('form-user:word'), body: 'nothing' });
    assert.equal(status, 0);
  });

  const rows: readonly [more: object, body: string, message: string][] = [
    [{}, '<Pass>word</Pass>', 'Body do not contain username'],
    [{ body_user_regexp: '<User>.*?</User>' }, '<User>x</User>', 'username should be inside regexp match group'],
    [{}, '<User>form-user</User>', 'Body do not contain password'],
    [
      { body_password_regexp: '<Pass>.*?</Pass>' },
      '<User>form-user</User><Pass>word</Pass>',
      'password should be inside regexp match group',
    ],
  ];
  for (const [more, body, message] of rows) {
    test(message, async () => {
      const sent: Sent = { method: 'POST', body };
      const given = await bench.send(await reading(more), sent);
      assert.deepEqual([given.status, given.body, given.events], [400, errorBody(message), []]);
    });
  }

  test('the API is unavailable without both expressions', async () => {
    assert.match(
      (await reading({ body_user_regexp: '' })).unavailableReason,
      /needs a regular expression for user name and password/,
    );
  });
});
