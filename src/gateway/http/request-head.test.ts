import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readHostHeader } from './request-head.ts';

describe('Host header', () => {
  test('host and port are normalized, also when the header is read again', () => {
    for (let round = 0; round < 2; round++) {
      assert.equal(readHostHeader('API.Example.COM:8080'), 'api.example.com');
      assert.equal(readHostHeader('api.example.com.'), 'api.example.com');
      assert.equal(readHostHeader('[2001:DB8::1]:443'), '[2001:db8::1]');
    }
  });

  test('an invalid header is refused each time', () => {
    for (const header of ['', 'a b', 'a/b', 'user@host', 'a:123456', 'a,b', '[::1', 'caf\xe9'])
      for (let round = 0; round < 2; round++) assert.equal(readHostHeader(header), undefined, header);
  });

  test('more headers than the cache holds are each read as themselves', () => {
    const names = Array.from({ length: 1000 }, (_none, n) => `a${n}b`);
    for (let round = 0; round < 2; round++) for (const name of names) assert.equal(readHostHeader(`${name}:1`), name);
  });
});
