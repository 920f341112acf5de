import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { bodyFromBytes, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { Exchange } from '../pipeline/exchange.ts';
import { formatValue } from '../variables/format-value.ts';
import { contextVariablesStep } from './context-variables.ts';
import type { StepServices } from './step-services.ts';

const services = { settings: readSettings({}) } as StepServices;
const buildStep = (enable_context_vars: boolean) => {
  const model = classicToModel({ enable_context_vars } as ClassicDefinition);
  return contextVariablesStep.build({ model, version: model.versions[0]!, services });
};

interface Sent {
  method?: string;
  path?: string;
  query?: string;
  headers?: string[];
  body?: string;
}

async function contextOf({ method = 'GET', path = '/a/b', query = '', headers = [], body }: Sent) {
  const call = new Exchange({
    method,
    target: path,
    path,
    query,
    host: 'gateway.example',
    headers: new HeaderList(headers),
    body: body === undefined ? noBody() : bodyFromBytes(Buffer.from(body)),
    peer: { address: '10.0.0.1', isTls: false, serverName: '', certificate: undefined },
    clientAddress: '192.0.2.1',
    receivedAtMs: 0,
    startedAt: 0,
  });
  await buildStep(true)!.request!(call);
  return { context: call.context!, call };
}

test('an API without context variables collects none', () => {
  assert.equal(buildStep(false), undefined);
});

test('context variables describe path, address, id, headers, cookies and parameters of the request', async () => {
  const headers = [
    ['Host', 'api.example'],
    ['user-AGENT', 'x/1'],
    ['accept', 'a'],
    ['Accept', 'b'],
    ['X-Name', 'Z\u00c3\u00bcrich'],
    ['cookie', 'id="7"; theme=dark; theme=light; broken'],
  ].flat();
  const { context } = await contextOf({ path: '/orders/a%20b/', query: 'a-b=1&a-b=2&c=%C3%A9&d', headers });
  const { request_id, ...rest } = context;
  assert.match(String(request_id), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, formatValue(value)])), {
    path: '/orders/a b/',
    path_parts: 'orders,a b',
    remote_addr: '192.0.2.1',
    headers_Host: 'api.example',
    headers_User_Agent: 'x/1',
    headers_Accept: 'a',
    headers_X_Name: 'Zürich',
    headers_Cookie: 'id="7"; theme=dark; theme=light; broken',
    cookies_id: '7',
    cookies_theme: 'dark',
    headers: 'Host:api.example;User-Agent:x/1;Accept:a,b;X-Name:Zürich;Cookie:id="7"; theme=dark; theme=light; broken',
    request_data_a_b: '1',
    request_data_c: 'é',
    request_data_d: '',
    request_data: 'a-b:1,2;c:é;d:',
  });
});

test('form parameters win over query parameters and the form is forwarded unchanged', async () => {
  const headers = ['Content-Type', 'application/x-www-form-urlencoded; charset=utf-8'];
  const { context, call } = await contextOf({ method: 'POST', query: 'a=q&b=q', headers, body: 'a=f+1' });
  assert.deepEqual([context.request_data_a, context.request_data_b], ['f 1', 'q']);
  assert.equal(call.body.bytes?.toString(), 'a=f+1');
  const json = await contextOf({ method: 'POST', headers: ['Content-Type', 'application/json'], body: 'a=f' });
  assert.equal(json.context.request_data_a, undefined);
});

test('parameters are bounded and cannot pollute prototypes', async () => {
  const query = `__proto__=x&constructor=y&${'z=1&'.repeat(5000)}last=1`;
  const { context } = await contextOf({ query, headers: ['Cookie', '__proto__=c', '__proto__', 'h'] });
  assert.equal(context.request_data_last, undefined);
  assert.equal(formatValue(context.request_data).slice(0, 26), '__proto__:x;constructor:y;');
  assert.deepEqual([context.cookies___proto__, context.headers___proto__], ['c', 'h']);
  assert.equal(({} as Record<string, unknown>).x, undefined);
});
