import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import { writeZip } from '#base/zip-writer.ts';
import { readBundle } from './manifest.ts';

const source = Buffer.from('var mw = 1;');
const pre = { driver: 'javascript', pre: [{ name: 'mw', path: 'mw.js' }] };
const sha256 = createHash('sha256').update(source).digest('hex');

function pack(manifest: unknown, files: Record<string, Buffer> = { 'mw.js': source }): Buffer {
  return writeZip(new Map([['manifest.json', Buffer.from(JSON.stringify(manifest))], ...Object.entries(files)]));
}

const valid = { file_list: ['mw.js'], custom_middleware: pre, checksum: sha256 };
const signWith = (key: KeyObject, digest: string | null = 'sha256') => sign(digest, source, key).toString('base64');

describe('plugin bundles', () => {
  test('a checksum is SHA-256 or MD5, over the listed files in order', () => {
    const { plugins, driver, files } = readBundle(pack(valid, { 'mw.js': source, 'other.js': source }), undefined);
    assert.deepEqual(
      [plugins.pre.map(({ path }) => path), driver, [...files.keys()]],
      [['mw.js'], 'javascript', ['mw.js']],
    );
    const md5 = createHash('md5').update(source).digest('hex');
    assert.equal(readBundle(pack({ ...valid, checksum: md5 }), undefined).driver, 'javascript');
    const lists = { 'a.js': Buffer.from('a'), 'b.js': Buffer.from('b') };
    const ordered = createHash('sha256').update('ba').digest('hex');
    const both = { file_list: ['b.js', 'a.js'], custom_middleware: { driver: 'grpc' }, checksum: ordered };
    assert.equal(readBundle(pack(both, lists), undefined).files.size, 2);
  });

  test('a signature is required where a key is set, by RSA, ECDSA or Ed25519', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const ed = generateKeyPairSync('ed25519');
    assert.ok(readBundle(pack({ ...valid, signature: signWith(privateKey) }), publicKey));
    assert.ok(readBundle(pack({ ...valid, signature: signWith(ec.privateKey) }), ec.publicKey));
    assert.ok(readBundle(pack({ ...valid, signature: signWith(ed.privateKey, null) }), ed.publicKey));
    assert.throws(() => readBundle(pack(valid), publicKey), /not signed/);
    const inline = {
      ...pre,
      pre: [{ name: 'mw', path: 'mw.js', code: Buffer.from('var mw = 2;').toString('base64') }],
    };
    const withCode = { ...valid, custom_middleware: inline, signature: signWith(privateKey) };
    assert.throws(() => readBundle(pack(withCode), publicKey), /code in the manifest is not signed/);
    for (const signature of [signWith(ec.privateKey), 'AAAA'])
      assert.throws(() => readBundle(pack({ ...valid, signature }), publicKey), /signature of the bundle is not valid/);
  });

  test('a bundle with a fault is refused with the reason', () => {
    const hook = (path: string) => ({ ...valid, custom_middleware: { ...pre, pre: [{ name: 'mw', path }] } });
    for (const [bundle, reason] of [
      [pack({ ...valid, checksum: '0'.repeat(64) }), /checksum of the bundle does not match/],
      [pack({ ...valid, checksum: '' }), /neither SHA-256 nor MD5/],
      [pack({ ...valid, file_list: ['absent.js'] }), /no file "absent\.js"/],
      [pack({ ...valid, file_list: [{}] }), /no file \{\}/],
      [pack({ ...valid, file_list: ['mw.js', 'mw.js'] }), /names "mw\.js" twice/],
      [pack({ ...valid, file_list: Array(501).fill('mw.js') }), /more than 500 files/],
      [pack({ ...valid, file_list: 'mw.js' }), /file_list of the bundle must be an array/],
      [pack({ ...valid, custom_middleware: undefined }), /no custom_middleware/],
      [pack({ ...valid, custom_middleware: { ...pre, traffic_logs: {} } }), /traffic_logs of the bundle has no name/],
      [
        pack({ ...valid, custom_middleware: { ...pre, traffic_logs: { name: 'f', path: 'absent.js' } } }),
        /absent\.js is not in the file_list/,
      ],
      [pack(hook('../mw.js')), /\.\.\/mw\.js is not in the file_list/],
      [pack(hook('/etc/passwd')), /is not in the file_list/],
      [pack([]), /is not an object/],
      [writeZip(new Map([['mw.js', source]])), /no manifest\.json/],
      [writeZip(new Map([['manifest.json', Buffer.from('{')]])), /is not JSON/],
      [writeZip(new Map([['../mw.js', source]])), /outside of its root/],
      [Buffer.from('no archive'), /truncated/],
    ] as const)
      assert.throws(() => readBundle(bundle, undefined), reason);
  });
});
