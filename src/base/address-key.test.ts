import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toAddressKey, toSiteKey } from './address-key.ts';

describe('address keys', () => {
  test('addresses of one IPv6 /64 have one key, those of another /64 another one', () => {
    const key = toAddressKey('2001:db8:0:1::1');
    for (const address of ['2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:DB8::1:0:0:0:5', '2001:db8:0:1::2%eth0'])
      assert.equal(toAddressKey(address), key, address);
    assert.notEqual(toAddressKey('2001:db8:0:2::1'), key);
    assert.notEqual(toAddressKey('::1'), key);
  });

  test('a /48 has one site key', () => {
    assert.equal(toSiteKey('2001:db8:5:1::1'), toSiteKey('2001:db8:5:ffff::9'));
    assert.notEqual(toSiteKey('2001:db8:5:1::1'), toSiteKey('2001:db8:6:1::1'));
    assert.notEqual(toSiteKey('2001:db8:5::1'), toAddressKey('2001:db8:5::1'));
  });

  test('an IPv4 address is its own key, also where it is mapped into IPv6', () => {
    for (const toKey of [toAddressKey, toSiteKey])
      for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:c000:207', '0:0:0:0:0:ffff:192.0.2.7'])
        assert.equal(toKey(address), '192.0.2.7', address);
    assert.notEqual(toAddressKey('192.0.2.8'), toAddressKey('192.0.2.7'));
  });

  test('what is no address is its own key', () => {
    for (const text of ['', 'unix:socket', 'a:b', '127.0.0.1:80']) assert.equal(toAddressKey(text), text);
  });

  test('the key of an IPv6 address is its first four groups, in one spelling', () => {
    assert.equal(toAddressKey('192.0.2.1'), '192.0.2.1');
    assert.equal(toAddressKey('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2');
    assert.equal(toAddressKey('2001:0DB8:1:2::9'), toAddressKey('2001:db8:1:2:ffff::1'));
    assert.notEqual(toAddressKey('2001:db8:1:3::9'), toAddressKey('2001:db8:1:2::9'));
    assert.equal(toAddressKey('2001:db8::1'), '2001:db8:0:0');
    assert.equal(toAddressKey('::1'), '0:0:0:0');
    assert.equal(toAddressKey('::2:3:4:5:6:7'), '0:0:2:3');
  });
});
