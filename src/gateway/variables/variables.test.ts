import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileKeySession } from '#access/keys/session.ts';
import { createRedactor } from '#base/redaction.ts';
import { readSettings } from '#base/settings.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { createDefinitionSecrets } from './definition-secrets.ts';
import { compileVariables, escapeHeaderValue, escapeUrlValue, hasSecrets } from './variables.ts';

const values = { key: 'k', tricky: '$gw_meta.a' };
const settings = readSettings({ flags: { 'secrets.values': JSON.stringify(values) } });
const secrets = createDefinitionSecrets({
  settings,
  redactor: createRedactor(),
  isGranted: () => true,
}).forOrganisation('o');
const services = { secrets, isContextName: (_name: string): boolean => true };
const call = (context?: Record<string, unknown>, meta_data?: Record<string, unknown>) =>
  ({ context, session: meta_data && compileKeySession({ meta_data }, []) }) as Exchange;
const fillVariables = (text: string, of: Exchange) => compileVariables(text, services)(of);

test('variables: a text without any stays as it is', () => {
  for (const text of ['', 'a', '$', '$1 $x $gw_context $gw_context.', 'a $ gw_meta.b', '$5_000.50 $US_dollars.a'])
    assert.equal(fillVariables(text, call({}, {})), text);
});

test('variables: texts, numbers and lists are expanded, other values are empty', () => {
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
    assert.equal(fillVariables(text, of), expected, text);
  assert.equal(fillVariables('[$gw_context.a$gw_meta.a]', call()), '[]');
});

test('variables: secrets are resolved at load; a missing secret or store fails the API', () => {
  assert.equal(fillVariables('Bearer $secret_conf.key/$secret_conf.key', call()), 'Bearer k/k');
  for (const [text, reason] of Object.entries({
    '$secret_conf.other': 'the secret $secret_conf.other is missing',
    '$secret_env.PATH': 'the secret $secret_env.PATH is missing',
    '$secret_file.passwd': 'the secret $secret_file.passwd is missing',
    '$secret_vault.engine.key': 'there is no secret source "vault"',
    '$secret_consul.key': 'there is no secret source "consul"',
  }))
    assert.throws(
      () => compileVariables(text, services),
      (error: Error) => error instanceof ApiCompileError && error.message === reason,
    );
  assert.deepEqual(['$secret_env.A', '$gw_meta.secret_env.A', 'x'].map(hasSecrets), [true, false, false]);
});

test('variables: a value is not expanded again', () => {
  const of = call({ a: '$gw_meta.b $secret_conf.key $1' }, { b: 'canary' });
  assert.equal(fillVariables('$gw_context.a', of), '$gw_meta.b $secret_conf.key $1');
  assert.equal(fillVariables('$secret_conf.tricky', call({}, { a: 'canary' })), '$gw_meta.a');
});

test('variables: an escaped value cannot add headers or URL parts', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), value => {
      const of = call({ v: value });
      const header = compileVariables('a $gw_context.v', services, escapeHeaderValue)(of);
      assert.match(header, /^[ -~\x80-\xff]*$/);
      const address = compileVariables('/a/$gw_context.v?b=$gw_context.v', services, escapeUrlValue)(of);
      assert.match(address, /^\/a\/[\w.~%-]*\?b=[\w.~%-]*$/);
    }),
  );
  assert.equal(escapeHeaderValue('a\r\nX-Admin: 1'), 'a  X-Admin: 1');
  assert.equal(Buffer.from(escapeHeaderValue('é'), 'latin1').toString(), 'é');
  assert.equal(escapeUrlValue("a/../b?c=d&e#f g'"), 'a%2F..%2Fb%3Fc%3Dd%26e%23f%20g%27');
});

test('variables: a misspelt one fails the API and suggests a name', () => {
  const unservable = (text: string, reason: string, more = services) =>
    assert.throws(
      () => compileVariables(text, more),
      (error: Error) => error instanceof ApiCompileError && error.message === reason,
      text,
    );
  unservable('a $gw_contxt.path', '$gw_contxt. is not a variable: did you mean $gw_context.?');
  unservable('$gw_metta.a', '$gw_metta. is not a variable: did you mean $gw_meta.?');
  unservable('$GW_CONTEXT.path', '$GW_CONTEXT. is not a variable: did you mean $gw_context.?');
  unservable('$secrets_conf.key', '$secrets_conf. is not a variable: did you mean $secret_conf.?');
  for (const foreign of ['$other_vendor_x_meta.a', '$acmegateway_context.a', '$gw_something_else.a'])
    assert.throws(() => compileVariables(foreign, services), ApiCompileError, foreign);
  const closed = { secrets, isContextName: (name: string): boolean => name === 'path' };
  assert.equal(compileVariables('$gw_context.path', closed)(call({ path: '/a' })), '/a');
  unservable('$gw_context.pth', 'the context variable pth does not exist: did you mean path?', closed);
  unservable('$gw_context.whatever', 'the context variable whatever does not exist', closed);
});

test('secrets: one without a grant is like one that does not exist', () => {
  const isGranted = (orgId: string, name: string) => orgId === 'own' || name === 'key';
  const all = createDefinitionSecrets({ settings, redactor: createRedactor(), isGranted });
  const findSecret = (orgId: string, name: string) => all.forOrganisation(orgId).find('conf', name);
  assert.deepEqual(
    [findSecret('own', 'tricky'), findSecret('tenant', 'key'), findSecret('tenant', 'tricky')],
    ['$gw_meta.a', 'k', undefined],
  );
  assert.equal(all.find('conf', 'key'), undefined, 'nothing before an organisation is known');
  const reasonOf = (text: string) => {
    try {
      compileVariables(text, { ...services, secrets: all.forOrganisation('tenant') });
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(
    reasonOf('$secret_conf.tricky').replaceAll('tricky', 'x'),
    reasonOf('$secret_conf.nobody').replaceAll('nobody', 'x'),
  );
});
