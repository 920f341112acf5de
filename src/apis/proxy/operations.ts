import { z } from 'zod';
import type { OutboundClient } from '#base/http-client/client.ts';
import { outboundProblem } from '#base/http-client/problems.ts';
import { maxUrlCharacters } from '#base/http-client/target.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { type RouteCheckServices, reachesForeignApi } from '../api/route-check.ts';
import type { Ownership } from '../owners/store.ts';
import type { GatewayCalls } from './call-limit.ts';
import { problem } from './problems.ts';

interface ProxyServices extends RouteCheckServices {
  outbound: OutboundClient;
  ownership: Ownership;
  gatewayCalls: GatewayCalls;
  /** Base URLs of the gateway: the configured one, and the listener of this process. */
  listGatewayUrls: () => readonly string[];
}

const maxHeaders = 100;
const maxHeaderLength = 8000;
const maxResponseBytes = 5 * 1024 * 1024;
const callTimeoutMs = 30_000;

/** Headers that frame the message, that hold the client address, or the secret of the control API. */
const managedHeaders = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['accept-encoding', 'forwarded', 'x-real-ip', 'x-gw-authorization'],
]);
const managedPrefix = /^(?:proxy-|x-forwarded-)/;
const methodsWithoutBody = ['GET', 'HEAD'];

const headerMap = z
  .record(z.string(), z.string().max(maxHeaderLength))
  .refine(map => Object.keys(map).length <= maxHeaders, `may hold at most ${maxHeaders} headers`);

export const callGateway = operation({
  surface: 'dashboard',
  noun: 'proxy',
  name: 'callGateway',
  method: 'POST',
  path: '/api/proxy',
  about: 'Sends one request to an API on the gateway and returns the response, for pages that try an API out.',
  permission: 'apis:write',
  body: z.object({
    method: z
      .string()
      .toUpperCase()
      .pipe(z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])),
    url: z.string().max(maxUrlCharacters).describe('Absolute URL on the gateway'),
    headers: headerMap.optional(),
    body: z.unknown().optional().describe('A string is sent unchanged, anything else as JSON'),
  }),
  returns: z.object({ status_code: z.int(), headers: z.record(z.string(), z.string()), body: z.unknown() }),
  problems: [
    problem.not_a_gateway,
    problem.not_own_api,
    problem.too_many_calls,
    outboundProblem.unreachable,
    outboundProblem.timed_out,
    outboundProblem.too_large,
  ],
  async handle({ actor, address, body: { method, url, headers = {}, body }, audit }, services: ProxyServices) {
    const target = parseGatewayUrl(url, services.listGatewayUrls());
    audit(`${method} ${target.origin}${target.pathname}`);
    const content = toContent(method, body);
    const sent = { ...content.headers, ...checkHeaders(headers), 'x-forwarded-for': address };
    const hidden = await services.ownership.hiddenApis(actor);
    const route = { orgId: actor.orgId, host: target.hostname, path: target.pathname };
    if (await reachesForeignApi(services, route, hidden)) throw problem.not_own_api();
    const response = await services.gatewayCalls.run(actor.orgId, () =>
      services.outbound.fetch({
        method,
        url: target.href,
        headers: sent,
        ...(content.body === undefined ? {} : { body: content.body }),
        audience: 'operator',
        timeoutMs: callTimeoutMs,
        maxBytes: maxResponseBytes,
      }),
    );
    const text = response.body.toString('utf8');
    return { status_code: response.status, headers: joinHeaders(response.headers), body: parseBody(text) };
  },
});

/** SSRF guard: scheme, host and port are those of the gateway, which only the operator configures. */
function parseGatewayUrl(text: string, gateways: readonly string[]): URL {
  const url = URL.parse(text);
  const origins = [...new Set(gateways.map(gateway => new URL(gateway).origin))];
  if (!url || !origins.includes(url.origin) || url.username !== '' || url.password !== '')
    throw problem.not_a_gateway({ detail: { gateways: origins.join(' or ') || 'no address' } });
  return url;
}

/** Tokens and field values without control characters (RFC 9110, 5.1 and 5.5). */
const headerName = /^[!#$%&'*+.^_`|~\w-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

function findHeaderFault(name: string, value: string): string | undefined {
  if (!headerName.test(name)) return 'is not a header name';
  if (!headerValue.test(value)) return 'is not a header value';
  const isManaged = managedHeaders.has(name.toLowerCase()) || managedPrefix.test(name.toLowerCase());
  return isManaged ? 'is set by the gateway' : undefined;
}

function checkHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const faults = Object.entries(headers).flatMap(([name, value]) => {
    const message = findHeaderFault(name, value);
    return message === undefined ? [] : [{ path: `headers.${name}`, message }];
  });
  if (faults.length > 0) throw createInvalidProblem(faults);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

interface Content {
  readonly headers: Record<string, string>;
  readonly body?: string;
}

function toContent(method: string, body: unknown): Content {
  const isEmpty = body === undefined || body === null || body === '' || JSON.stringify(body) === '{}';
  if (methodsWithoutBody.includes(method)) {
    if (!isEmpty) throw createInvalidProblem([{ path: 'body', message: `must be empty with ${method}` }]);
    return { headers: {} };
  }
  if (body === undefined || body === null) return { headers: {} };
  if (typeof body === 'string') return { headers: {}, body };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

const joinHeaders = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  );

/** JSON where it is JSON, whatever its media type; the text otherwise. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const proxyOperations = [callGateway];
