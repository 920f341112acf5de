import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { createZip } from '../../tests/support/zip.ts';
import { isZip, openZip } from './zip.ts';

const bounds = { maxFiles: 10, maxTotalBytes: 1000 };
const refuses = (bytes: Buffer, message: RegExp, code = 'zip.malformed') =>
  assert.throws(() => openZip(bytes, bounds).names.map(name => openZip(bytes, bounds).read(name)), { code, message });

describe('ZIP archives', () => {
  test('stored and deflated files are read, with a comment behind the directory', () => {
    const bytes = createZip([
      { name: 'a.json', content: '{}' },
      { name: 'dir/', content: '' },
      { name: 'dir/b é.yaml', content: 'b: 1', isStored: true },
    ]);
    const commented = Buffer.concat([bytes, Buffer.from('note')]);
    commented.writeUInt16LE(4, bytes.length - 2);
    for (const archive of [bytes, commented]) {
      assert.ok(isZip(archive));
      const { names, read } = openZip(archive, bounds);
      assert.deepEqual(names, ['a.json', 'dir/b é.yaml']);
      assert.deepEqual(
        names.map(name => read(name)?.toString()),
        ['{}', 'b: 1'],
      );
      assert.equal(read('c'), undefined);
    }
    assert.ok(!isZip(Buffer.from('{}')));
  });

  test('a name outside of the root, an unclear one and one that appears twice are refused', () => {
    for (const name of ['../a', '/a', 'a/../../b', 'a\\b', 'c:a', 'a/./b', '__proto__/a', ''])
      refuses(createZip([{ name, content: 'x' }]), /outside of its root/);
    refuses(
      createZip([
        { name: 'a', content: 'x' },
        { name: 'a', content: 'y' },
      ]),
      /holds a twice/,
    );
  });

  test('sizes are bounded by what the directory declares, and by what decompression gives', () => {
    const large = createZip([{ name: 'a', content: 'x'.repeat(1001) }]);
    refuses(large, /holds more than 1000 bytes/, 'zip.too_large');
    const many = Array.from({ length: 11 }, (_, at) => ({ name: `f${at}`, content: '' }));
    refuses(createZip(many), /more than 10 files/);
    refuses(createZip([{ name: 'a', content: 'x'.repeat(5000), declaredBytes: 10 }]), /holds a damaged/);
    refuses(createZip([{ name: 'a', content: 'x', declaredBytes: 900 }]), /holds a damaged/);
  });

  test('overlapping files are refused', () => {
    const bytes = createZip([
      { name: 'a', content: 'x'.repeat(100) },
      { name: 'b', content: 'x'.repeat(100) },
    ]);
    const directoryAt = bytes.readUInt32LE(bytes.length - 6);
    const second = directoryAt + 46 + 1;
    bytes.writeUInt32LE(0, second + 42);
    refuses(bytes, /no content for b/);
  });

  test('encryption, other compressions, several parts and damage are refused', () => {
    const make = () => createZip([{ name: 'a', content: 'content' }]);
    const change = (edit: (bytes: Buffer, directoryAt: number) => void) => {
      const bytes = make();
      edit(bytes, bytes.readUInt32LE(bytes.length - 6));
      return bytes;
    };
    refuses(
      change((bytes, at) => bytes.writeUInt16LE(1, at + 8)),
      /holds a encrypted/,
    );
    refuses(
      change((bytes, at) => bytes.writeUInt16LE(12, at + 10)),
      /unsupported compression/,
    );
    refuses(
      change((bytes, at) => bytes.writeUInt32LE(7, at + 16)),
      /holds a damaged/,
    );
    refuses(
      change(bytes => bytes.writeUInt16LE(1, bytes.length - 18)),
      /one part of several/,
    );
    refuses(
      change((bytes, at) => bytes.writeUInt32LE(0xffffffff, at + 42)),
      /no content for a/,
    );
    refuses(
      change(bytes => bytes.writeUInt32LE(0xffffffff, bytes.length - 6)),
      /ZIP64/,
    );
    refuses(
      change(bytes => bytes.writeUInt32LE(1, 0)),
      /no content for a/,
    );
    for (let length = 22; length < make().length; length++)
      assert.throws(() => openZip(make().subarray(0, length), bounds), { code: 'zip.malformed' });
  });

  test('a random change of any byte is read or refused, and never anything else', () => {
    const bytes = createZip([{ name: 'a', content: deflateRawSync('seed').toString('hex') }]);
    for (let at = 0; at < bytes.length; at++) {
      for (const value of [0, 1, 0x7f, 0xff]) {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        try {
          const { names, read } = openZip(changed, bounds);
          for (const name of names) read(name);
        } catch (error) {
          assert.match((error as { code: string }).code, /^zip\./);
        }
      }
    }
  });
});
