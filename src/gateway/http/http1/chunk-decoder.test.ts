import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ChunkDecoder } from './chunk-decoder.ts';
import type { Http1ParseError } from './parse-error.ts';
import { formatChunkSize, formatFieldLines, formatLastChunk, InvalidHeaderError } from './write-message.ts';

const limits = { maxHeaderBytes: 1000, maxHeaders: 3 };

function decode(text: string, size = text.length) {
  const decoder = new ChunkDecoder(limits);
  let body = '';
  for (let from = 0; from < text.length && !decoder.isDone; from += size) {
    const bytes = Buffer.from(text.slice(from, from + size), 'latin1');
    let at = 0;
    while (at < bytes.length && !decoder.isDone) {
      at = decoder.read(bytes, at);
      body += bytes.toString('latin1', decoder.dataStart, decoder.dataEnd);
    }
    if (decoder.isDone) return { body, trailers: decoder.trailers, rest: text.slice(from + at) };
  }
  return { body, trailers: decoder.trailers, rest: undefined };
}

describe('chunked coding', () => {
  const text =
    '3;a;b=c;d="e\\"; \t\xe9"\r\nabc\r\n00A\r\n0123456789\r\n1;x="y";z\r\n!\r\n0;e=f\r\nX-Sum: 1\r\nY: \r\n\r\nrest';
  for (const size of [1, 2, 3, 5, 1000])
    test(`a body in segments of ${size} bytes is decoded, and its end found`, () => {
      const { body, trailers, rest } = decode(text, size);
      assert.equal(body, 'abc0123456789!');
      assert.deepEqual(trailers, ['X-Sum', '1', 'Y', '']);
      assert.equal(rest, 'rest');
    });

  test('an empty body has no trailers', () => {
    assert.deepEqual(decode('0\r\n\r\n'), { body: '', trailers: [], rest: '' });
  });

  test('nothing is read after the end', () => {
    const decoder = new ChunkDecoder(limits);
    const bytes = Buffer.from('0\r\n\r\nGET');
    assert.equal(decoder.read(bytes, 0), 5);
    assert.equal(decoder.read(bytes, 5), 5);
    assert.deepEqual([decoder.dataStart, decoder.dataEnd], [0, 0]);
    assert.deepEqual(new ChunkDecoder(limits).trailers, []);
  });

  const refused: readonly [name: string, text: string, status?: number][] = [
    ...['\r\n', ' 1\r\n', '1 \r\n', '+1\r\n', '-1\r\n', '0x1\r\n', 'g\r\n', '1\n', '\t1\r\n', '1,\r\n'].map(
      (size): [string, string] => [`a size line ${JSON.stringify(size)}`, `${size}a\r\n0\r\n\r\n`],
    ),
    ['a size beyond all numbers', `${'1'.repeat(14)}\r\n`],
    ['a size line with a bare carriage return', '1\rXa\r\n'],
    ['data longer than its size', '1\r\nab\r\n'],
    ['data that ends in a line feed', '1\r\na\n'],
    ['data that ends in a bare carriage return', '1\r\na\rX'],
    ...[
      ';',
      '; a',
      ';a;',
      ';a=',
      ';a=;',
      ';=b',
      ';a b',
      ';a="b',
      ';a="b"c',
      ';a="\x07"',
      ';a="\\\x07"',
      ';a=b"c"',
      ';a=b=c',
    ].map((extension): [string, string] => [`an extension ${JSON.stringify(extension)}`, `1${extension}\r\na\r\n`]),
    ['endless extensions of one chunk', `1;${'a'.repeat(16_385)}`, 413],
    ['endless extensions of many chunks', '1;abcdefg\r\na\r\n'.repeat(2100), 413],
    ['a trailer without a colon', '0\r\nX\r\n\r\n'],
    ['a trailer that frames the message', '0\r\nContent-Length: 1\r\n\r\n'],
    ['a trailer with a coding', '0\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a trailer with a host', '0\r\nHost: x\r\n\r\n'],
    ['a trailer with a bare line feed', '0\r\nX: 1\n\r\n'],
    ['too many trailers', `0\r\n${'X: 1\r\n'.repeat(4)}\r\n`, 431],
    ['trailers that are too large', `0\r\nX: ${'x'.repeat(1000)}`, 431],
  ];
  for (const [name, coded, status = 400] of refused)
    test(`${name} is refused`, () => {
      for (const size of [coded.length, 1])
        assert.throws(
          () => decode(coded, size),
          (error: Http1ParseError) => error.status === status,
        );
    });
});

describe('HTTP/1.1 message writing', () => {
  test('field lines keep case and order', () => {
    assert.equal(formatFieldLines(['X-B', '1', 'x-a', '', 'C', '\t\xe9']), 'X-B: 1\r\nx-a: \r\nC: \t\xe9\r\n');
  });

  for (const [name, value] of [
    ['', 'x'],
    ['X A', 'x'],
    ['X:', 'x'],
    ['\u0100', 'x'],
    ['X', 'a\r\nb'],
    ['X', 'a\0'],
    ['X', '\u20ac'],
  ] as const)
    test(`the header ${JSON.stringify([name, value])} is not written`, () => {
      assert.throws(() => formatFieldLines([name, value]), InvalidHeaderError);
    });

  test('chunks and trailers decode to what was written', () => {
    const text = `${formatChunkSize(26)}${'a'.repeat(26)}\r\n${formatLastChunk(['X', '1'])}`;
    assert.deepEqual(decode(text), { body: 'a'.repeat(26), trailers: ['X', '1'], rest: '' });
    assert.equal(formatLastChunk(), '0\r\n\r\n');
  });
});
