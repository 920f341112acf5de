import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AddressReach, classifyAddress } from './ssrf-guard.ts';

const table: Record<AddressReach, string[]> = {
  public: [
    '1.1.1.1',
    '93.184.216.34',
    '172.32.0.1',
    '172.15.255.255',
    '100.63.255.255',
    '100.128.0.0',
    '192.167.1.1',
    '2606:4700:4700::1111',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
    '2002:101:101::1',
    '2001:4860:4860::8888',
  ],
  local: [
    '127.0.0.1',
    '127.255.255.254',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '198.18.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:0:10.0.0.1',
    '::127.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b:1::101:101',
    '2002:7f00:1::',
    '2002:c0a8:101::1',
    '2001:0:4136:e378:8000:63bf:80ff:fffe',
    'fc00::1',
    'fd12:3456:789a::1',
    'fec0::1',
    '2001:db8::1',
    '100::1',
  ],
  forbidden: [
    '0.0.0.0',
    '0.1.2.3',
    '::',
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    'ff02::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    '100.100.100.200',
    '168.63.129.16',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::ffff:0:169.254.169.254',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    '2001:0:4136:e378:8000:63bf:5601:5601',
    '::ffff:0.0.0.0',
    '2002::',
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '1.2.3.4.5',
  ],
};

for (const [reach, addresses] of Object.entries(table))
  for (const address of addresses)
    test(`"${address}" is ${reach}`, () => assert.equal(classifyAddress(address).reach, reach));

test('every IPv4 address is classified the same when carried in IPv6', () => {
  fc.assert(
    fc.property(fc.ipV4(), address => {
      const { reach } = classifyAddress(address);
      const hex = address.split('.').map(part => Number(part).toString(16).padStart(2, '0'));
      const groups = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
      for (const carried of [`::ffff:${address}`, `64:ff9b::${address}`, `2002:${groups}::`, `::ffff:${groups}`])
        assert.equal(classifyAddress(carried).reach, reach, carried);
    }),
  );
});
