import { type Case, get, holds, onGround } from './ground.ts';

const refuse = (name: string, bytes: string, refused: number | readonly number[] = 400): Case => ({
  name: `refused: ${name}`,
  bytes,
  refused,
});
const line = (first: string) => `${first}\r\nHost: x\r\nConnection: close\r\n\r\n`;

const firstLines: readonly Case[] = [
  refuse('a line that ends too early', 'GET /h HTTP/1.1\nHost: x\n\n', [400, 505]),
  refuse('a method in small letters', line('get /h HTTP/1.1')),
  refuse('an unknown method', line('BREW /h HTTP/1.1')),
  refuse('an empty method', line(' /h HTTP/1.1')),
  refuse('a method with a zero byte', line('GE\0T /h HTTP/1.1')),
  refuse('a method and a tab', line('GET\t/h HTTP/1.1')),
  refuse('a method with a colon', line('GET: /h HTTP/1.1')),
  refuse('TRACE, which would show what is added on the way', line('TRACE /h HTTP/1.1'), 405),
  refuse('CONNECT, which would open a way to anywhere', 'CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: x\r\n\r\n', 405),
  refuse('CONNECT to a path', line('CONNECT /h HTTP/1.1'), [400, 405]),
  refuse('a line without a target', line('GET HTTP/1.1')),
  refuse('a target with a space', line('GET /h x HTTP/1.1')),
  refuse('a target with a tab', line('GET /h\tx HTTP/1.1')),
  refuse('HTTP/0.9', 'GET /h\r\n\r\n', 505),
  refuse('HTTP/1.2', line('GET /h HTTP/1.2'), [400, 505]),
  refuse('HTTP/2.0 in lines', line('GET /h HTTP/2.0'), 505),
  refuse('HTTP/3', line('GET /h HTTP/3'), [400, 505]),
  refuse('a version without a point', line('GET /h HTTP/11'), [400, 505]),
  refuse('a version in small letters', line('GET /h http/1.1'), [400, 505]),
  refuse('a version with a zero before it', line('GET /h HTTP/01.1'), [400, 505]),
  refuse('a version of another protocol', line('GET /h FTP/1.1'), [400, 505]),
  refuse('a space after the version', line('GET /h HTTP/1.1 '), [400, 505]),
  refuse('a zero byte before everything', `\0${line('GET /h HTTP/1.1')}`),
  refuse('a TLS ClientHello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  refuse('a PROXY protocol header', `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${line('GET /h HTTP/1.1')}`),
  refuse('an HTTP/2 preface that does not continue', 'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', [400, 505]),
  { name: 'empty lines before a request are ignored', bytes: `\r\n\r\n${get('/h')}`, reaches: [{ url: '/base' }] },
  { name: 'PATCH is forwarded', bytes: line('PATCH /h HTTP/1.1'), reaches: [{ method: 'PATCH' }] },
];

const names: readonly Case[] = [
  refuse('a space before the colon', get('/h', 'X-A : 1')),
  refuse('a tab before the colon', get('/h', 'X-A\t: 1')),
  refuse('a name with a space', get('/h', 'X A: 1')),
  refuse('a name with brackets', get('/h', 'X(A): 1')),
  refuse('a name with a slash', get('/h', 'X/A: 1')),
  refuse('a name with quotes', get('/h', 'X"A: 1')),
  refuse('a name with a zero byte', get('/h', 'X\0A: 1')),
  refuse('a name above ASCII', get('/h', 'X\xe9: 1')),
  refuse('a name with a carriage return', get('/h', 'X\rA: 1')),
  refuse('no name', get('/h', ': 1')),
  refuse('no colon', get('/h', 'X-A')),
  refuse('a first header behind a space', 'GET /h HTTP/1.1\r\n Host: x\r\n\r\n'),
];

const values: readonly Case[] = [
  refuse('a folded value (obs-fold)', get('/h', 'X-A: 1', ' 2')),
  refuse('a value folded with a tab', get('/h', 'X-A: 1', '\t2')),
  refuse('a value folded into an empty line', get('/h', 'X-A: 1', ' ')),
  refuse('a value with a bare line feed', get('/h', 'X-A: 1\nX-Admin: 1')),
  refuse('a value with a carriage return', get('/h', 'X-A: 1\rX-Admin: 1')),
  refuse('a value with a zero byte', get('/h', 'X-A: 1\0')),
  refuse('a value with a bell', get('/h', 'X-A: \x07')),
  refuse('a value with a delete', get('/h', 'X-A: \x7f')),
  refuse('a head that ends too early', 'GET /h HTTP/1.1\r\nHost: x\r\n\nX: y\r\n\r\n'),
  {
    name: 'a value beyond ASCII is forwarded byte for byte',
    bytes: get('/h', 'X-A: caf\xc3\xa9'),
    reaches: [{ headers: { 'x-a': 'caf\xc3\xa9' } }],
  },
  { name: 'an empty value is forwarded empty', bytes: get('/h', 'X-A:'), reaches: [{ headers: { 'x-a': '' } }] },
  {
    name: 'repeated headers are forwarded separately',
    bytes: get('/h', 'X-A: 1', 'X-A: 2'),
    reaches: [{ headers: { 'x-a': '1 | 2' } }],
  },
];

const hosts: readonly Case[] = [
  refuse('no host', 'GET /h HTTP/1.1\r\nConnection: close\r\n\r\n'),
  refuse('two hosts', 'GET /h HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'),
  refuse('the same host twice', 'GET /h HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n'),
  ...(
    [
      ['an empty host', ''],
      ['two hosts in one line', 'x, y'],
      ['a host with a space', 'x y'],
      ['a host with a user', 'user@x'],
      ['a host with a path', 'x/y'],
      ['a host with a query', 'x?y'],
      ['a host with a fragment', 'x#y'],
      ['a host with an escape', 'x%2ey'],
      ['a host with a backslash', 'x\\y'],
      ['a host with a scheme', 'http://x'],
      ['a host with two ports', 'x:1:2'],
      ['a port that is no number', 'x:abc'],
      ['a port with six digits', 'x:123456'],
      ['a port after a plus', 'x:+80'],
      ['an empty port', 'x:'],
      ['only a port', ':80'],
      ['an unclosed bracket', '[::1'],
      ['brackets around no address', '[x]'],
      ['a host above ASCII', 'x\xe9'],
      ['a host with a zero byte', 'x\0'],
      ['a host in quotes', '"x"'],
      ['a host with a semicolon', 'x;y'],
    ] as const
  ).map(([name, host]) => refuse(name, `GET /h HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)),
  {
    name: 'an IPv6 host with a port is accepted',
    bytes: 'GET /h HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close\r\n\r\n',
    reaches: [{ url: '/base' }],
  },
  {
    name: 'X-Host and X-Forwarded-Host of a client do not set the host and are not forwarded',
    bytes: get('/h', 'X-Host: evil', 'X-Forwarded-Host: evil', 'X_Forwarded_Host: evil'),
    reaches: [{ headers: { 'x-host': undefined, 'x-forwarded-host': 'x', x_forwarded_host: undefined } }],
  },
  { name: 'HTTP/1.0 needs no host', bytes: 'GET /h HTTP/1.0\r\n\r\n', reaches: [{ url: '/base' }] },
];

const doubles: readonly Case[] = ['Authorization: a', 'Content-Type: text/plain'].map(header =>
  refuse(`two of ${header.split(':')[0]}`, get('/h', header, `${header.split(':')[0]!.toLowerCase()}: b`)),
);

const sizes: readonly Case[] = [
  refuse('a head that is too large', get('/h', `X-A: ${'a'.repeat(70_000)}`), 431),
  refuse('a target that is too long', get(`/h/${'a'.repeat(70_000)}`), 431),
  refuse('a name that is too long', get('/h', `${'a'.repeat(70_000)}: 1`), 431),
  refuse('more headers than the limit', get('/h', ...Array.from({ length: 300 }, (_none, n) => `X-${n}: 1`)), 431),
  refuse('an endless request line', 'G'.repeat(70_000), [400, 431]),
  {
    name: 'headers up to the limit are forwarded',
    bytes: get('/h', ...Array.from({ length: 190 }, (_none, n) => `X-${n}: 1`)),
    reaches: [{ headers: { 'x-189': '1' } }],
  },
];

onGround('Request head parsing', ground => {
  for (const table of [firstLines, names, values, hosts, doubles, sizes]) holds(table, ground);
});
