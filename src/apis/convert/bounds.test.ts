import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convertAsyncApi } from './asyncapi.ts';
import { convertText } from './convert-text.ts';
import { trimCharacters } from './trim-characters.ts';

const maxBytes = 5_000_000;
const convert = (source: unknown) =>
  convertText({ format: 'auto', text: typeof source === 'string' ? source : JSON.stringify(source), maxBytes });
const repeat = (count: number, build: (index: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_item, index) => build(index)).join(separator);
const measure = (document: unknown) => JSON.stringify(document).length;

describe('bounds of recorded requests', () => {
  const urls = repeat(2000, index => `a.example/p${index}x`);
  const tooMany = /^text: it has too many URLs in one command/;

  test('headers of one curl command for many URLs are refused', () => {
    assert.throws(() => convert(`curl ${repeat(2000, index => `-Ha${index}:x`)} ${urls}`), { message: tooMany });
  });

  test('query data of one curl command for many URLs is refused', () => {
    const data = repeat(2000, index => `a${index}=1`, '&');
    assert.throws(() => convert(`curl -G -d '${data}' ${urls}`), { message: tooMany });
  });

  test('a long body, field, header name or method of one curl command for many URLs is refused', () => {
    const long = 'a'.repeat(50_000);
    for (const option of [`-d '${long}'`, `-F ${long}=1`, `-H ${long}:1`, `-H a:${long}`, `-X ${long}`])
      assert.throws(() => convert(`curl ${option} ${urls}`), { message: tooMany });
  });

  test('curl commands with more than 5000 URLs are refused before their data is copied', () => {
    const many = repeat(5001, () => 'a.example');
    assert.throws(() => convert(`curl -Ha:b -G -d a=1 ${many}`), { message: 'text: it has more than 5000 requests' });
  });

  test('a curl command with the usual headers and 5000 URLs is converted', () => {
    const headers = repeat(15, index => `-H 'X-Header-${index}: a'`);
    const { document } = convert(`curl ${headers} ${repeat(5000, index => `a.example/p${index}x`)}`);
    assert.equal(Object.keys(document.paths as object).length, 5000);
  });

  test('more than 100000 parameters of all requests are refused', () => {
    const entries = Array.from({ length: 60 }, (_item, index) => ({
      request: { method: 'GET', url: `http://a.example/p${index}x${'/1'.repeat(2000)}` },
    }));
    assert.throws(() => convert({ log: { entries } }), { message: 'text: it has more than 100000 parameters' });
  });

  test('many bodies of one operation become one schema with at most 500 properties and the names that all have', () => {
    const bodies = Array.from({ length: 2000 }, (_item, index) => ({ constructor: 1, [`n${index}`]: index / 2 }));
    const entries = bodies.map(body => ({
      request: {
        ...{ method: 'POST', url: 'http://a.example/p' },
        postData: { mimeType: 'application/json', text: JSON.stringify([null, body, body]) },
      },
    }));
    const { document } = convert({ log: { entries } });
    const { post } = (document.paths as Record<string, ReturnType<typeof JSON.parse>>)['/p'];
    const { type, items } = post.requestBody.content['application/json'].schema;
    assert.deepEqual([type, items.nullable, items.required], ['array', true, ['constructor']]);
    assert.equal(Object.keys(items.properties).length, 500);
    assert.deepEqual([items.properties.n2, items.properties.n3], [{ type: 'integer' }, { type: 'number' }]);
  });

  test('a long segment before an id names its parameter by its first characters', () => {
    const entries = Array.from({ length: 300 }, (_item, index) => ({
      request: { method: 'GET', url: `http://a.example/p${index}x/a${'_'.repeat(7800)}b/1` },
    }));
    const paths = convert({ log: { entries } }).document.paths as Record<string, never>;
    assert.ok(Object.keys(paths).every(path => path.endsWith(`b/{a${'_'.repeat(100)}id}`)));
  });

  test('long names of folders and keys of a Postman collection are not copied to every request', () => {
    const long = 'a'.repeat(100_000);
    const apikey = [{ key: 'key', value: long }];
    const item = Array.from({ length: 500 }, (_item, index) => ({ request: `http://a.example/p${index}x` }));
    const { document, warnings } = convert({
      info: { name: 'A' },
      auth: { type: 'apikey', apikey },
      item: [{ name: long, item }],
    });
    assert.ok(measure(document) < 1_000_000);
    assert.ok(warnings.includes('the authentication apikey is not converted'));
  });
});

describe('bounds of AsyncAPI', () => {
  const info = { title: 'A', version: '1' };
  const servers = { s: { url: 'a.example:1', protocol: 'kafka' } };
  const tooLong = (noun: string) => `text: names and addresses of ${noun} must have at most 500 characters`;

  test('long names and addresses are refused', () => {
    const long = `a${'/'.repeat(300_000)}b`;
    const subscribe = {};
    const given = [
      [{ asyncapi: '2.6.0', info, servers, channels: { [long]: { subscribe } } }, 'channels'],
      [{ asyncapi: '3.0.0', info, servers, channels: { a: { address: long } } }, 'channels'],
      [{ asyncapi: '2.6.0', info, servers: { [long]: servers.s }, channels: { a: { subscribe } } }, 'servers'],
    ] as const;
    for (const [document, noun] of given) assert.throws(() => convert(document), { message: tooLong(noun) });
  });

  test('more than 100 servers are refused', () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_item, index) => [`s${index}`, servers.s]));
    assert.throws(() => convert({ asyncapi: '2.6.0', info, servers: many, channels: {} }), {
      message: 'text: it has more than 100 servers',
    });
  });

  test('a server whose variables expand to a long URL is left out', () => {
    const url = `a.example/${'{v}'.repeat(600)}`;
    const variables = { v: { default: '/'.repeat(500) } };
    const wide = { url, protocol: 'http', variables };
    const channels = { a: { subscribe: {} } };
    assert.throws(() => convert({ asyncapi: '2.6.0', info, servers: { wide }, channels }), {
      message: /no server has a supported protocol/,
    });
  });

  test('each operation of version 3 is read once, however many channels there are', () => {
    let reads = 0;
    const channels = Object.fromEntries(Array.from({ length: 50 }, (_item, index) => [`c${index}`, {}]));
    const operations = Object.fromEntries(
      Object.keys(channels).map(name => [
        name,
        {
          action: 'send',
          get channel() {
            reads += 1;
            return { $ref: `#/channels/${name}` };
          },
        },
      ]),
    );
    const { document } = convertAsyncApi({
      asyncapi: '3.0.0',
      info,
      servers: { s: { host: 'a.example:1', protocol: 'kafka' } },
      channels,
      operations,
    });
    assert.equal(Object.keys(document.paths as object).length, 50);
    assert.equal(reads, 50);
  });
});

test('characters are trimmed at both ends, also where many of them stand inside', () => {
  const inside = `a${'/'.repeat(500_000)}b`;
  assert.equal(trimCharacters(`-/${inside}/-`, '/-'), inside);
  assert.equal(trimCharacters('/-/', '/-'), '');
});
