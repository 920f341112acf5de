import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keepRequest, listKeptRequests, listSent, sumDurations } from './request-history.ts';

const request = { atMs: 1, method: 'GET', path: '/a', headerText: '', body: '', status: 200 };

describe('Last requests of the page Try', () => {
  test('credentials in headers, query and body are left out, and the newest 50 of an API stay', () => {
    const path = '/a?size=1&api_key=k1&Access_Token=k2';
    const headerText = 'Accept: */*\nAuthorization: k3\nX-Api-Key: k4\nCookie: k5';
    keepRequest('ann', 'orders', { ...request, path, headerText, body: '{"password":"k6"}' });
    const [first] = listKeptRequests('ann', 'orders');
    assert.deepEqual([first?.path, first?.headerText, first?.body], ['/a?size=1', 'Accept: */*', '']);
    for (let count = 0; count < 60; count++) keepRequest('ann', 'orders', { ...request, path: `/${count}` });
    const all = listKeptRequests('ann', 'orders');
    assert.deepEqual([all.length, all[0]?.path, all.at(-1)?.path], [50, '/59', '/10']);
    assert.deepEqual(listKeptRequests('ann', 'other'), []);
  });

  test('another user of the same page gets none of them', () => {
    keepRequest('ann', 'orders', request);
    assert.deepEqual(listKeptRequests('bob', 'orders'), []);
    assert.deepEqual(listKeptRequests('ann', 'orders'), []);
  });

  test('durations are summed by part, and each request to the upstream is listed', () => {
    const steps = [
      { phase: 'request' as const, step: 'cors', message: 'passed', took_ms: 1, api_id: '' },
      { phase: 'request' as const, step: 'upstream', message: 'sent GET http://a/x', api_id: '' },
      { phase: 'response' as const, step: 'upstream', message: '200', took_ms: 5, api_id: '' },
      { phase: 'response' as const, step: 'headers', message: 'passed', took_ms: 2, api_id: '' },
    ];
    assert.deepEqual(sumDurations(steps), { request: 1, upstream: 5, response: 2 });
    assert.deepEqual(listSent(steps), ['GET http://a/x']);
  });
});
