import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findUsualName, hashNameByte, toLowerName } from './header-names.ts';

function find(name: string): string | undefined {
  const bytes = Buffer.from(`..${name}..`, 'latin1');
  return findUsualName(bytes, 2, bytes.length - 2, Buffer.from(name, 'latin1').reduce(hashNameByte, 0));
}

describe('usual header names', () => {
  for (const name of [
    'Content-Type',
    'content-type',
    'ETag',
    'Etag',
    'etag',
    'TE',
    'Te',
    'X-Real-IP',
    'X-Real-Ip',
    'Host',
  ])
    test(`${name} is found in its spelling, and has its lower-case name`, () => {
      assert.equal(find(name), name);
      assert.equal(toLowerName(name), name.toLowerCase());
    });

  for (const name of ['CONTENT-TYPE', 'content-typ', 'content-type1', 'x-unusual', '', 'host_', 'H'])
    test(`"${name}" is unusual, and has its lower-case name`, () => {
      assert.equal(find(name), undefined);
      assert.equal(toLowerName(name), name.toLowerCase());
    });
});
