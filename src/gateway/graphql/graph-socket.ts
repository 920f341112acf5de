import { isObject } from '#base/json-tree.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import type { GraphqlSocket, SocketDecision } from '../pipeline/checked-graphql.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { type MessageRefusal, takeMessageLimits } from '../pipeline/message-limits.ts';
import { refuseGraphqlRequest } from './graphql-refusals.ts';
import { isFault, readExecutedRequest } from './request.ts';
import { formatFault, listErrors, messageMembers, type SocketOptions, watchSocketKey } from './socket-messages.ts';
import { socketProtocols } from './subscriptions/socket-protocols.ts';

const keyPattern = /^[A-Za-z0-9+/]{22}==$/;

/** Upgrade to a WebSocket of an API whose operations the gateway executes: it is the server (RFC 6455, 4.2.1). */
export function acceptSocket(call: Exchange, options: SocketOptions): StepResult {
  if (call.upgrade !== 'websocket') return refuseGraphqlRequest(call, 'graphql_websockets_disallowed');
  const { headers } = call;
  if (headers.get('sec-websocket-version') !== '13' || !keyPattern.test(headers.get('sec-websocket-key') ?? ''))
    return refuseGraphqlRequest(call, 'graphql_request_invalid', 'the upgrade is no WebSocket handshake of version 13');
  if (isForeignPage(call, options))
    return refuseGraphqlRequest(
      call,
      'graphql_request_invalid',
      'a page of another origin opens a WebSocket with cookies',
    );
  const offered = headers.all('sec-websocket-protocol').flatMap(list => list.split(',').map(it => it.trim()));
  const protocol = socketProtocols.find(it => offered.includes(it));
  if (!protocol) return refuseGraphqlRequest(call, 'graphql_websocket_protocol_invalid');
  call.graphqlSocket = createGraphqlSocket(call, protocol, options);
  return undefined;
}

/**
 * True for the page of another site, whose WebSocket has the cookies of the user: browsers do not apply CORS to it
 * (RFC 6455, 10.2).
 */
function isForeignPage({ headers }: Exchange, { allowsOrigin }: SocketOptions): boolean {
  const origin = headers.get('origin');
  if (origin === undefined || headers.get('cookie') === undefined) return false;
  return URL.parse(origin)?.host !== headers.get('host')?.toLowerCase() && !allowsOrigin(origin);
}

function createGraphqlSocket(
  call: Exchange,
  protocol: GraphqlSocket['protocol'],
  options: SocketOptions,
): GraphqlSocket {
  const { settings, bounds } = options;
  const decide = (payload: unknown, refused: MessageRefusal | undefined): SocketDecision =>
    refused
      ? { kind: 'refuse', errors: [{ message: refused.message, extensions: { code: refused.code } }] }
      : checkPayload(call, payload, options);
  return {
    protocol,
    maxMessageBytes: settings['gateway.max_buffered_body_bytes'],
    maxOperations: settings['graphql.max_socket_operations'],
    pingIntervalMs: settings['graphql.socket_ping_interval_ms'],
    readMessage(text) {
      const read = parseStrictJson(Buffer.from(text), bounds.maxValues);
      const message = 'value' in read && isObject(read.value) ? read.value : undefined;
      return message && Object.keys(message).every(name => messageMembers.includes(name)) ? message : undefined;
    },
    check(payload) {
      const limited = takeMessageLimits(call);
      return limited instanceof Promise ? limited.then(it => decide(payload, it)) : decide(payload, limited);
    },
    watch: close => watchSocketKey(call, options, close),
  };
}

function checkPayload(call: Exchange, payload: unknown, { check, bounds }: SocketOptions): SocketDecision {
  const request = readExecutedRequest(payload, bounds);
  if (isFault(request)) return { kind: 'refuse', errors: [{ message: formatFault(request) }] };
  const outcome = check(call, request);
  if (outcome.kind === 'refuse') return { kind: 'refuse', errors: listErrors(outcome) };
  if (outcome.kind === 'respond') return { kind: 'respond', result: outcome.result };
  const { document, operation } = outcome;
  return { kind: 'execute', request: { document, operation, variables: request.variables } };
}
