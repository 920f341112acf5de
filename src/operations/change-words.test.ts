import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { diffJson } from '#base/json-diff.ts';
import { summarizeChanges } from './change-words.ts';

const summarize = (before: unknown, after: unknown, maxChanges = 1000) =>
  summarizeChanges(diffJson(before, after, maxChanges), { before, after });

describe('Summary of a revision', () => {
  test('a rate limit is one phrase of rate and period, however many of the two changed', () => {
    assert.deepEqual(summarize({ rate: 100, per: 60 }, { rate: 50, per: 60 }), ['rate limit 100 → 50 a minute']);
    assert.deepEqual(summarize({ rate: 100, per: 60 }, { rate: 50, per: 7 }), ['rate limit 100 a minute → 50 per 7 s']);
    assert.deepEqual(summarize({}, { rate: 5, per: 1 }), ['rate limit set to 5 a second']);
    assert.deepEqual(summarize({ rate: 1 }, { rate: 2 }), ['rate 1 → 2']);
  });

  test('a limit that is switched off is unlimited', () => {
    const limited = { rate: 5, per: 60, quota_max: 100 };
    const off = { rate: -1, per: 60, quota_max: -1 };
    assert.deepEqual(summarize(limited, off).sort(), ['quota 100 → unlimited', 'rate limit 5 a minute → unlimited']);
    assert.deepEqual(summarize(off, limited).sort(), ['quota unlimited → 100', 'rate limit unlimited → 5 a minute']);
    assert.deepEqual(summarize({}, { rate: -1, per: 60 }), ['rate limit set to unlimited']);
    assert.deepEqual(summarize({ rate: -1, per: 60 }, { rate: -1, per: 7 }), ['per 60 → 7']);
  });

  test('endpoints of an OpenAPI document are named by method and path', () => {
    const before = { oas: { paths: { '/a': { get: {} }, '/b': { get: { summary: 'Old' }, put: {} } } } };
    const after = { oas: { paths: { '/b': { get: { summary: 'New' } }, '/c': { get: {}, post: {} } } } };
    assert.deepEqual(summarize(before, after), [
      'endpoint GET /a removed',
      'GET /b: summary "Old" → "New"',
      'endpoint PUT /b removed',
      'endpoint GET /c added',
      'endpoint POST /c added',
    ]);
  });

  test('switches, texts, items and long values have words of their own', () => {
    const before = { api_definition: { active: true, proxy: { target_url: 'http://a/' }, tags: ['x'], text: 'short' } };
    const after = {
      api_definition: { active: false, proxy: { target_url: 'http://b/' }, tags: [], text: 'l'.repeat(99) },
    };
    assert.deepEqual(summarize(before, after), [
      'active off',
      'proxy: upstream URL "http://a/" → "http://b/"',
      'tags: "x" removed',
      'text changed',
    ]);
    assert.deepEqual(summarize({}, { alias: 'a', quotaMax: 5, list: [1] }), [
      'alias set to "a"',
      'quota max set to 5',
      'list added',
    ]);
    assert.deepEqual(summarize({ on: null, list: [1] }, { on: true, list: [1, { a: 1 }] }), [
      'on on',
      'list: item added',
    ]);
  });

  test('a masked secret is changed, without a value', () => {
    const diff = diffJson({ secret: 'a' }, { secret: 'b' }, 10, {
      before: { secret: '***' },
      after: { secret: '***' },
    });
    assert.deepEqual(summarizeChanges(diff, { before: {}, after: {} }), ['secret changed']);
  });

  test('many changes are five phrases and a count, and a long phrase is cut', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`m${at}x`, at]));
    const summary = summarize({}, many);
    assert.deepEqual([summary.length, summary.at(-1)], [6, '4 more']);
    assert.equal(summarize({}, many, 7).at(-1), 'more than 2 more');
    const [long] = summarize({}, { ['n'.repeat(500)]: {} });
    assert.equal(long!.length, 160);
    assert.deepEqual(summarize({ a: 1 }, { a: 1 }), []);
  });
});
