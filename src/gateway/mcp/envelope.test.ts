import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseEnvelope } from './envelope.ts';

const parse = (text: string) => parseEnvelope(Buffer.from(text));
const codeOf = (text: string | Buffer) => {
  const envelope = parseEnvelope(Buffer.from(text as string));
  return 'code' in envelope ? envelope.code : '';
};
const message = (members: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...members });

describe('JSON-RPC envelope', () => {
  test('the method, the id and the primitive are read', () => {
    const cases: readonly [object, string, string][] = [
      [{ method: 'tools/call', params: { name: 'a', arguments: { name: 'b' } } }, 'tool', 'a'],
      [{ method: 'prompts/get', params: { name: 'p' } }, 'prompt', 'p'],
      [{ method: 'resources/read', params: { uri: 'file:///a' } }, 'resource', 'file:///a'],
      [{ method: 'resources/subscribe', params: { uri: 'file:///a' } }, 'resource', 'file:///a'],
      [{ method: 'completion/complete', params: { ref: { type: 'ref/prompt', name: 'p' } } }, 'prompt', 'p'],
      [{ method: 'completion/complete', params: { ref: { type: 'ref/resource', uri: 'x:{y}' } } }, 'resource', 'x:{y}'],
      [{ method: 'tools/list' }, '', ''],
      [{ method: 'vendor/own', params: [1] }, '', ''],
    ];
    for (const [members, primitiveType, primitiveName] of cases)
      assert.deepEqual(parse(message(members)), {
        method: (members as { method: string }).method,
        id: '1',
        primitiveType,
        primitiveName,
      });
  });

  test('an id is repeated as it was written', () => {
    for (const id of ['0', '-1', '12345678901234567890', '1.50', '"a\\u0020\\"b"', 'null'])
      assert.equal((parse(`{"jsonrpc":"2.0","id": ${id} ,"method":"ping"}`) as { id: string }).id, id);
    assert.equal((parse('{"jsonrpc":"2.0","method":"notifications/initialized"}') as { id: string }).id, 'null');
  });

  test('a response of the client has no method', () => {
    assert.deepEqual(parse('{"jsonrpc":"2.0","id":"s1","result":{"id":9,"method":"x"}}'), {
      method: '',
      id: '"s1"',
      primitiveType: '',
      primitiveName: '',
    });
  });

  test('invalid messages are refused', () => {
    const cases: readonly [string | Buffer, string][] = [
      ['', 'rpc_parse_failed'],
      ['{', 'rpc_parse_failed'],
      ['{"jsonrpc":"2.0","method":"ping"', 'rpc_parse_failed'],
      ['\ufeff{"jsonrpc":"2.0","method":"ping"}', 'rpc_parse_failed'],
      ['{"jsonrpc":"2.0","method":"ping"} {}', 'rpc_parse_failed'],
      [Buffer.from([0x7b, 0xff, 0x7d]), 'rpc_parse_failed'],
      [Buffer.from(message({ method: 'ping' }), 'utf16le'), 'rpc_parse_failed'],
      ['"text"', 'rpc_invalid'],
      ['null', 'rpc_invalid'],
      ['{}', 'rpc_invalid'],
      ['[]', 'rpc_batch'],
      [`[${message({ method: 'ping' })}]`, 'rpc_batch'],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 'rpc_invalid'],
      ['{"id":1,"method":"ping"}', 'rpc_invalid'],
      [message({}), 'rpc_invalid'],
      [message({ method: 7 }), 'rpc_invalid'],
      [message({ method: '' }), 'rpc_invalid'],
      [message({ method: 'a'.repeat(300) }), 'rpc_invalid'],
      [message({ id: 'a'.repeat(300), method: 'ping' }), 'rpc_invalid'],
      [message({ method: 'tools/call' }), 'rpc_params_missing'],
      [message({ method: 'tools/call', params: ['a'] }), 'rpc_params_missing'],
      [message({ method: 'tools/call', params: {} }), 'rpc_parameter_missing'],
      [message({ method: 'resources/read', params: { name: 'a' } }), 'rpc_parameter_missing'],
      [message({ method: 'tools/call', params: { name: 7 } }), 'rpc_params_invalid'],
      [message({ method: 'tools/call', params: { name: ['a'] } }), 'rpc_params_invalid'],
      ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a\\ud800"}}', 'rpc_params_invalid'],
      [message({ method: 'tools/call', params: { name: 'a'.repeat(5000) } }), 'rpc_params_invalid'],
      [message({ method: 'completion/complete', params: {} }), 'rpc_parameter_missing'],
      [
        message({ method: 'completion/complete', params: { ref: { type: 'ref/tool', name: 'a' } } }),
        'rpc_params_invalid',
      ],
    ];
    for (const [text, code] of cases) assert.equal(codeOf(text), code, String(text).slice(0, 80));
  });

  test('a member that decides on access, twice or in another spelling, is refused', () => {
    const cases = [
      '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
      '{"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"tools/list"}',
      '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/list"}',
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"paramſ":{"name":"b"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","NAME":"b"}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"params":{"name":"b"}}',
      '{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a","name":"b"}}}',
      `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    ];
    for (const text of cases) assert.equal(codeOf(text), 'rpc_invalid', text.slice(0, 100));
  });

  test('other members may repeat those names', () => {
    const deep = { arguments: { name: 1, NAME: 2, method: { method: 1 } }, _meta: { uri: [{ uri: 1 }, { uri: 2 }] } };
    assert.equal(codeOf(message({ method: 'tools/call', params: { name: 'a', ...deep } })), '');
  });

  test('every JSON value in the parameters is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.jsonValue(), (name, value) => {
        const text = message({ method: 'tools/call', params: { arguments: value, name: `n${name}` } });
        const envelope = parse(text);
        return 'code' in envelope ? !`n${name}`.isWellFormed() : envelope.primitiveName === `n${name}`;
      }),
    );
  });
});
