import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toArchive } from './propose-endpoints.ts';

const called = (method: string, path: string, success = 1) => ({ id: { method, path }, success });
const listUrls = (text: string | undefined) =>
  (
    JSON.parse(text ?? '{"log":{"entries":[]}}') as { log: { entries: { request: { url: string } }[] } }
  ).log.entries.map(({ request: { url } }) => url);

describe('The archive of called paths', () => {
  test('it has paths with a successful request, a method and a leading slash', () => {
    const items = [called('GET', '/a'), called('GET', '/failed', 0), called('', '/b'), called('GET', 'no-path')];
    assert.deepEqual(listUrls(toArchive(items)), ['http://recorded.invalid/a']);
    assert.equal(toArchive(items.slice(1)), undefined);
  });

  test('a question mark and a hash of a path stay a part of it', () => {
    assert.deepEqual(listUrls(toArchive([called('GET', '/a?b#c')])), ['http://recorded.invalid/a%3Fb%23c']);
  });

  test('of very many paths the first 500, the most used ones, are in it', () => {
    const items = Array.from({ length: 600 }, (_, place) => called('GET', `/${place}`));
    const urls = listUrls(toArchive(items));
    assert.deepEqual([urls.length, urls.at(-1)], [500, 'http://recorded.invalid/499']);
  });
});
