import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { filterMessageText, type Visibility } from './list-filter.ts';

const visibility: Visibility = { allowsMethod: () => true, allowsPrimitive: (_type, name) => name !== 'b' };
const filter = (text: string) => filterMessageText(text, visibility);
const tools = (...names: string[]) => JSON.stringify({ id: 1, result: { tools: names.map(name => ({ name })) } });
const nest = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('Filter of MCP lists', () => {
  test('a message and each message of a batch lose the hidden tools; others stay as they are', () => {
    assert.equal(filter(tools('a', 'b')), tools('a'));
    assert.equal(filter(`[${tools('b')}, ${tools('a')}]`), `[${tools()},${tools('a')}]`);
    for (const same of [tools('a'), `[ ${tools('a')}, 1]`, ' {}', '[ ]', 'null', '"malformed"'])
      assert.equal(filter(same), same);
  });

  test('a message that is no JSON, a batch inside a batch and nesting beyond the bound are unreadable', () => {
    assert.deepEqual(filter('{"result"'), { reason: 'malformed' });
    for (const nested of [`[[${tools('b')}]]`, `[${tools('a')},[]]`, nest(200), nest(100_000)])
      assert.deepEqual(filter(nested), { reason: 'nested' });
    assert.deepEqual(filter(`{"result":{"tools":[{"name":"b"}],"x":${nest(100_000)}}}`), { reason: 'nested' });
  });
});
