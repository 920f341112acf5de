import type { SourceRequest } from '../../graphql/data-graph.ts';
import { bodyFromBytes, noBody } from '../../http/body.ts';
import { HeaderList } from '../../http/headers.ts';
import { isAuthority } from '../../http/request-head.ts';
import { Exchange } from '../../pipeline/exchange.ts';
import { parseLoopControls } from '../../pipeline/loops.ts';
import { ensureRequestId } from '../../pipeline/request-id.ts';
import type { UpstreamAddress } from '../../pipeline/upstream-address.ts';

/** Headers of the client that sources get: its trace. For its credentials see `buildHeaders`. */
const forwardedHeaders: readonly string[] = ['traceparent', 'tracestate'];

/** An exchange for a request to a data source, and its address with the controls of a loop. */
export interface SourceExchange {
  readonly call: Exchange;
  readonly address: UpstreamAddress;
}

/** Creates the exchange of a request to a source, on behalf of the client of the whole request. */
export function createSourceExchange(
  request: SourceRequest,
  whole: Exchange,
  credentialHeaders: readonly string[],
  upgrade: '' | 'websocket' = '',
): SourceExchange {
  const { method, path, body, address } = request;
  const controls = address.loop === '' ? undefined : parseLoopControls(request.query);
  const query = controls?.query ?? request.query;
  const call = new Exchange({
    method,
    target: query === '' ? path : `${path}?${query}`,
    path,
    query,
    host: whole.host,
    headers: buildHeaders(request, whole, credentialHeaders),
    body: body ? bodyFromBytes(body) : noBody(),
    upgrade,
    peer: { ...whole.peer, isTrusted: false },
    protocol: whole.protocol,
    clientAddress: whole.clientAddress,
    receivedAtMs: whole.receivedAtMs,
    startedAt: performance.now(),
  });
  call.api = whole.api;
  call.requestId = ensureRequestId(whole);
  call.traceId = whole.traceId;
  call.keyId = whole.keyId;
  call.previousKeyIds = whole.previousKeyIds;
  call.previousApis = whole.previousApis && [...whole.previousApis];
  call.restrictedToApiId = whole.restrictedToApiId;
  call.loopCount = whole.loopCount;
  call.maxLoops = whole.maxLoops;
  call.enforcedTimeout = whole.enforcedTimeout;
  call.innerPath = path;
  call.listenPath = whole.listenPath;
  call.rewrittenTarget = { address, path, query };
  const host = call.headers.get('host');
  if (host !== undefined && isAuthority(host)) call.upstreamHost = host;
  return { call, address: controls ? { ...address, controls } : address };
}

/**
 * Headers of a request to a source. The credential of the client goes to other APIs of the gateway, which check it, and
 * to the upstream of the API: any other server could use it against the gateway.
 */
function buildHeaders(
  { headers, address, receivesCredential }: SourceRequest,
  whole: Exchange,
  credentialHeaders: readonly string[],
): HeaderList {
  const list = new HeaderList([...headers]);
  const credentials = receivesCredential || address.loop !== '' ? credentialHeaders : [];
  if (!list.has('accept-encoding')) list.append('Accept-Encoding', 'identity');
  if (!list.has('accept')) list.append('Accept', 'application/json');
  for (const name of [...forwardedHeaders, ...credentials]) {
    const value = whole.headers.get(name);
    if (value !== undefined && !list.has(name)) list.append(name, value);
  }
  return list;
}
