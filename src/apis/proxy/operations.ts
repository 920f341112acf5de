import { z } from 'zod';
import { readExtraAuthorities } from '#base/authority-file.ts';
import type { OutboundClient, OutboundRequest } from '#base/http-client/client.ts';
import { outboundProblem } from '#base/http-client/problems.ts';
import { maxUrlCharacters } from '#base/http-client/target.ts';
import { fieldValuePattern, tokenPattern } from '#base/http-syntax.ts';
import { parseJson } from '#base/json.ts';
import { Problem } from '#base/problems.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { canReachForeignApi, canReachOwnApi, type RouteCheckServices } from '../api/route-check.ts';
import type { Ownership } from '../owners/store.ts';
import type { GatewayCalls } from './gateway-calls.ts';
import { problem } from './problems.ts';

/** Base URL of the gateway: the configured one, or the listener of this process. */
export interface GatewayUrl {
  readonly url: string;
  /** True for the listener of this process; behind a configured address there may be other services. */
  readonly isListener: boolean;
}

interface ProxyServices extends RouteCheckServices {
  outbound: OutboundClient;
  ownership: Ownership;
  gatewayCalls: GatewayCalls;
  listGatewayUrls: () => readonly GatewayUrl[];
  /** Tests a header in which only a trusted proxy may describe the client, by its lower-case name with `-` for `_`. */
  isClientClaim: (name: string) => boolean;
}

const maxHeaders = 100;
const maxHeaderLength = 8000;
const maxResponseBytes = 5 * 1024 * 1024;

/** Headers that the gateway or the client of this request sets: framing, and the address of the caller. */
const managedHeaders = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['accept-encoding', 'forwarded', 'x-real-ip'],
]);
const managedPrefix = /^(?:proxy-|x-forwarded-)/;
/** Secrets of the installation, and explanations, which need one: guesses would count against this process. */
const secretHeaders = new Set(['x-gw-authorization', 'x-gw-explain', 'admin-auth']);
const methodsWithoutBody = ['GET', 'HEAD'];

const headerMap = z
  .record(z.string(), z.string().max(maxHeaderLength))
  .refine(map => Object.keys(map).length <= maxHeaders, `may hold at most ${maxHeaders} headers`);

export const callGateway = operation({
  surface: 'dashboard',
  noun: 'proxy',
  name: 'callGateway',
  tool: {
    name: 'gw_call_api',
    about: 'Sends one request to an API on the gateway and returns the response.',
  },
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
    problem.url_foreign,
    problem.path_foreign,
    problem.path_unknown,
    problem.too_many_calls,
    outboundProblem.unreachable,
    outboundProblem.timed_out,
    outboundProblem.too_large,
    outboundProblem.undecodable,
    outboundProblem.unknown_host,
    outboundProblem.too_busy,
  ],
  async handle({ actor, address, body: { method, url, headers = {}, body }, audit }, services: ProxyServices) {
    const target = parseGatewayUrl(url, services.listGatewayUrls());
    audit(`${method} ${target.url.origin}${target.url.pathname}`);
    const content = toContent(method, body);
    const sent = { ...content.headers, ...checkHeaders(headers, services), 'x-forwarded-for': address };
    await checkRoutes(services, actor, target);
    const response = await services.gatewayCalls.run(actor.orgId, () =>
      services.outbound.fetch({
        method,
        url: target.url.href,
        headers: sent,
        ...(content.body === undefined ? {} : { body: content.body }),
        audience: 'operator',
        timeoutMs: services.settings['apis.call_timeout_ms'],
        maxBytes: maxResponseBytes,
        ...selectGatewayTls(target.url, services.settings['management.tls.ca_file']),
      }),
    );
    const text = response.body.toString('utf8');
    return { status_code: response.status, headers: joinHeaders(response.headers), body: parseBody(text) };
  },
});

/** A gateway whose certificate is of a private authority, which `management.tls.ca_file` names. */
export function selectGatewayTls(url: URL, caFile: string): Pick<OutboundRequest, 'tls'> {
  if (url.protocol !== 'https:' || caFile === '') return {};
  try {
    return { tls: { ca: readExtraAuthorities(caFile) } };
  } catch (cause) {
    const reason = `management.tls.ca_file cannot be read (${(cause as NodeJS.ErrnoException).code})`;
    throw outboundProblem.unreachable({ detail: { host: url.host, reason }, cause });
  }
}

interface GatewayTarget {
  readonly url: URL;
  /** Paths as the gateway sees them: below each base URL of the same origin. */
  readonly paths: readonly string[];
  readonly isListener: boolean;
}

/** SSRF guard: scheme, host, port and base path are those of the gateway, which only the operator configures. */
export function parseGatewayUrl(text: string, gateways: readonly GatewayUrl[]): GatewayTarget {
  const url = URL.parse(text);
  const bases = gateways.map(gateway => ({ ...gateway, url: new URL(gateway.url).href.replace(/\/$/, '') }));
  const hasCredentials = url !== null && (url.username !== '' || url.password !== '');
  const address = url && !hasCredentials ? url.origin + url.pathname : '';
  const found = bases.filter(base => `${address}/`.startsWith(`${base.url}/`));
  const listed = [...new Set(bases.map(base => base.url))].join(' or ');
  if (!url || found.length === 0) throw problem.url_foreign({ detail: { gateways: listed } });
  const paths = [...new Set(found.map(base => address.slice(base.url.length)))];
  return { url, paths, isListener: found.some(({ isListener }) => isListener) };
}

/**
 * Rejects a path that can reach an API of another organisation or a hidden one, and at a configured address one that
 * reaches no API of the caller: it could lead to another service behind the same host.
 */
async function checkRoutes(
  services: ProxyServices,
  actor: Actor,
  { url, paths, isListener }: GatewayTarget,
): Promise<void> {
  const hidden = await services.ownership.hiddenApis(actor);
  let isReachable = isListener;
  for (const path of paths) {
    const route = { orgId: actor.orgId, host: url.hostname, path: path === '' ? '/' : path };
    if (await canReachForeignApi(services, route, hidden)) throw problem.path_foreign();
    isReachable ||= await canReachOwnApi(services, route);
  }
  if (!isReachable) throw problem.path_unknown();
}

/** Why a header of a caller is not sent to the gateway; undefined where it is. */
export function findHeaderFault(
  name: string,
  value: string,
  services: Pick<ProxyServices, 'isClientClaim' | 'settings'>,
): string | undefined {
  if (!tokenPattern.test(name)) return 'is not a header name';
  if (!fieldValuePattern.test(value)) return 'is not a header value';
  const lower = name.toLowerCase();
  if (managedHeaders.has(lower) || managedPrefix.test(lower)) return 'is set by the gateway';
  if (secretHeaders.has(lower)) return 'is not forwarded';
  const isClaim =
    services.isClientClaim(lower.replaceAll('_', '-')) ||
    lower === services.settings['analytics.country_header'].toLowerCase();
  return isClaim ? 'describes the client, which only a trusted proxy may do' : undefined;
}

function checkHeaders(headers: Readonly<Record<string, string>>, services: ProxyServices): Record<string, string> {
  const faults = Object.entries(headers).flatMap(([name, value]) => {
    const message = findHeaderFault(name, value, services);
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

/** JSON where it is JSON within the bounds of `parseJson`, whatever its media type; the text otherwise. */
function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof Problem) return text;
    throw error;
  }
}

export const proxyOperations = [callGateway];
