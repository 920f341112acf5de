import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi, publish } from '../support/traffic.ts';
import { type Case, get, holds, onGround } from './ground.ts';

/** Headers that proxies set about clients and that some upstreams trust from any sender. */
const claims = [
  'Forwarded: for=6.6.6.6;host=evil;proto=https',
  'X-Forwarded-For: 6.6.6.6',
  'X-Forwarded-Host: evil',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Port: 6666',
  'X-Forwarded-Prefix: /evil',
  'X-Forwarded-Server: evil',
  'X-Forwarded-Scheme: https',
  'X-Forwarded-Ssl: on',
  'X-Forwarded-Uri: /evil',
  'X-Forwarded-User: admin',
  'X-Forwarded-Email: admin@evil',
  'X-Forwarded-Client-Cert: By=evil',
  'X-Forwarded: for=6.6.6.6',
  'X-Original-URL: /evil',
  'X-Rewrite-URL: /evil',
  'X-Original-Host: evil',
  'X-Original-Forwarded-For: 6.6.6.6',
  'X-Host: evil',
  'X-Real-IP: 6.6.6.6',
  'X-Client-IP: 6.6.6.6',
  'X-Remote-IP: 6.6.6.6',
  'X-Remote-Addr: 6.6.6.6',
  'X-Originating-IP: 6.6.6.6',
  'X-Cluster-Client-IP: 6.6.6.6',
  'True-Client-IP: 6.6.6.6',
  'Client-IP: 6.6.6.6',
];
const rebuilt: Readonly<Record<string, string>> = {
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-host': 'x',
  'x-forwarded-proto': 'http',
  'x-real-ip': '127.0.0.1',
};

/** Spellings that some upstreams treat as the same header name. */
const spellings: readonly ((name: string) => string)[] = [
  name => name,
  name => name.toLowerCase(),
  name => name.toUpperCase(),
  name => name.replaceAll('-', '_'),
  name => name.replaceAll('-', '_').toLowerCase(),
  name => name.replace('-', '_'),
];

const spoofed: readonly Case[] = claims.map(claim => {
  const [name = '', value] = claim.split(': ');
  const lower = name.toLowerCase();
  const written = [...new Set(spellings.map(spell => spell(name)))];
  return {
    name: `${name} of an untrusted client is not forwarded in any spelling`,
    bytes: get('/h', ...written.map(spelling => `${spelling}: ${value}`)),
    reaches: [
      {
        headers: Object.fromEntries(
          written.map(spelling => [
            spelling.toLowerCase(),
            spelling.toLowerCase() === lower ? rebuilt[lower] : undefined,
          ]),
        ),
      },
    ],
  };
});

const ofConnections: readonly Case[] = [
  {
    name: 'hop-by-hop headers are not forwarded',
    bytes: get(
      '/h',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: close',
      'Proxy-Authorization: secret',
      'TE: gzip',
      'Trailer: X',
      'Upgrade: h2c',
      'HTTP2-Settings: AAA',
    ),
    reaches: [
      {
        headers: {
          'keep-alive': undefined,
          'proxy-connection': undefined,
          'proxy-authorization': undefined,
          te: undefined,
          trailer: undefined,
          upgrade: undefined,
          'http2-settings': undefined,
        },
      },
    ],
  },
  {
    name: 'hop-by-hop headers with underscores are not forwarded',
    bytes: get(
      '/h',
      'Keep_Alive: 5',
      'Proxy_Authorization: secret',
      'Proxy_Connection: x',
      'Transfer_Encoding: chunked',
    ),
    reaches: [
      {
        headers: {
          keep_alive: undefined,
          proxy_authorization: undefined,
          proxy_connection: undefined,
          transfer_encoding: undefined,
        },
      },
    ],
  },
  ...(
    [
      ['X-Forwarded-For', 'x-forwarded-for', '127.0.0.1'],
      ['x-forwarded-for', 'x-forwarded-for', '127.0.0.1'],
      ['X-FORWARDED-PROTO', 'x-forwarded-proto', 'http'],
      ['X-Real-IP', 'x-real-ip', '127.0.0.1'],
      ['Host', 'host', undefined],
      ['Authorization', 'authorization', 'mine'],
      ['AUTHORIZATION', 'authorization', 'mine'],
      ['Cookie', 'cookie', 'a=1'],
      ['Content-Type', 'content-type', 'text/plain'],
    ] as const
  ).map(([named, header, value]) => ({
    name: `${named} named in Connection is still forwarded`,
    bytes: `GET /h HTTP/1.1\r\nHost: x\r\nAuthorization: mine\r\nCookie: a=1\r\nContent-Type: text/plain\r\nConnection: close, ${named}\r\n\r\n`,
    reaches: [{ url: '/base', headers: value === undefined ? {} : { [header]: value } }],
  })),
  {
    name: 'other headers named in Connection are not forwarded',
    bytes:
      'GET /h HTTP/1.1\r\nHost: x\r\nX-Drop: 1\r\nX-Drop: 2\r\nX-Too: 1\r\nX-Stay: 1\r\nConnection: close, x-drop\r\nConnection: X-Too\r\n\r\n',
    reaches: [{ headers: { 'x-drop': undefined, 'x-too': undefined, 'x-stay': '1', connection: 'keep-alive' } }],
  },
  {
    name: 'TE: trailers is forwarded',
    bytes: get('/h', 'TE: trailers'),
    reaches: [{ headers: { te: 'trailers' } }],
  },
  {
    name: 'internal-looking headers of a client do not change the processing',
    bytes: get(
      '/h',
      'X-Middleware-Subrequest: 1',
      'X-Gw-Authorization: x',
      'X-Gw-Skip: auth',
      'X-Internal: 1',
      'X-Gatewright: 1',
    ),
    reaches: [{ url: '/base' }],
  },
];

onGround('Forwarding headers of untrusted clients', ground => {
  holds(spoofed, ground);
  holds(ofConnections, ground);

  test('forwarding headers of an untrusted client do not pass an IP allow list', async () => {
    const { app, upstream, send } = ground();
    const definition = openApi(upstream, { enable_ip_whitelisting: true, allowed_ips: ['6.6.6.6'] });
    const url = new URL(await publish(app, definition));
    const { statuses, received } = await send(get(url.pathname, ...claims));
    assert.deepEqual([statuses, received], [[403], []]);
  });

  test('a header set by the gateway replaces every spelling sent by the client', async () => {
    const { HeaderList } = await import('#gateway/http/headers.ts');
    const headers = new HeaderList([
      'X-User-Id',
      'a',
      'x_user_id',
      'b',
      'X_USER-ID',
      'c',
      'x-user_id',
      'd',
      'X-Other',
      'e',
    ]);
    headers.set('X-User-Id', 'us');
    assert.deepEqual(headers.flat, ['X-Other', 'e', 'X-User-Id', 'us']);
  });
});

onGround(
  'Forwarding headers of a trusted proxy',
  ground => {
    holds(
      [
        {
          name: 'the client address is that of X-Forwarded-For',
          bytes: get('/h', 'X-Forwarded-For: 6.6.6.6', 'X-Forwarded-Proto: https', 'X-Forwarded-Host: shop.example'),
          reaches: [
            {
              headers: {
                'x-forwarded-for': '6.6.6.6, 127.0.0.1',
                'x-real-ip': '6.6.6.6',
                'x-forwarded-proto': 'https',
                'x-forwarded-host': 'shop.example',
              },
            },
          ],
        },
        {
          name: 'the client address is the last one in X-Forwarded-For that is no trusted proxy',
          bytes: get('/h', 'X-Forwarded-For: 1.1.1.1, 6.6.6.6, 10.0.0.9'),
          reaches: [{ headers: { 'x-real-ip': '6.6.6.6' } }],
        },
        {
          name: 'several X-Forwarded-For headers are one list',
          bytes: get('/h', 'X-Forwarded-For: 1.1.1.1', 'X-Forwarded-For: 6.6.6.6'),
          reaches: [{ headers: { 'x-real-ip': '6.6.6.6', 'x-forwarded-for': '1.1.1.1, 6.6.6.6, 127.0.0.1' } }],
        },
        {
          name: 'an X-Forwarded-For with an invalid address is ignored',
          bytes: get('/h', 'X-Forwarded-For: 6.6.6.6, unknown'),
          reaches: [{ headers: { 'x-real-ip': '127.0.0.1' } }],
        },
        {
          name: 'X_Forwarded_For is ignored',
          bytes: get('/h', 'X_Forwarded_For: 6.6.6.6'),
          reaches: [{ headers: { 'x-real-ip': '127.0.0.1', x_forwarded_for: undefined } }],
        },
      ],
      ground,
    );
  },
  { 'gateway.trusted_proxies': '127.0.0.1,10.0.0.0/8' },
);
