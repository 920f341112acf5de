import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, errorBody, openBench } from '../../../tests/support/step-harness.ts';

describe('IP lists', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  const allowed = { enable_ip_whitelisting: true, allowed_ips: ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1'] };
  const blocked = { enable_ip_blacklisting: true, blacklisted_ips: ['10.1.0.0/16', '2001:db8:bad::/48'] };
  const from = async (definition: object, address: string) => {
    const api = await bench.compile({ use_keyless: true, ...definition });
    const { status, body, events } = await bench.send(api, { peer: { address } });
    return status === 0 ? 'passes' : [status, body, events.flatMap(({ event, message, key }) => [event, message, key])];
  };
  const toRefusal = (address: string) => [
    403,
    errorBody('access from this IP has been disallowed'),
    ['AuthFailure', 'Auth Failure', address],
  ];

  test('an address outside the allow list gets 403 and an event with the address', async () => {
    for (const address of ['10.9.9.9', '192.0.2.7', '2001:db8::5', '::1', '::ffff:10.0.0.1'])
      assert.equal(await from(allowed, address), 'passes', address);
    for (const address of ['192.0.2.8', '11.0.0.1', '2001:db9::1', 'not an address', ''])
      assert.deepEqual(await from(allowed, address), toRefusal(address));
  });

  test('an address on the block list gets 403, also when allowed', async () => {
    for (const address of ['10.1.2.3', '2001:db8:bad::1'])
      for (const lists of [blocked, { ...allowed, ...blocked }])
        assert.deepEqual(await from(lists, address), toRefusal(address));
    assert.equal(await from({ ...allowed, ...blocked }, '10.2.0.1'), 'passes');
    assert.equal(await from(blocked, '192.0.2.8'), 'passes');
  });

  test('a disabled IP list has no effect', async () => {
    assert.equal(await from({ allowed_ips: ['10.0.0.1'], blacklisted_ips: ['192.0.2.8'] }, '192.0.2.8'), 'passes');
    assert.equal(await from({ ...allowed, allowed_ips: [] }, '192.0.2.8'), 'passes');
  });

  test('an open endpoint is open to allowed addresses only', async () => {
    const api = await bench.compile({
      ...allowed,
      version_data: {
        not_versioned: true,
        versions: {
          Default: { name: 'Default', use_extended_paths: true, extended_paths: { ignored: [{ path: '/x' }] } },
        },
      },
    });
    assert.equal((await bench.send(api, { target: '/x', peer: { address: '11.0.0.1' } })).status, 403);
    assert.equal((await bench.send(api, { target: '/x', peer: { address: '10.0.0.1' } })).status, 0);
  });

  test('an invalid IP list keeps the API from being served', async () => {
    const api = await bench.compile({ ...allowed, allowed_ips: ['10.0.0.0/99'] });
    assert.match(api.unavailableReason, /^an IP list is invalid/);
  });
});
