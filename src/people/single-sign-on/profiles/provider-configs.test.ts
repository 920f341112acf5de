import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProviderUrl } from './provider-configs.ts';

const withLength = (length: number) => 'https://idp.example/'.padEnd(length, 'a');

test('a URL of an identity provider is https, or http on loopback, without credentials and fragment', () => {
  for (const url of [
    'https://idp.example/a?b=c',
    'http://localhost:8080/',
    'http://127.0.0.1/',
    'http://127.9.8.7/',
    'http://[::1]/',
    withLength(2048),
  ])
    assert.ok(isProviderUrl(url), url);
  for (const url of [
    'http://idp.example/',
    'http://127.0.0.1.example/',
    'http://localhost.example/',
    'ftp://localhost/',
    'https://ann@idp.example/',
    'https://:secret@idp.example/',
    'https://idp.example/#a',
    'idp.example',
    '',
    7,
    withLength(2049),
  ])
    assert.ok(!isProviderUrl(url), String(url));
});
