import { toLatin1 } from '#base/http-syntax.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { bodyFromBytes, noBody } from '../../http/body.ts';
import { createClientClaims } from '../../http/client-claims.ts';
import { HeaderList } from '../../http/headers.ts';
import { canonicalizePath, isInvalidPath, pathRulesOf, splitTarget } from '../../http/path.ts';
import type { InvalidRequest } from '../../http/request-head.ts';
import { createClientAddressResolver } from '../../pipeline/client-address.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import type { Api } from '../../routing/api.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import { createExchange } from '../../server/create-exchange.ts';
import type { StepServices } from '../../steps/step-services.ts';
import type { DebugTask } from './schema.ts';

/** The debug request as an exchange, or the error of a listener for it. */
export interface BuiltRequest {
  readonly call: Exchange | InvalidRequest;
  readonly method: string;
  readonly target: string;
  readonly headers: HeaderList;
  readonly body: Buffer;
}

export function buildRequest(
  { request, address }: DebugTask,
  api: Api,
  snapshot: Snapshot,
  services: StepServices,
): BuiltRequest {
  const { settings, clock } = services;
  const paths = pathRulesOf(settings);
  const clientAddress = createClientAddressResolver(settings['gateway.trusted_proxies']);
  const isClientClaim = createClientClaims(settings['gateway.client_claim_headers']);
  const method = request.method ?? 'GET';
  const target = resolveTarget(snapshot, api.listenPath, toLatin1(request.path ?? ''), paths);
  const body = Buffer.from(request.body ?? '');
  const headers = buildHeaders(request.headers ?? {}, api.host || 'localhost', body.length);
  const peer = {
    address,
    isTrusted: clientAddress.isTrusted(address),
    isTls: false,
    serverName: '',
    certificate: undefined,
  };
  const call = createExchange(
    {
      method,
      target,
      headers,
      peer,
      mayOmitHost: false,
      body: () => (body.length > 0 ? bodyFromBytes(body) : noBody()),
    },
    { clock, paths, clientAddress, isClientClaim, limits: { maxHeaders: settings['gateway.max_headers'] } },
  );
  return { call, method, target, headers, body };
}

type Rules = Parameters<typeof canonicalizePath>[1];

/**
 * The given path is relative to the listen path. A listen path with a regex segment has no default value: then the
 * whole path must be given.
 */
function resolveTarget({ router }: Snapshot, listenPath: string, path: string, rules: Rules): string {
  const isFound = (target: string) => {
    const split = splitTarget(target);
    const path = isInvalidPath(split) ? split : canonicalizePath(split.path, rules);
    return typeof path === 'string' && router.find('', path) !== undefined;
  };
  const below = joinListenPath(listenPath, path);
  return !isFound(below) && path.startsWith('/') && isFound(path) ? path : below;
}

function joinListenPath(listenPath: string, path: string): string {
  if (path === '' || path.startsWith('?')) return listenPath + path;
  const root = trimTrailingSlashes(listenPath);
  return path.startsWith('/') ? root + path : `${root}/${path}`;
}

/** Framing headers do not apply without a connection. */
const ignoredHeaders = new Set(['content-length', 'transfer-encoding']);

function buildHeaders(given: Readonly<Record<string, string | string[]>>, host: string, bodyBytes: number): HeaderList {
  const own = Object.entries(given).filter(([name]) => !ignoredHeaders.has(name.toLowerCase()));
  const flat = own.flatMap(([name, values]) => [values].flat().flatMap(value => [name, toLatin1(value.trim())]));
  const headers = new HeaderList(flat);
  if (!headers.has('host')) headers.flat.unshift('Host', host);
  if (bodyBytes > 0) headers.append('Content-Length', String(bodyBytes));
  return headers;
}
