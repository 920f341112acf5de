import { toLatin1 } from '#base/http-syntax.ts';
import { bodyFromBytes, noBody } from '../../http/body.ts';
import { createClientClaims } from '../../http/client-claims.ts';
import { framingHeaders, HeaderList } from '../../http/headers.ts';
import { pathRulesOf } from '../../http/path.ts';
import { type InvalidRequest, isClaimHeader } from '../../http/request-head.ts';
import type { ApiInfo } from '../../pipeline/api-info.ts';
import { createClientAddressResolver } from '../../pipeline/client-address.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { explainHeader } from '../../pipeline/explain-header.ts';
import { createRequestIds, ensureRequestId } from '../../pipeline/request-id.ts';
import type { PipelineServices } from '../../pipeline/services.ts';
import { type CreateExchangeOptions, createExchange } from '../../server/create-exchange.ts';
import type { RestRequest } from './rest-request.ts';

/** Headers of the message of the client that describe its body or its transport, and are not those of the tool's request. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...framingHeaders,
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  explainHeader.toLowerCase(),
]);

/** Creates the exchange of a tool's request, or returns why a listener would refuse it. */
export type CreateToolExchange = (request: RestRequest, whole: Exchange, source: ApiInfo) => Exchange | InvalidRequest;

/**
 * Exchanges of requests that an MCP proxy sends to the REST API behind it: a loop with the headers of the client, so that
 * the API authenticates the same credentials.
 */
export function createToolExchanges({
  settings,
  clock,
}: Pick<PipelineServices, 'settings' | 'clock'>): CreateToolExchange {
  const options: CreateExchangeOptions = {
    clock,
    paths: pathRulesOf(settings),
    clientAddress: createClientAddressResolver([]),
    isClientClaim: createClientClaims(settings['gateway.client_claim_headers']),
    limits: { maxHeaders: settings['gateway.max_headers'] },
  };
  const requestIds = createRequestIds(settings);
  return (request, whole, source) => {
    const body = Buffer.from(request.body ?? '');
    const call = createExchange(
      {
        method: request.method,
        target: toLatin1(request.target),
        headers: buildHeaders(request, whole, body.length),
        peer: { ...whole.peer, isTrusted: false },
        protocol: whole.protocol,
        mayOmitHost: true,
        body: () => (body.length > 0 ? bodyFromBytes(body) : noBody()),
      },
      { ...options, clientAddress: { isTrusted: () => false, resolve: () => whole.clientAddress } },
    );
    if ('fault' in call) return call;
    // Claims of a trusted proxy about the client are those of the whole request.
    for (const [name, value] of whole.headers)
      if (isClaimHeader(name.toLowerCase(), options.isClientClaim)) call.headers.append(name, value);
    const id = ensureRequestId(whole);
    call.requestId = id;
    requestIds?.assign(call, id);
    enterLoop(call, whole, source);
    return call;
  };
}

/** State of a loop: the API before, its key, and the counts that bound loops. */
function enterLoop(call: Exchange, whole: Exchange, source: ApiInfo): void {
  call.api = whole.api;
  call.keyId = whole.keyId;
  call.previousKeyIds = whole.previousKeyIds;
  call.previousApis = whole.previousApis && [...whole.previousApis];
  call.restrictedToApiId = whole.restrictedToApiId;
  call.loopCount = whole.loopCount + 1;
  call.entryLoopCount = call.loopCount;
  call.maxLoops = whole.maxLoops;
  // A call of a tool is a request to the API as any other; counters that the message took already are not taken again.
  call.countedNames = whole.countedNames;
  call.checkLimitsInLoop = true;
  call.traceId = whole.traceId;
  call.innerPath = call.path;
  call.listenPath = source.listenPath;
  call.path = source.listenPath.replace(/\/$/, '') + call.innerPath;
}

function buildHeaders({ headers, contentType }: RestRequest, whole: Exchange, bodyBytes: number): HeaderList {
  const own = new Set(headers.map(([name]) => name.toLowerCase()));
  const kept = [...whole.headers].filter(([name]) => {
    const lower = name.toLowerCase();
    return !ownHeaders.has(lower) && !own.has(lower);
  });
  return new HeaderList([
    ...kept.flat(),
    ...headers.flat(),
    'Accept',
    'application/json, */*;q=0.5',
    'Accept-Encoding',
    'identity',
    ...(bodyBytes > 0 ? ['Content-Type', contentType ?? 'application/json', 'Content-Length', String(bodyBytes)] : []),
  ]);
}
