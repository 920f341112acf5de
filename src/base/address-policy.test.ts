import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createAddressPolicy,
  createGuardedLookup,
  networkNames,
  refuseHost,
  refuseWrittenAddress,
} from './address-policy.ts';
import { readSettings } from './settings.ts';

const policyOf = (networks: readonly string[], refused: readonly string[] = []) =>
  createAddressPolicy({ networks, refused, managementPorts: () => [3000], localAddresses: () => ['192.168.1.9'] });

describe('address policy', () => {
  test('unspecified, link-local, multicast and metadata addresses are refused whatever the networks', () => {
    for (const policy of [policyOf(networkNames), policyOf(['169.254.0.0/16', '0.0.0.0/0', '::/0'])])
      for (const address of ['0.0.0.0', '::', '169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', 'fd00:ec2::254'])
        assert.notEqual(policy.refuse(address, 80), undefined, address);
  });

  test('a management port is refused on every address of this machine and on no other', () => {
    const policy = policyOf(networkNames);
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '192.168.1.9', '::ffff:192.168.1.9'])
      assert.equal(policy.refuse(address, 3000), 'a management listener', address);
    assert.equal(policy.refuse('127.0.0.1', 3002), undefined);
    assert.equal(policy.refuse('192.168.1.10', 3000), undefined);
  });

  test('a written address is refused by its literal host; names and other texts are not', () => {
    const policy = policyOf(networkNames);
    for (const text of [
      'http://0.0.0.0',
      ' ws://169.254.1.1/x',
      '[fe80::1]:80',
      '169.254.1.1',
      'tls://[::]:9',
      '127.0.0.1:3000',
    ])
      assert.notEqual(refuseWrittenAddress(policy, text), undefined, text);
    for (const text of [
      'http://a.example',
      '127.0.0.1:3001',
      '/169.254.1.1',
      'gw://169.254.1.1',
      'env://0.0.0.0',
      '',
      'MA==',
    ])
      assert.equal(refuseWrittenAddress(policy, text), undefined, text);
  });

  test('networks by name and by range decide for the rest', () => {
    const table: [networks: string[], allowed: string[], refused: string[]][] = [
      [['public'], ['1.1.1.1', '2606:4700::1'], ['127.0.0.1', '10.0.0.1', '::1', '::ffff:10.0.0.1', 'fd12::1']],
      [['private'], ['10.0.0.1', 'fd12::1', '100.64.0.1'], ['127.0.0.1', '1.1.1.1']],
      [['loopback'], ['127.0.0.1', '::1'], ['10.0.0.1', '1.1.1.1']],
      [['10.1.0.0/16'], ['10.1.2.3', '::ffff:10.1.2.3'], ['10.2.0.1', '64:ff9b::a01:203']],
      [[], [], ['1.1.1.1', '10.0.0.1', '127.0.0.1']],
    ];
    for (const [networks, allowed, refused] of table) {
      const policy = policyOf(networks);
      for (const address of allowed) assert.equal(policy.refuse(address, 80), undefined, `${networks} ${address}`);
      for (const address of refused) assert.notEqual(policy.refuse(address, 80), undefined, `${networks} ${address}`);
    }
  });

  test('policies of different networks have different keys, whatever the order of the networks', () => {
    assert.equal(policyOf(networkNames).key, '');
    assert.equal(policyOf(['public', '10.0.0.0/8']).key, policyOf(['10.0.0.0/8', 'public']).key);
    assert.notEqual(policyOf(['public']).key, policyOf(['private']).key);
    assert.notEqual(policyOf([]).key, '');
  });

  test('addresses of the setting are refused, with and without a port', () => {
    const policy = policyOf(networkNames, ['10.0.0.5:3000', '10.9.0.0/16', 'fd00::/16', '[fd12::5]:80', 'fd13::1']);
    for (const [address, port] of [
      ['10.0.0.5', 3000],
      ['10.9.1.1', 1],
      ['fd00::7', 80],
      ['fd12::5', 80],
      ['fd13::1', 80],
    ] as const)
      assert.equal(policy.refuse(address, port), 'refused by a setting', address);
    assert.equal(policy.refuse('10.0.0.5', 3001), undefined);
    for (const value of ['nonsense', '10.0.0.0/33', '10.0.0.1:70000', '10.0.0.1/', 'http://10.0.0.1'])
      assert.throws(() => readSettings({ flags: { 'outbound.refused_addresses': value } }), /refused_addresses/, value);
  });

  test('a literal address and the names of metadata are refused without a lookup', () => {
    const policy = policyOf(networkNames);
    assert.match(refuseHost(policy, '0.0.0.0', 80)!.message, /unspecified/);
    assert.match(refuseHost(policy, '[::]', 80)!.message, /unspecified/);
    assert.match(refuseHost(policy, 'Metadata.Google.internal.', 80)!.message, /metadata/);
    assert.equal(refuseHost(policy, 'localhost', 3000), undefined);
  });

  test('one refused address refuses the whole answer of the resolver', () => {
    const lookup = createGuardedLookup(policyOf(networkNames), 80, (_host, answer) =>
      answer(null, ['127.0.0.1', '169.254.169.254']),
    );
    lookup('mixed.example', { all: true }, error => assert.equal(error?.code, 'GW_ADDRESS_REFUSED'));
  });
});
