import { isObject, type JsonObject } from '#base/json-tree.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Settings } from '#base/settings.ts';
import { parseStrictJson } from '#base/strict-json.ts';
import type { KeyWatch } from '../auth/key-watch.ts';
import type { Exchange, MessageCheck, MessageDecision, StepResult } from '../pipeline/exchange.ts';
import { type MessageRefusal, takeMessageLimits } from '../pipeline/message-limits.ts';
import { refusals } from '../pipeline/refusals.ts';
import type { OperationChecker, Refused } from './checker.ts';
import { refuseGraphqlRequest } from './graphql-refusals.ts';
import { isFault, type RequestBounds, type RequestFault, readSocketRequest } from './request.ts';
import { createExcessError, endOperation, isOperationId, SocketOperations } from './socket-operations.ts';
import { invalidMessageCode, socketProtocols, unauthorizedCode } from './subscriptions/socket-protocols.ts';
import { findGraphqlParameter } from './url-parameters.ts';

/** Messages without an operation. */
const passedTypes: ReadonlySet<unknown> = new Set(['connection_init', 'connection_terminate', 'ping', 'pong']);
/** Messages that end an operation: of `graphql-transport-ws`, and of the older protocol. */
const stopTypes: ReadonlySet<unknown> = new Set(['complete', 'stop']);

/**
 * Members of a message. Any other closes the socket: messages are forwarded unchanged, and parsers that ignore case
 * would read `Type` as `type`.
 */
export const messageMembers: readonly string[] = ['type', 'id', 'payload'];

/** "Service restart": clients open another socket, whose operations are checked by the rights of today. */
const rightsChangedCode = 1012;

/** Socket of an API: its checks, and the watch of its keys. */
export interface SocketOptions {
  readonly apiId: string;
  readonly orgId: string;
  readonly subscriptionType: string;
  readonly check: OperationChecker;
  readonly bounds: RequestBounds;
  readonly settings: Settings;
  readonly keyWatch: KeyWatch;
  /** Origins that CORS of the API names. */
  readonly allowsOrigin: (origin: string) => boolean;
}

/** Upgrade to a WebSocket: one of the subprotocols, and no compression, which would hide the messages. */
export function openSocket(call: Exchange, options: SocketOptions): StepResult {
  const { subscriptionType } = options;
  if (call.upgrade !== 'websocket' || subscriptionType === 'sse')
    return refuseGraphqlRequest(call, 'graphql_websockets_disallowed');
  // A server that ignores the upgrade (RFC 9110, 7.8) would execute an unchecked document.
  const inUrl = findGraphqlParameter(call.query);
  if (inUrl !== undefined) {
    const detail = `the URL of an upgrade has the parameter ${JSON.stringify(inUrl)}`;
    return refuseGraphqlRequest(call, 'graphql_request_invalid', detail);
  }
  const accepted: readonly string[] = subscriptionType === '' ? socketProtocols : [subscriptionType];
  const offered = call.headers.all('sec-websocket-protocol').flatMap(list => list.split(',').map(it => it.trim()));
  const protocols = offered.filter(it => accepted.includes(it));
  if (protocols.length === 0) return refuseGraphqlRequest(call, 'graphql_websocket_protocol_invalid');
  call.headers.set('Sec-WebSocket-Protocol', protocols.join(', '));
  call.headers.remove('sec-websocket-extensions');
  call.messageCheck = createSocketCheck(call, options);
  return undefined;
}

/**
 * Checks each operation that a client sends over a WebSocket, by the session of the upgrade request. An operation counts
 * against the limits as a request does, before its document is parsed.
 */
function createSocketCheck(call: Exchange, options: SocketOptions): MessageCheck {
  const { check, bounds, settings } = options;
  const maxOperations = settings['graphql.max_socket_operations'];
  const operations = new SocketOperations(maxOperations);
  return {
    maxMessageBytes: settings['gateway.max_buffered_body_bytes'],
    pingIntervalMs: settings['graphql.socket_ping_interval_ms'],
    onUpstreamMessage: payload => endOperation(operations, payload),
    onOpen: close => watchSocketKey(call, options, close),
    check(text, reply): MaybePromise<MessageDecision> {
      const read = parseStrictJson(Buffer.from(text), bounds.maxValues);
      if ('fault' in read || !isObject(read.value)) return { closeCode: invalidMessageCode };
      if (Object.keys(read.value).some(name => !messageMembers.includes(name)))
        return { closeCode: invalidMessageCode };
      const { type, id } = read.value;
      if (passedTypes.has(type)) return 'forward';
      if (!isOperationId(id)) return { closeCode: invalidMessageCode };
      if (stopTypes.has(type)) {
        operations.stop(id);
        return 'forward';
      }
      if (type !== 'subscribe' && type !== 'start') return { closeCode: invalidMessageCode };
      const { value } = read;
      const send = (message: object) => reply(JSON.stringify({ id, ...message }));
      if (!operations.hasPlace(id)) return refuseOperation(createExcessError(maxOperations), type, send);
      const decide = (refused: MessageRefusal | undefined) => {
        if (refused) return refuseOperation(toMessageError(refused), type, send);
        const decision = checkOperation(call, check, bounds, value, send);
        if (decision === 'forward') operations.start(id);
        return decision;
      };
      const limited = takeMessageLimits(call);
      return limited instanceof Promise ? limited.then(decide) : decide(limited);
    },
  };
}

/** Key revocation: the socket ends with its key, or when its rights change. Returns the function that ends the watch. */
export function watchSocketKey(
  call: Exchange,
  { keyWatch, apiId, orgId }: SocketOptions,
  close: (code: number) => void,
): () => void {
  const { session, skipsAuth, keyId, authMethod } = call;
  if (!session || skipsAuth) return () => undefined;
  return keyWatch.watch({
    ...{ orgId, keyId, session, authMethod, apiId },
    onAccessEnded: reason => close(reason === 'revoked' ? unauthorizedCode : rightsChangedCode),
    onSession(changed) {
      call.session = changed;
    },
  });
}

const toMessageError = ({ code, message }: MessageRefusal) => ({ message, extensions: { code } });

function refuseOperation(error: object, type: string, send: (message: object) => void) {
  send({ type: 'error', payload: type === 'start' ? error : [error] });
  return 'drop' as const;
}

function checkOperation(
  call: Exchange,
  check: OperationChecker,
  bounds: RequestBounds,
  { type, payload }: JsonObject,
  reply: (message: object) => void,
): MessageDecision {
  const isOlder = type === 'start';
  const sendErrors = (errors: readonly { readonly message: string }[]): MessageDecision => {
    reply({ type: 'error', payload: isOlder ? errors[0] : errors });
    return 'drop';
  };
  const request = readSocketRequest(payload, bounds);
  if (isFault(request)) return sendErrors([{ message: formatFault(request) }]);
  const outcome = check(call, request);
  if (outcome.kind === 'forward') return 'forward';
  if (outcome.kind === 'refuse') return sendErrors(listErrors(outcome));
  reply({ type: isOlder ? 'data' : 'next', payload: JSON.parse(outcome.result) });
  reply({ type: 'complete' });
  return 'drop';
}

export const formatFault = ({ code, detail }: RequestFault): string =>
  refusals[code].message.replace('{detail}', () => detail);
export const listErrors = ({ code, errors }: Refused) => errors ?? [{ message: refusals[code].message }];
