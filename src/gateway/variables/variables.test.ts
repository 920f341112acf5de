import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sessionOf } from '#access/keys/session.ts';
import { readSettings } from '#base/settings.ts';
import type { Exchange } from '../exchange.ts';
import { Unservable } from '../step.ts';
import { hasSecrets, headerEscaped, urlEscaped, variables } from './variables.ts';

const values = { key: 'k', tricky: '$gw_meta.a' };
const tools = { settings: readSettings({ flags: { 'secrets.values': JSON.stringify(values) } }) };
const call = (context?: Record<string, unknown>, meta_data?: Record<string, unknown>) =>
  ({ context, session: meta_data && sessionOf({ meta_data }, []) }) as Exchange;
const filled = (text: string, of: Exchange) => variables(text, tools)(of);

test('text without variables stays as it is', () => {
  for (const text of ['', 'a', '$', '$1 $x $gw_context $gw_context. $gw_other.a', 'a $ gw_meta.b'])
    assert.equal(filled(text, call({}, {})), text);
});

test('variables are filled in: texts, numbers, lists; whatever else or nothing is empty', () => {
  const context = {
    a: 'x',
    'trigger-0-Name-0': 'y',
    n: 1.5,
    list: ['p', 'q'],
    data: { k: ['1', '2'], l: ['3'] },
    no: {},
  };
  const meta = { a: 'm', truth: true, none: null, mixed: ['a', 1], deep: { b: { c: 1 } } };
  const of = call(context, meta);
  for (const [text, expected] of [
    ['<$gw_context.a|$gw_meta.a>', '<x|m>'],
    ['$gw_context.trigger-0-Name-0/$gw_context.n', 'y/1.5'],
    ['$gw_context.list $gw_context.data', 'p,q k:1,2;l:3'],
    ['[$gw_context.missing][$gw_meta.missing]', '[][]'],
    ['[$gw_meta.truth$gw_meta.none$gw_meta.mixed$gw_meta.deep$gw_context.no]', '[]'],
    ['[$gw_meta.constructor$gw_meta.__proto__$gw_context.toString]', '[]'],
  ] as const)
    assert.equal(filled(text, of), expected, text);
  assert.equal(filled('[$gw_context.a$gw_meta.a]', call()), '[]');
});

test('secrets are put in when the text is loaded; a missing one, or a place that is not there, makes it unservable', () => {
  assert.equal(filled('Bearer $secret_conf.key/$secret_conf.key', call()), 'Bearer k/k');
  for (const [text, reason] of Object.entries({
    '$secret_conf.other': 'the secret $secret_conf.other is missing',
    '$secret_env.PATH': 'the secret $secret_env.PATH is missing',
    '$secret_file.passwd': 'the secret $secret_file.passwd is missing',
    '$secret_vault.engine.key': 'the gateway keeps no secrets in "vault"',
    '$secret_consul.key': 'the gateway keeps no secrets in "consul"',
  }))
    assert.throws(
      () => variables(text, tools),
      (error: Error) => error instanceof Unservable && error.message === reason,
    );
  assert.deepEqual(['$secret_env.A', '$gw_meta.secret_env.A', 'x'].map(hasSecrets), [true, false, false]);
});

test('a value that looks like a variable is not one', () => {
  const of = call({ a: '$gw_meta.b $secret_conf.key $1' }, { b: 'canary' });
  assert.equal(filled('$gw_context.a', of), '$gw_meta.b $secret_conf.key $1');
  assert.equal(filled('$secret_conf.tricky', call({}, { a: 'canary' })), '$gw_meta.a');
});

test('whatever a value holds, it begins nothing new in a header or an address', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), value => {
      const of = call({ v: value });
      const header = variables('a $gw_context.v', tools, headerEscaped)(of);
      assert.match(header, /^[ -~\x80-\xff]*$/);
      const address = variables('/a/$gw_context.v?b=$gw_context.v', tools, urlEscaped)(of);
      assert.match(address, /^\/a\/[\w.~%-]*\?b=[\w.~%-]*$/);
    }),
  );
  assert.equal(headerEscaped('a\r\nX-Admin: 1'), 'a  X-Admin: 1');
  assert.equal(Buffer.from(headerEscaped('é'), 'latin1').toString(), 'é');
  assert.equal(urlEscaped("a/../b?c=d&e#f g'"), 'a%2F..%2Fb%3Fc%3Dd%26e%23f%20g%27');
});
