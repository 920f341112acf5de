import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textFormats } from './formats.ts';
import { compileJsonSchema } from './schema.ts';

const table: Readonly<Record<string, { right: string[]; wrong: string[] }>> = {
  date: { right: ['2024-02-29', '2000-02-29'], wrong: ['2023-02-29', '1900-02-29', '2024-13-01', '2024-1-1', ''] },
  'date-time': {
    right: ['2024-01-01T00:00:00Z', '2024-01-01t23:59:60+00:00', '2024-01-01T00:00:00.123-08:00'],
    wrong: [
      '2024-01-01',
      '2024-01-01T24:00:00Z',
      '2024-01-01T00:00:00',
      '2024-01-01T22:59:60Z',
      '2024-02-30T00:00:00Z',
    ],
  },
  time: { right: ['12:00:00Z', '12:00:00+01:00'], wrong: ['12:00', '12:60:00Z', '12:00:00+25:00'] },
  duration: { right: ['P1D', 'PT1H', 'P1Y2M3DT4H5M6S', 'P2W'], wrong: ['P', 'PT', '1D', 'P1H', 'P1W1D'] },
  email: {
    right: ['a@b.c', '"a b"@b.c', 'a@[127.0.0.1]'],
    wrong: ['a', '@b', 'a@', 'a b@c', '.a@b.c', 'a@-b.c', 'a@[x]'],
  },
  hostname: { right: ['a', 'a-b.c'], wrong: ['', '-a', 'a-', 'a..b', 'a_b', `${'a'.repeat(64)}`] },
  ipv4: { right: ['127.0.0.1'], wrong: ['1.2.3', '256.1.1.1', '01.1.1.1', '::1'] },
  ipv6: { right: ['::1', '2001:db8::1'], wrong: ['1.2.3.4', '::1%eth0', ':::'] },
  uri: { right: ['https://a/b?c#d', 'urn:x:y'], wrong: ['/a', 'a b:c', 'http://a/%zz', '\\\\a'] },
  'uri-reference': { right: ['/a', '', '#a'], wrong: ['\\a', 'a b'] },
  uuid: { right: ['00000000-0000-4000-8000-00000000000a'], wrong: ['00000000000040008000000000000000', 'x'] },
  'json-pointer': { right: ['', '/a~0b/~1'], wrong: ['a', '/~2'] },
  byte: { right: ['', 'YQ==', 'YWJj'], wrong: ['YQ', 'Y=Q=', 'a b='] },
};

for (const [format, { right, wrong }] of Object.entries(table))
  test(`format ${format} accepts valid and rejects invalid text`, () => {
    for (const text of right) assert.ok(textFormats[format]!(text), text);
    for (const text of wrong) assert.ok(!textFormats[format]!(text), text);
  });

test('format checks take linear time', () => {
  const long = ['a', '-', '.', '1', '"', '\\', '{', '~0', 'a-', 'a.', '@', 'P1', ':'].map(part => part.repeat(200_000));
  for (const [name, holds] of Object.entries(textFormats))
    for (const text of long)
      for (const end of ['', '!', '"@a']) assert.equal(typeof holds(text + end), 'boolean', name);
});

test('a text beyond the bound of a format is invalid and does not throw', () => {
  for (const format of Object.keys(textFormats)) {
    const validate = compileJsonSchema({ format });
    for (const piece of ['a', '/', '%41', '{a}', '0', '~0'])
      assert.equal(validate(`/${piece.repeat(9_000_000 / piece.length)}`).length, 1, `${format} of ${piece}`);
  }
  assert.deepEqual(compileJsonSchema({ format: 'byte' })('YWJj'.repeat(2_000_000)), []);
});
