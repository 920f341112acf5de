import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, type SettingName } from '#base/settings.ts';
import { gatewayUrl } from './api-address.ts';

test('the public URL of a gateway on any free port is that of its open listener', () => {
  const settings = readSettings({ flags: { 'gateway.port': '0', 'gateway.host': '0.0.0.0' } });
  assert.equal(gatewayUrl(settings, 'http://0.0.0.0:41234').href, 'http://127.0.0.1:41234/');
  const fixed = readSettings({ flags: { 'gateway.port': '8088' } });
  assert.equal(gatewayUrl(fixed, 'http://127.0.0.1:41234').href, 'http://127.0.0.1:8088/');
});

const urlWith = (flags: Partial<Record<SettingName, string>>) => gatewayUrl(readSettings({ flags })).href;

test('the public URL of the gateway is the setting, else that of its listener', () => {
  const port = { 'gateway.port': '8088' };
  assert.equal(urlWith({ ...port, 'gateway.url': 'https://api.example/base' }), 'https://api.example/base');
  assert.equal(urlWith({ ...port, 'gateway.host': '192.0.2.7' }), 'http://192.0.2.7:8088/');
  assert.equal(urlWith({ ...port, 'gateway.host': '2001:db8::1' }), 'http://[2001:db8::1]:8088/');
});

test('a gateway that listens on all addresses is reached by loopback', () => {
  for (const host of ['0.0.0.0', '::'])
    assert.equal(urlWith({ 'gateway.host': host, 'gateway.port': '8088' }), 'http://127.0.0.1:8088/');
});
