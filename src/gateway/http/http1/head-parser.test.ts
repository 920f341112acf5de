import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectionClose, connectionKeepAlive, connectionUpgrade } from './field-block.ts';
import { isPersistent, readRequestFraming, readResponseFraming } from './framing.ts';
import { HeadParser } from './head-parser.ts';
import type { Http1ParseError } from './parse-error.ts';

const limits = { maxHeaderBytes: 20_000, maxHeaders: 5 };
const bytesOf = (text: string) => Buffer.from(text, 'latin1');

/** Parses a head in segments of `size` bytes; returns what was left of the last one. */
function parse(kind: 'request' | 'response', text: string, size = text.length) {
  const parser = new HeadParser(kind, limits);
  for (let at = 0; at < text.length; at += size) {
    const bytes = bytesOf(text.slice(at, at + size));
    const end = parser.parse(bytes, 0);
    if (end >= 0) return { parser, rest: bytes.subarray(end).toString('latin1') + text.slice(at + size) };
  }
  return { parser, rest: undefined };
}

function refusal(kind: 'request' | 'response', text: string, size?: number): { status: number; fault: string } {
  try {
    const { parser, rest } = parse(kind, text, size);
    if (rest !== undefined) (kind === 'request' ? readRequestFraming : readResponseFraming)(parser, 'GET');
  } catch (error) {
    return { status: (error as Http1ParseError).status, fault: (error as Error).message };
  }
  return { status: 0, fault: '' };
}

describe('HTTP/1.1 request head', () => {
  const head = '\r\n\r\nPOST /a?b HTTP/1.1\r\nHost: x\r\nX-Odd:\t caf\xe9 \t\r\ncontent-length: 007\r\nX:\r\n\r\n';
  for (const size of [1, 2, 3, 7, 1000])
    test(`a head in segments of ${size} bytes is one head`, () => {
      const { parser, rest } = parse('request', `${head}body`, size);
      assert.deepEqual([parser.method, parser.target, parser.minorVersion], ['POST', '/a?b', 1]);
      assert.deepEqual(parser.fields.flat, ['Host', 'x', 'X-Odd', 'caf\xe9', 'content-length', '007', 'X', '']);
      assert.equal(parser.fields.contentLength, 7);
      assert.equal(readRequestFraming(parser), 'length');
      assert.equal(rest, 'body');
    });

  test('a head in whole lines, and in lines with the beginning of the next one, is one head', () => {
    for (const parts of [
      ['GET / HTTP/1.1\r\n', 'Host: x\r\n', 'X: y\r\n', '\r\n'],
      ['GET /', ' HTTP/1.1\r\nHost: x\r\nX: y\r\n\r\n'],
      ['GET / HTTP/1', '.1\r\nHost: x\r\nX: y\r\n\r\n'],
      ['\r\n', 'GET / HTTP/1.1\r\nHo', 'st: x\r\nX', ': y\r\n\r', '\n'],
    ]) {
      const parser = new HeadParser('request', limits);
      const ends = parts.map(part => parser.parse(bytesOf(part), 0));
      assert.deepEqual(ends, [...parts.slice(1).map(() => -1), parts.at(-1)!.length]);
      assert.deepEqual(parser.fields.flat, ['Host', 'x', 'X', 'y']);
    }
  });

  test('a head of exactly the maximum size is accepted, one byte more is refused, in any segments', () => {
    const empty = 'GET / HTTP/1.1\r\nHost: x\r\nA: \r\n\r\n';
    const fill = (length: number) => empty.replace('A: ', `A: ${'a'.repeat(length - empty.length)}`);
    for (const size of [limits.maxHeaderBytes + 1, limits.maxHeaderBytes - 1, 4096, 1]) {
      assert.equal(parse('request', fill(limits.maxHeaderBytes), size).rest, '', `segments of ${size}`);
      assert.equal(refusal('request', fill(limits.maxHeaderBytes + 1), size).status, 431, `segments of ${size}`);
    }
  });

  test('a head longer than the first slice is parsed, also in segments', () => {
    const long = `GET / HTTP/1.1\r\nA: ${'a'.repeat(9000)}\r\nB: ${'b'.repeat(5000)}\r\n\r\n`;
    for (const size of [long.length, 4096, 5000, 9020]) {
      const { parser, rest } = parse('request', `${long}rest`, size);
      assert.equal(parser.fields.flat[1]!.length + parser.fields.flat[3]!.length, 14_000);
      assert.equal(rest, 'rest');
    }
  });

  test('a head whose last line exceeds the limit is refused when it is complete', () => {
    const parser = new HeadParser('request', limits);
    assert.equal(parser.parse(bytesOf(`GET / HTTP/1.1\r\nA: ${'a'.repeat(15_000)}\r\n`), 0), -1);
    const last = bytesOf(`B: ${'b'.repeat(5000)}\r\n\r\n`);
    assert.throws(
      () => parser.parse(last, 0),
      (error: Http1ParseError) => error.status === 431,
    );
  });

  test('a parser is reset between the heads of a connection', () => {
    const parser = new HeadParser('request', limits);
    const bytes = bytesOf('GET /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\nGET /2 HTTP/1.0\r\nHost: y\r\n\r\n');
    const end = parser.parse(bytes, 0);
    const first = parser.fields.flat;
    assert.equal(parser.hasBegun, true);
    parser.reset();
    assert.equal(parser.hasBegun, false);
    assert.equal(parser.parse(bytes, end), bytes.length);
    assert.deepEqual([parser.target, parser.minorVersion, parser.fields.contentLength], ['/2', 0, -1]);
    assert.deepEqual(first, ['Host', 'x', 'Content-Length', '0']);
  });

  test('fields of the connection are read, joined where they are repeated', () => {
    const { parser } = parse(
      'request',
      'GET / HTTP/1.1\r\nConnection: X, UPGRADE\r\nUpgrade: a\r\nupgrade: b\r\nConnection: keep-alive\r\nTE: trailers\r\n\r\n',
    );
    assert.equal(parser.fields.connection, connectionUpgrade | connectionKeepAlive);
    assert.equal(parser.fields.upgrade, 'a, b');
    assert.equal(parser.fields.te, 'trailers');
    const other = parse('request', 'GET / HTTP/1.1\r\nExpect: 100-continue\r\nKeep-Alive: timeout=5\r\n\r\n').parser;
    assert.deepEqual([other.fields.expect, other.fields.keepAlive], ['100-continue', 'timeout=5']);
  });

  const persistence: readonly [version: string, connection: string, isKept: boolean][] = [
    ['1.1', 'x', true],
    ['1.1', 'close', false],
    ['1.1', 'Keep-Alive, Close', false],
    ['1.0', 'x', false],
    ['1.0', 'keep-alive', true],
    ['1.0', 'keep-alive, close', false],
  ];
  for (const [version, connection, isKept] of persistence)
    test(`HTTP/${version} with Connection: ${connection} ${isKept ? 'keeps' : 'closes'} the connection`, () => {
      const { parser } = parse('request', `GET / HTTP/${version}\r\nConnection: ${connection}\r\n\r\n`);
      assert.equal(isPersistent(parser), isKept);
      assert.equal((parser.fields.connection & connectionClose) !== 0, /close/i.test(connection));
    });

  test('a chunked body is framed by its chunks, no length by nothing', () => {
    const framing = (text: string) => readRequestFraming(parse('request', `POST / HTTP/1.1\r\n${text}\r\n`).parser);
    assert.equal(framing('Transfer-Encoding: Chunked\r\n'), 'chunked');
    assert.equal(framing('Content-Length: 0\r\n'), 'none');
    assert.equal(framing(''), 'none');
  });

  test('CONNECT and the asterisk and absolute forms are request targets', () => {
    for (const line of ['CONNECT a:1', 'OPTIONS *', 'GET http://x/a']) {
      const { parser } = parse('request', `${line} HTTP/1.1\r\n\r\n`);
      assert.equal(`${parser.method} ${parser.target}`, line);
    }
  });

  const refused: readonly [name: string, text: string, status?: number][] = [
    ['an unknown method', 'BREW / HTTP/1.1\r\n\r\n'],
    ['a method in small letters', 'get / HTTP/1.1\r\n\r\n'],
    ['a method that is too long', 'A'.repeat(12)],
    ['a tab after the method', 'GET\t/ HTTP/1.1\r\n\r\n'],
    ['two spaces after the method', 'GET  / HTTP/1.1\r\n\r\n'],
    ['a bare carriage return first', '\rGET / HTTP/1.1\r\n\r\n'],
    ['a bare line feed first', '\nGET / HTTP/1.1\r\n\r\n'],
    ['a TLS ClientHello', '\x16\x03\x01\x02\x00'],
    ['no target', 'GET HTTP/1.1\r\n\r\n'],
    ['a target with a control byte', 'GET /\x7f HTTP/1.1\r\n\r\n'],
    ['HTTP/0.9', 'GET /\r\n\r\n', 505],
    ['HTTP/1.2', 'GET / HTTP/1.2\r\n\r\n', 505],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a short version that never ends', 'GET / HTTX'],
    ['a space after the version', 'GET / HTTP/1.1 \r\n\r\n', 505],
    ['a request line that ends in a line feed', 'GET / HTTP/1.1\nHost: x\r\n\r\n', 505],
    ['a folded line', 'GET / HTTP/1.1\r\nA: 1\r\n 2\r\n\r\n'],
    ['no name', 'GET / HTTP/1.1\r\n: 1\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nA : 1\r\n\r\n'],
    ['no colon', 'GET / HTTP/1.1\r\nA\r\n\r\n'],
    ['a value with a zero byte', 'GET / HTTP/1.1\r\nA: \0\r\n\r\n'],
    ['a value with a bare line feed', 'GET / HTTP/1.1\r\nA: 1\n\r\n'],
    ['a value with a bare carriage return', 'GET / HTTP/1.1\r\nA: 1\r2\r\n\r\n'],
    ['an empty line with a bare carriage return', 'GET / HTTP/1.1\r\n\rA'],
    ['an empty line with a bare line feed', 'GET / HTTP/1.1\r\n\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n'],
    ['two lengths', 'GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n'],
    ['two codings', 'GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['a coding with a tab behind it', 'GET / HTTP/1.1\r\nTransfer-Encoding: chunked\t\r\n\r\n', 501],
    ['another coding', 'GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n', 501],
    ['a coding and a length', 'GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n'],
    ['a coding in HTTP/1.0', 'GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ...['', '+1', '-1', '1,1', '1 1', '0x1', '1e1', '1234567890123456']
      .map(length => [`a length of "${length}"`, `GET / HTTP/1.1\r\nContent-Length: ${length}\r\n\r\n`] as const)
      .map(([name, text]): [string, string] => [name, text]),
    ['six headers', `GET / HTTP/1.1\r\n${'A: 1\r\n'.repeat(6)}\r\n`, 431],
    ['a line that is too long', `GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}`, 431],
    ['a head that is too long', `GET / HTTP/1.1\r\nA: ${'a'.repeat(10_000)}\r\nB: ${'b'.repeat(10_000)}\r\n\r\n`, 431],
    ['empty lines without end', '\r\n'.repeat(10_001), 431],
  ];
  for (const [name, text, status = 400] of refused) {
    test(`${name} is refused`, () => {
      const found = refusal('request', text);
      assert.equal(found.status, status, found.fault);
    });
    test(`${name} is refused byte by byte`, () => {
      const { status: found, fault } = refusal('request', `${text}\n`, 1);
      assert.ok(found === status || (found >= 400 && text.length < 20), fault);
    });
  }
});

describe('texts of refused HTTP/1.1 requests', () => {
  const texts: readonly [lines: string, text: string][] = [
    ['BREW / HTTP/1.1', 'the method is not supported'],
    ['LONG-METHOD-NAME / HTTP/1.1', 'the method is not supported'],
    ['G(T / HTTP/1.1', 'the method is not a token'],
    ['GET x HTTP/1.1', 'the request target is invalid'],
    ['GET / HTTP/1.1\r\nA B: 1', 'a header name is invalid'],
    ['GET / HTTP/1.1\r\nA: \x01', 'a header value contains a control character'],
    ['GET / HTTP/1.1\r\nHost: x\r\nHost: x', 'the Host header is repeated'],
    ['GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1', 'the Content-Length header is repeated'],
    ['GET / HTTP/1.1\r\nContent-Length: +1', 'the Content-Length is not a number'],
    [
      'GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked',
      'the head has both Content-Length and Transfer-Encoding',
    ],
    [`GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}`, 'the request head is too large'],
  ];
  for (const [lines, text] of texts) {
    test(`${JSON.stringify(lines.slice(0, 60))} gets "${text}"`, () => {
      assert.equal(refusal('request', `${lines}\r\n\r\n`).fault, text);
    });
  }
});

describe('HTTP/1.1 response head', () => {
  test('a head is accepted up to the size limit, and refused beyond it', () => {
    const fill = (bytes: number) => `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(bytes - 24)}\r\n\r\n`;
    for (const size of [limits.maxHeaderBytes + 1, 4096, 1]) {
      assert.equal(parse('response', fill(limits.maxHeaderBytes), size).rest, '', `segments of ${size}`);
      const { fault } = refusal('response', fill(limits.maxHeaderBytes + 1), size);
      assert.equal(fault, 'the response head is too large', `segments of ${size}`);
    }
  });

  test('a head in segments is one head', () => {
    const text = 'HTTP/1.1 404 Not \xe9\r\nContent-Length: 0\r\nHost: a\r\nHost: b\r\n\r\nHTTP';
    for (const size of [1, 5, 1000]) {
      const { parser, rest } = parse('response', text, size);
      assert.deepEqual([parser.status, parser.minorVersion], [404, 1]);
      assert.deepEqual(parser.fields.flat, ['Content-Length', '0', 'Host', 'a', 'Host', 'b']);
      assert.equal(rest, 'HTTP');
    }
  });

  test('a reason phrase may be absent', () => {
    assert.equal(parse('response', 'HTTP/1.0 200\r\n\r\n').parser.status, 200);
    assert.equal(parse('response', 'HTTP/1.0 200 \r\n\r\n').parser.minorVersion, 0);
  });

  const framings: readonly [head: string, method: string, framing: string][] = [
    ['200 OK\r\nContent-Length: 5', 'GET', 'length'],
    ['200 OK\r\nContent-Length: 5', 'HEAD', 'none'],
    ['200 OK\r\nContent-Length: 0', 'GET', 'none'],
    ['200 OK\r\nTransfer-Encoding: chunked', 'GET', 'chunked'],
    ['200 OK\r\nX: y', 'GET', 'close'],
    ['204 No\r\nContent-Length: 5', 'GET', 'none'],
    ['304 No\r\nTransfer-Encoding: chunked', 'GET', 'none'],
    ['103 Early\r\nX: y', 'GET', 'none'],
  ];
  for (const [head, method, framing] of framings)
    test(`the body of ${JSON.stringify(head)} to ${method} is framed by ${framing}`, () => {
      assert.equal(readResponseFraming(parse('response', `HTTP/1.1 ${head}\r\n\r\n`).parser, method), framing);
    });

  const refused = [
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1 2000 OK\r\n\r\n',
    'HTTP/1.1 099 OK\r\n\r\n',
    'HTTP/1.1  200 OK\r\n\r\n',
    'HTTP/1.1 200 O\0K\r\n\r\n',
    'HTTP/1.1 200 O\rK\r\n\r\n',
    'HTTP/1.1 200 OK\n\r\n',
    'HTTP/1.1 +20 OK\r\n\r\n',
    'HTTP/1.2 200 OK\r\n\r\n',
    'HTTP/2.0 200 OK\r\n\r\n',
    'HTTP/2.0',
    '\r\nHTTP/1.1 200 OK\r\n\r\n',
    'ICY 200 OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n',
  ];
  for (const text of refused)
    test(`${JSON.stringify(text)} is refused`, () => {
      assert.equal(refusal('response', text).status, 400);
      assert.equal(refusal('response', `${text}\n`, 1).status, 400);
    });
});
