import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileKeySession } from '#access/keys/session.ts';
import { decodeBase64, recordedApi, recordedCall, recordOne } from '../../../tests/support/recorder.ts';
import { bodyFromBytes, bodyFromStream } from '../http/body.ts';
import { createResponse } from '../http/response.ts';

const detailed = {
  enable_detailed_recording: true,
  use_keyless: false,
  auth_configs: { authToken: { auth_header_name: 'X-Key', use_param: true, param_name: 'token' } },
};

test('detailed recording stores request and response with credentials redacted', () => {
  const response = createResponse(201, { 'Content-Type': 'text/plain', 'Set-Cookie': 'id=hidden' }, 'made');
  const headers = ['X-Key', 'hidden', 'Authorization', 'hidden', 'Cookie', 'a=hidden', 'Accept', '*/*'];
  const body = bodyFromBytes(Buffer.from('{"a":1}'));
  const found = recordOne(recordedCall({ api: recordedApi(detailed), response, body }, headers))!;
  assert.equal(
    decodeBase64(found.raw_request),
    'GET /orders/1 HTTP/1.1\r\nX-Key: ***\r\nAuthorization: ***\r\nCookie: ***\r\nAccept: */*\r\n\r\n{"a":1}',
  );
  assert.equal(
    decodeBase64(found.raw_response),
    'HTTP/1.1 201\r\nContent-Type: text/plain\r\nSet-Cookie: ***\r\n\r\nmade',
  );
});

test('detailed recording redacts the credentials of every API that a looped request passed', () => {
  const inBody = recordedApi({ use_keyless: false, use_basic_auth: true, basic_auth: { extract_from_body: true } });
  const looped = recordedCall(
    {
      ...{
        api: recordedApi({ enable_detailed_recording: true }),
        previousApis: [recordedApi(detailed), inBody],
        loopCount: 2,
      },
      ...{ target: '/orders/1?token=hidden&page=2', body: bodyFromBytes(Buffer.from('user=ada&password=hidden')) },
    },
    ['X-Key', 'hidden', 'Accept', '*/*'],
  );
  assert.equal(
    decodeBase64(recordOne(looped)!.raw_request),
    'GET /orders/1?page=2 HTTP/1.1\r\nX-Key: ***\r\nAccept: */*\r\n\r\n',
  );
});

test('detailed recording can be enabled by a key, buffers no streamed body, and is bounded', () => {
  const session = compileKeySession({ enable_detailed_recording: true }, []);
  async function* chunks() {
    yield Buffer.from('streamed');
  }
  const streamed = recordOne(recordedCall({ session, body: bodyFromStream(chunks(), 8) }))!;
  assert.doesNotMatch(decodeBase64(streamed.raw_request), /streamed/);
  const large = recordOne(recordedCall({ session, response: createResponse(200, {}, 'x'.repeat(100_000)) }))!;
  assert.equal(decodeBase64(large.raw_response).length, 8192);
  const off = recordOne(recordedCall({ session }), { 'analytics.raw_log': 'false' })!;
  assert.equal(off.raw_request, '');
});
