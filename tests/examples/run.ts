import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { JsonObject } from '#base/json-tree.ts';
import type { DefinitionFormat } from '#definition/facet.ts';
import type { Received, Upstream } from '../support/upstream.ts';
import { eventually } from '../support/upstream.ts';
import { type Call, type Example, endings, fileOf, readExample, textOf, type Values } from './example.ts';
import type { Place } from './place.ts';

const surfaces: Readonly<Record<DefinitionFormat, string>> = { classic: '/gw/apis', oas: '/gw/apis/oas' };
const types: Readonly<Record<DefinitionFormat, string>> = { classic: 'application/json', oas: 'application/yaml' };

export const idOf = (definition: JsonObject, format: DefinitionFormat): string =>
  format === 'classic'
    ? String(definition.api_id)
    : (definition['x-gw-api-gateway'] as { info: { id: string } }).info.id;

/** The text of a file as it can be served here: every placeholder has its value. */
export function replacePlaceholders(text: string, values: Iterable<readonly [string, string]>): string {
  let result = text;
  for (const [placeholder, value] of values) result = result.replaceAll(placeholder, value);
  return result;
}

interface Published {
  readonly name: string;
  readonly surface: string;
  readonly values?: Values;
}

async function publish(
  at: Place,
  format: DefinitionFormat,
  { name, surface, values = {} }: Published,
): Promise<string> {
  const file = fileOf(name, format);
  assert.ok(file, `there is no ${name}${endings[format]}`);
  const body = replacePlaceholders(textOf(file), [...Object.entries(values), ...at.addresses]);
  const headers = { 'content-type': types[format] };
  const { status, text } = await at.app.ask('POST', surface, { body, headers });
  assert.equal(status, 200, text);
  return idOf(readExample(file), format);
}

/** Publishes an example with what it needs, calls it, and deletes all of it. */
export async function run(at: Place, name: string, format: DefinitionFormat, example: Example): Promise<Set<string>> {
  for (const upstream of [at.upstream, at.second]) {
    upstream.answer = undefined;
    upstream.requests.length = 0;
  }
  at.upstream.answer = example.answer;
  const values = (await example.before?.(at)) ?? {};
  const ids: string[] = [];
  const surface = example.surface ?? surfaces[format];
  try {
    for (const other of example.needs ?? [])
      ids.push(await publish(at, format, { name: other, surface: surfaces[format] }));
    const id = await publish(at, format, { name, surface, values });
    ids.push(id);
    await at.app.application.waitForDataPlane();
    const named = (await example.after?.(at, id)) ?? {};
    assert.deepEqual(await at.manage('GET', `/gw/apis/${id}/status`), { api_id: id, served: true, reason: '' });
    for (const call of example.calls) await runCall(at, call, named);
    await example.afterwards?.(at, id);
    return await stepsOf(at, example, named);
  } finally {
    for (const id of ids) await at.app.ask('DELETE', `${id === ids.at(-1) ? surface : surfaces[format]}/${id}`);
    await at.app.application.waitForDataPlane();
  }
}

/** The steps that one more call goes through, as the gateway explains it. */
async function stepsOf(at: Place, { calls }: Example, values: Values): Promise<Set<string>> {
  const call = calls.findLast(({ status }) => status < 400) ?? calls.at(-1);
  if (!call) return new Set();
  const asking = { ...call, headers: { ...call.headers, 'X-Gw-Explain': at.app.credentials.gateway_secret } };
  const { headers } = await send(at, asking, values);
  const { id } = JSON.parse(String(headers['x-gw-explanation'])) as { id: string };
  const { logs } = (await at.manage('GET', `/gw/explain/${id}`)) as { logs: string };
  return new Set(logs.split('\n').map(line => String((JSON.parse(line) as { mw?: string }).mw)));
}

async function runCall(at: Place, call: Call, values: Values): Promise<void> {
  const upstream = call.elsewhere ? at.second : at.upstream;
  const once = async () => {
    const before = upstream.requests.length;
    const reply = await send(at, call, values);
    checkReply(call, reply, upstream, before);
  };
  await (call.eventually ? eventually(once) : once());
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

const replaceValues = (text: string, values: Values) =>
  text.replaceAll(/\$([A-Z]+)/g, (whole, name: string) => values[name] ?? whole);

async function send(at: Place, call: Call, values: Values): Promise<Reply> {
  const [method, address = ''] = replaceValues(call.ask, values).split(' ');
  const url = new URL(replacePlaceholders(address, at.addresses), at.app.url.gateway);
  const headers = Object.fromEntries(
    Object.entries(call.headers ?? {}).map(([name, value]) => [name, replaceValues(value, values)]),
  );
  const shown = call.withCertificate ? { cert: at.client.certPem, key: at.client.keyPem } : {};
  const options = { method, headers: { connection: 'close', ...headers }, agent: false, ...shown };
  const request =
    url.protocol === 'https:'
      ? httpsRequest(url, { ...options, rejectUnauthorized: false })
      : httpRequest(url, options);
  request.end(call.body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

function checkReply(call: Call, { status, headers, text }: Reply, upstream: Upstream, before: number): void {
  const where = JSON.stringify(call);
  assert.equal(status, call.status, `${where}: ${text}`);
  if (call.says) assert.match(text, call.says, where);
  fits(headers, call.tells, where);
  const arrived = upstream.requests.slice(before).filter(({ url }) => url !== '/health');
  if (call.reaches === null) assert.deepEqual(arrived, [], where);
  const last = arrived.at(-1) as Received;
  if (call.reaches) assert.equal(`${last?.method} ${last?.url}`, call.reaches, where);
  if (call.sees) fits(last.headers, call.sees, where);
  if (call.gets) assert.match(last.body, call.gets, where);
}

function fits(headers: IncomingMessage['headers'], wanted: Call['tells'], where: string): void {
  for (const [name, value] of Object.entries(wanted ?? {})) {
    const given = headers[name] as string | undefined;
    if (value instanceof RegExp) assert.match(given ?? '', value, `${name}: ${where}`);
    else assert.equal(given, value ?? undefined, `${name}: ${where}`);
  }
}
