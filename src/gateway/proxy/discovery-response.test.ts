import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type DiscoveryRules, InvalidDiscoveryResponse, maxDiscoveredHosts, parseHosts } from './discovery-response.ts';

const plain: DiscoveryRules = {
  enabled: true,
  queryEndpoint: 'http://registry.example/',
  dataPath: '',
  useNestedQuery: false,
  parentDataPath: '',
  portDataPath: '',
  useTargetList: false,
  targetPath: '',
  endpointReturnsList: false,
  cacheEnabled: false,
  cacheSeconds: 0,
};

interface Case {
  readonly reply: unknown;
  readonly rules: Partial<DiscoveryRules>;
  readonly hosts: readonly string[];
}

const text = JSON.stringify;
const listed = { endpointReturnsList: true, useTargetList: true };
const nested = { useNestedQuery: true, parentDataPath: 'node.value', dataPath: 'hostname', portDataPath: 'port' };

const cases: Record<string, Case> = {
  'a list of hosts and ports': {
    reply: [
      { Address: '10.1.10.12', ServicePort: 8000 },
      { Address: '10.1.10.13', ServicePort: 8000 },
    ],
    rules: { ...listed, dataPath: 'Address', portDataPath: 'ServicePort' },
    hosts: ['10.1.10.12:8000', '10.1.10.13:8000'],
  },
  'one value': {
    reply: { node: { value: 'svc.example:6000' } },
    rules: { dataPath: 'node.value' },
    hosts: ['svc.example:6000'],
  },
  'an object inside a text': {
    reply: { node: { value: text({ hostname: 'svc.example', port: '80' }) } },
    rules: nested,
    hosts: ['svc.example:80'],
  },
  'a list inside a text': {
    reply: {
      node: {
        value: text([
          { hostname: 'a.example', port: 1 },
          { hostname: 'b.example', port: 2 },
        ]),
      },
    },
    rules: { ...nested, useTargetList: true },
    hosts: ['a.example:1', 'b.example:2'],
  },
  'a list inside a text, of which one is wanted': {
    reply: {
      node: {
        value: text([
          { hostname: 'a.example', port: 1 },
          { hostname: 'b.example', port: 2 },
        ]),
      },
    },
    rules: nested,
    hosts: ['a.example:1'],
  },
  'a list of texts': {
    reply: [{ Data: text({ hostname: 'a.example', port: 1 }) }, { Data: text({ hostname: 'b.example', port: 2 }) }],
    rules: { ...listed, ...nested, parentDataPath: 'Data' },
    hosts: ['a.example:1', 'b.example:2'],
  },
  'an object with a list, and ports that are lists': {
    reply: { tasks: [{ host: 'svc.example', ports: [80, 81] }] },
    rules: { useTargetList: true, parentDataPath: 'tasks', dataPath: 'host', portDataPath: 'ports' },
    hosts: ['svc.example:80'],
  },
  'a list deep inside': {
    reply: { application: { instance: [{ hostName: 'h1', port: { $: '60565' } }] } },
    rules: {
      useTargetList: true,
      parentDataPath: 'application.instance',
      dataPath: 'hostName',
      portDataPath: 'port.$',
    },
    hosts: ['h1:60565'],
  },
  'a path behind each host': {
    reply: { host: 'a.example' },
    rules: { dataPath: 'host', targetPath: 'v1/x' },
    hosts: ['a.example/v1/x'],
  },
  'a list of bare texts': {
    reply: ['a.example:1', 'b.example:2'],
    rules: listed,
    hosts: ['a.example:1', 'b.example:2'],
  },
  'an address of version 6': {
    reply: { host: 'fd00::1', port: 80 },
    rules: { dataPath: 'host', portDataPath: 'port' },
    hosts: ['[fd00::1]:80'],
  },
  'items without a host, or with an impossible port, are passed over': {
    reply: [
      { host: 1 },
      { port: 1 },
      { host: 'a', port: 70_000 },
      { host: 'b', port: 'x' },
      { host: 'c', port: 0 },
      { host: 'd' },
      null,
    ],
    rules: { ...listed, dataPath: 'host', portDataPath: 'port' },
    hosts: ['d'],
  },
  'members of everything are not hosts': { reply: {}, rules: { dataPath: 'constructor.name' }, hosts: [] },
};

describe('service discovery responses', () => {
  for (const [name, { reply, rules, hosts }] of Object.entries(cases))
    test(name, () => assert.deepEqual(parseHosts(text(reply), { ...plain, ...rules }), hosts));

  const unreadable: Record<string, [string, Partial<DiscoveryRules>]> = {
    'what is not JSON': ['<html>', {}],
    'an object in place of a list': ['{}', listed],
    'no list where one should be': ['{"a":1}', { useTargetList: true, parentDataPath: 'a' }],
    'no text where one should be': ['{"a":{}}', { useNestedQuery: true, parentDataPath: 'a' }],
    'a text that is not JSON': ['{"a":"{"}', { useNestedQuery: true, parentDataPath: 'a' }],
  };
  for (const [name, [reply, rules]] of Object.entries(unreadable))
    test(`an invalid response is rejected: ${name}`, () => {
      assert.throws(() => parseHosts(reply, { ...plain, ...rules }), InvalidDiscoveryResponse);
    });

  test('deep nesting is cheap, and lists are truncated', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    assert.deepEqual(parseHosts(deep, { ...plain, ...listed, dataPath: '0.0.0' }), []);
    const long = text(Array.from({ length: maxDiscoveredHosts + 5 }, () => 'a.example'));
    assert.equal(parseHosts(long, { ...plain, ...listed }).length, maxDiscoveredHosts);
  });
});
