import type { ForwardedRequest, ForwardedResponse } from '#operations/in-process-request.ts';
import { surfaces } from '#operations/surfaces.ts';
import { problem as bodyProblem } from '../http/body.ts';
import { createClientClaims, type IsClientClaim } from '../http/client-claims.ts';
import { framingHeaders, hopByHopHeaders } from '../http/headers.ts';
import { isClaimHeader } from '../http/request-head.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { writeUnroutedResponse } from '../pipeline/respond.ts';
import type { RequestHandler, ResponseWriter } from '../pipeline/response-writer.ts';
import type { StepServices } from '../steps/step-services.ts';

/** Concurrent control API requests of one thread; more get 503, so that the RPC queue stays free for others. */
const maxConcurrentCalls = 64;
const secretCheckTimeoutMs = 10_000;
/** Bulk changes take long. */
const responseTimeoutMs = 300_000;

const { prefix, credentialHeader, extractCredential: credential, contentType, render } = surfaces.gateway;

/**
 * Proxies requests below the control API prefix to the main thread, before any API, where the setting enables it;
 * otherwise returns `next` unchanged.
 */
export function withControlApi(
  services: Pick<StepServices, 'settings' | 'rpc' | 'log'>,
  next: RequestHandler,
): RequestHandler {
  const { settings, rpc, log } = services;
  if (!settings['gateway.control_on_traffic_port']) return next;
  const isClientClaim = createClientClaims(settings['gateway.client_claim_headers']);
  const maxBodyBytes = settings['management.max_body_bytes'];
  let activeCalls = 0;

  /** Buffers the body only after the secret is verified: an unauthenticated client must not fill memory. */
  async function toForwardedRequest(call: Exchange): Promise<ForwardedRequest> {
    const { method, body, query, clientAddress: address } = call;
    const headers = listForwardedHeaders(call, isClientClaim);
    const head = { method, url: query === '' ? call.path : `${call.path}?${query}`, headers, address };
    if (body.isEmpty) return head;
    const secret = credential((call.headers.get(credentialHeader) ?? '').trim());
    if (secret === '' || !(await rpc('isGatewaySecret', { secret }, secretCheckTimeoutMs))) return head;
    try {
      return { ...head, body: await body.read(maxBodyBytes) };
    } catch (error) {
      if ((error as { code?: string }).code !== bodyProblem.too_large.code) throw error;
      // The management listener refuses the declared length with its own error.
      return { ...head, headers: [...headers, 'content-length', String(maxBodyBytes + 1)] };
    }
  }

  async function forwardCall(call: Exchange): Promise<ForwardedResponse> {
    if (activeCalls >= maxConcurrentCalls) return createUnavailableResponse('The control interface is busy; try again');
    activeCalls++;
    try {
      return await rpc('control', await toForwardedRequest(call), responseTimeoutMs);
    } catch (error) {
      if (!call.isClientDisconnected) log.warn({ reason: (error as Error).message }, 'control API request failed');
      return createUnavailableResponse('The control interface did not respond; try again');
    } finally {
      activeCalls--;
    }
  }

  return {
    handle(call, writer) {
      if (!isBelowPrefix(call.path) || call.peer.port) return next.handle(call, writer);
      void forwardCall(call).then(given => writeResponse(call, writer, given));
    },
  };
}

const isBelowPrefix = (path: string) =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');

/**
 * Without client claims, since the address is a separate field, and without framing headers, since the body is whole.
 */
function listForwardedHeaders({ headers }: Exchange, isClientClaim: IsClientClaim): string[] {
  const forwarded: string[] = [];
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (!framingHeaders.has(lower) && !isClaimHeader(lower, isClientClaim)) forwarded.push(lower, value);
  }
  return forwarded;
}

function createUnavailableResponse(message: string): ForwardedResponse {
  const body = Buffer.from(JSON.stringify(render(message)));
  return { status: 503, headers: ['content-type', contentType, 'content-length', String(body.length)], body };
}

function writeResponse(call: Exchange, writer: ResponseWriter, { status, headers, body }: ForwardedResponse): void {
  if (call.isClientDisconnected) return;
  const responseHeaders: string[] = [];
  for (let at = 0; at < headers.length; at += 2)
    if (!hopByHopHeaders.has(headers[at]!)) responseHeaders.push(headers[at]!, headers[at + 1]!);
  const hasBody = call.method !== 'HEAD' && body.length > 0;
  writeUnroutedResponse(writer, status, responseHeaders, hasBody ? body : undefined);
}
