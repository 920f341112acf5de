import { type Case, holds, onGround, post } from './ground.ts';

/** Message framing is unambiguous (RFC 9112, 6): a second reading of the length would smuggle a request. */
const smuggled = 'GET /h/smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
const chunked = 'Transfer-Encoding: chunked';
const empty = '0\r\n\r\n';
const afterBody = (headers: readonly string[], body: string) => post(headers, body) + smuggled;

const lengths: readonly Case[] = [
  ['a length and a coding', [`Content-Length: 5`, chunked], empty, 400],
  ['a coding and a length', [chunked, 'Content-Length: 5'], empty, 400],
  ['two lengths that agree', ['Content-Length: 5', 'Content-Length: 5'], 'hello', 400],
  ['two lengths that disagree', ['Content-Length: 5', 'Content-Length: 50'], 'hello', 400],
  ['two lengths in one line', ['Content-Length: 5, 5'], 'hello', 400],
  ['a length with a plus', ['Content-Length: +5'], 'hello', 400],
  ['a length below zero', ['Content-Length: -5'], 'hello', 400],
  ['a length in base sixteen', ['Content-Length: 0x5'], 'hello', 400],
  ['a length with a full stop', ['Content-Length: 5.0'], 'hello', 400],
  ['a length with an exponent', ['Content-Length: 5e0'], 'hello', 400],
  ['an empty length', ['Content-Length:'], 'hello', 400],
  ['a length of two words', ['Content-Length: 5 5'], 'hello', 400],
  ['a length with an underscore', ['Content-Length: 1_0'], 'hello', 400],
  ['a length in other digits', ['Content-Length: \xd9\xa5'], 'hello', 400],
  ['a length in quotes', ['Content-Length: "5"'], 'hello', 400],
  ['a length beyond all numbers', ['Content-Length: 99999999999999999999999999'], 'hello', 400],
  ['a length beyond what can be counted', ['Content-Length: 9007199254740993'], 'hello', 400],
  ['a length after a vertical tab', ['Content-Length: \x0b5'], 'hello', 400],
  ['a length after a form feed', ['Content-Length: \x0c5'], 'hello', 400],
  ['a length with a zero byte', ['Content-Length: 5\0'], 'hello', 400],
  ['a length with a space before the colon', ['Content-Length : 5'], 'hello', 400],
  ['a length with a tab before the colon', ['Content-Length\t: 5'], 'hello', 400],
  ['a length folded onto the next line', ['Content-Length:', ' 5'], 'hello', 400],
].map(([name, headers, body, refused]) => ({
  name: `refused: ${name}`,
  bytes: afterBody(headers as string[], body as string),
  refused: refused as number,
}));

const codings: readonly Case[] = [
  ['identity', ['Transfer-Encoding: identity'], ''],
  ['gzip', ['Transfer-Encoding: gzip'], ''],
  ['gzip, then chunked', ['Transfer-Encoding: gzip, chunked'], empty],
  ['chunked, then gzip', ['Transfer-Encoding: chunked, gzip'], empty],
  ['chunked twice', ['Transfer-Encoding: chunked, chunked'], empty],
  ['chunked in two lines', [chunked, chunked], empty],
  ['chunked and identity in two lines', [chunked, 'Transfer-Encoding: identity'], empty],
  ['identity and chunked in two lines', ['Transfer-Encoding: identity', chunked], empty],
  ['chunked after a comma', ['Transfer-Encoding: , chunked'], empty],
  ['chunked before a comma', ['Transfer-Encoding: chunked,'], empty],
  ['a word that ends in chunked', ['Transfer-Encoding: xchunked'], empty],
  ['a word that begins with chunked', ['Transfer-Encoding: chunkedx'], empty],
  ['chunked in quotes', ['Transfer-Encoding: "chunked"'], empty],
  ['chunked with a parameter', ['Transfer-Encoding: chunked;q=1'], empty],
  ['chunked after a vertical tab', ['Transfer-Encoding: \x0bchunked'], empty],
  ['chunked before a zero byte', ['Transfer-Encoding: chunked\0'], empty],
  ['chunked with a space before the colon', ['Transfer-Encoding : chunked'], empty],
  ['chunked folded onto the next line', ['Transfer-Encoding:', ' chunked'], empty],
  ['an empty coding', ['Transfer-Encoding:'], ''],
  ['chunked behind a line that breaks off', ['X: y\nTransfer-Encoding: chunked'], empty],
].map(([name, headers, body]) => ({
  name: `refused: a coding of ${name}`,
  bytes: afterBody(headers as string[], body as string),
  refused: [400, 501],
}));

const chunks: readonly Case[] = [
  ['a size in base ten with a sign', '+3\r\nabc\r\n'],
  ['a size below zero', '-3\r\nabc\r\n'],
  ['a size with 0x', '0x3\r\nabc\r\n'],
  ['a size after a space', ' 3\r\nabc\r\n'],
  ['a size before a space', '3 \r\nabc\r\n'],
  ['a size that is no number', 'g\r\nabc\r\n'],
  ['an empty size', '\r\nabc\r\n'],
  ['a size beyond all numbers', 'fffffffffffffffff\r\nabc\r\n'],
  ['a size whose line ends too early', '3\nabc\r\n'],
  ['data whose line ends too early', '3\r\nabc\n'],
  ['data longer than its size', '3\r\nabcdef\r\n'],
  ['data shorter than its size', '5\r\nabc\r\n0\r\n\r\n'],
  ['an extension with a line break', '3;a\nb\r\nabc\r\n'],
  ['an extension with a return', '3;a\rb\r\nabc\r\n'],
  ['an extension that never ends', `3;${'a'.repeat(100_000)}\r\nabc\r\n`],
  ['an end whose line ends too early', '3\r\nabc\r\n0\n\n'],
  ['a trailer that is no header', '3\r\nabc\r\n0\r\nno header\r\n\r\n'],
  ['a trailer with a length', '3\r\nabc\r\n0\r\nContent-Length: 5\r\n\r\n'],
].map(([name, body]) => ({
  name: `refused: chunks with ${name}`,
  bytes: post([chunked], body!) + smuggled,
  refused: [400, 413],
}));

const fine: readonly Case[] = [
  {
    name: 'a content-length with leading zeros is rewritten',
    bytes: post(['Content-Length: 0005'], 'hello'),
    reaches: [{ body: 'hello', headers: { 'content-length': '5' } }],
  },
  {
    name: 'a content-length with surrounding spaces is rewritten',
    bytes: post(['Content-Length:   5  '], 'hello'),
    reaches: [{ body: 'hello', headers: { 'content-length': '5' } }],
  },
  {
    name: 'chunks are joined and chunk extensions dropped',
    bytes: post([chunked], '3;x=1\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'),
    reaches: [{ body: 'abcde' }],
  },
  {
    name: 'transfer-encoding is case-insensitive',
    bytes: post(['Transfer-Encoding: ChUnKeD'], '1\r\na\r\n0\r\n\r\n'),
    reaches: [{ body: 'a' }],
  },
  {
    name: 'trailers are not forwarded as headers',
    bytes: post([chunked], '1\r\na\r\n0\r\nX-Admin: 1\r\nAuthorization: x\r\n\r\n'),
    reaches: [{ body: 'a', headers: { 'x-admin': undefined, authorization: undefined } }],
  },
  {
    name: 'Transfer_Encoding does not frame the body and is not forwarded',
    bytes: post(['Content-Length: 5', 'Transfer_Encoding: chunked'], 'hello'),
    reaches: [{ body: 'hello', headers: { transfer_encoding: undefined } }],
  },
  {
    name: 'Content_Length does not frame the body and is not forwarded',
    bytes: post(['Content-Length: 5', 'Content_Length: 500'], 'hello'),
    reaches: [{ body: 'hello', headers: { content_length: undefined } }],
  },
  {
    name: 'the body of GET is not parsed as a request',
    bytes: `GET /h HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    reaches: [{ method: 'GET', url: '/base', body: smuggled }],
  },
  {
    name: 'the body of DELETE is not parsed as a request',
    bytes: `DELETE /h HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    reaches: [{ method: 'DELETE', body: smuggled }],
  },
  {
    name: 'two requests in one packet are two requests',
    bytes: `POST /h/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\noneGET /h/2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    reaches: [{ url: '/base/1', body: 'one' }, { url: '/base/2' }],
  },
];

const after: readonly Case[] = [
  {
    name: 'bytes after Connection: close are not parsed as a request',
    bytes: `GET /h HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n${smuggled}`,
    reaches: [{ url: '/base' }],
  },
  {
    name: 'bytes after a refused head are not parsed as a request',
    bytes: `GET /h%2f HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`,
    refused: 400,
  },
  {
    name: 'bytes after a refused body are not parsed as a request',
    bytes: `POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123${smuggled}`,
    refused: 404,
  },
  {
    name: 'transfer-encoding in HTTP/1.0 is refused',
    bytes: `POST /h HTTP/1.0\r\nHost: x\r\n${chunked}\r\n\r\n${empty}${smuggled}`,
    refused: 400,
  },
  {
    name: 'bytes after a refused WebSocket upgrade are not parsed as a request',
    bytes: `GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${smuggled}`,
    refused: 404,
  },
];

onGround('framing', ground => {
  for (const table of [lengths, codings, chunks, fine, after]) holds(table, ground);
});
