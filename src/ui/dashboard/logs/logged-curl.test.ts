import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hideInBody, hideInUrl, hideParameters } from '../../kit/hide-credentials.ts';
import type { TailedRequest } from './log-filters.ts';
import { toLoggedCurl } from './logged-curl.ts';

const call = (method: string, raw: string, content_length = 0) =>
  ({
    ...{ method, raw_path: '/orders/a', content_length },
    raw_request: Buffer.from(raw).toString('base64'),
  }) as TailedRequest;

describe('A logged request as curl', () => {
  test('without a record it has the path as received, and a placeholder for the key', () => {
    assert.equal(
      toLoggedCurl(call('GET', ''), true, 'https://api.example'),
      "curl -sS -H 'Authorization: <key>' 'https://api.example/orders/a'",
    );
    assert.equal(toLoggedCurl(call('GET', ''), false, 'http://api.example'), "curl -sS 'http://api.example/orders/a'");
  });

  test('credentials of headers, query and body are placeholders, and other headers are left out', () => {
    const body = '{"name":"it\'s","password":"p4ss","deep":{"api_key":"k"}}';
    const head =
      'POST /a?page=2&access_token=abc HTTP/1.1\r\nX-Key: ***\r\nCookie: session=1\r\nContent-Type: application/json';
    const command = toLoggedCurl(call('POST', `${head}\r\n\r\n${body}`, body.length), true, 'http://api.example');
    assert.equal(
      command,
      "curl -sS -X POST -H 'Content-Type: application/json' -H 'X-Key: <x-key>' " +
        `--data-raw '{"name":"it'\\''s","password":"<password>","deep":{"api_key":"<api_key>"}}' ` +
        "'http://api.example/orders/a?page=2&access_token=%3Caccess_token%3E'",
    );
  });

  test('encoded names, whole members below a secret name and brackets of forms are covered', () => {
    assert.equal(hideParameters('api%2Dkey=1&otp=2&X-Amz-Signature=3&page=4').match(/=\d/g)?.join(), '=4');
    assert.equal(hideInBody('{"tokens":["a"],"id":1}'), '{"tokens":"<tokens>","id":1}');
    assert.equal(hideInBody('{"id": 9007199254740993}'), '{"id": 9007199254740993}');
    assert.ok(!hideInBody('user[password]=p4ss&a=1').includes('p4ss'));
    const globbed = toLoggedCurl(call('GET', 'GET /a?filter[a]=1 HTTP/1.1\r\n\r\n'), false, 'http://api.example');
    assert.equal(globbed, "curl -sS -g 'http://api.example/orders/a?filter[a]=1'");
  });

  test('a body that the record has in part is left out', () => {
    assert.ok(
      !toLoggedCurl(call('PUT', 'PUT /a HTTP/1.1\r\n\r\npart', 10), false, 'http://api.example').includes('part'),
    );
  });

  test('a URL has neither user information nor secret parameters', () => {
    assert.equal(hideInUrl('https://u:p@x.example/a?token=1&b=2'), 'https://x.example/a?token=%3Ctoken%3E&b=2');
  });
});
