import type { Session } from '#access/keys/session.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { TimeoutQueue } from '#base/timeout-queue.ts';
import type { Body } from '../http/body.ts';
import type { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { ApiInfo } from './api-info.ts';
import type { CheckedGraphqlRequests, GraphqlSocket } from './checked-graphql.ts';
import type { RefusalCode } from './refusals-table.ts';
import type { RequestTrace } from './request-trace.ts';
import type { RpcMessage } from './rpc-message.ts';
import type { UpstreamAddress } from './upstream-address.ts';
import type { UpstreamFailure } from './upstream-failure.ts';

/** State of a limit after a request, as clients see it in headers. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetsAtMs: number;
  readonly periodMs: number;
}

/** Signs upstream requests (HTTP Signatures draft): adds a signature to the flat header list that is sent. */
export type RequestSigner = (headers: string[], method: string, path: string) => void;

/** Client connection of a request. */
export interface Peer {
  /** Remote address of the socket. */
  readonly address: string;
  /** Listen port of an API with its own port; absent or 0 for the port of the gateway. */
  readonly port?: number;
  /** Trusted proxy: its forwarding headers are believed. */
  readonly isTrusted?: boolean;
  readonly isTls: boolean;
  /** TLS server name (SNI), lower-case. */
  readonly serverName: string;
  /** Client certificate as DER; undefined without one. */
  readonly certificate: Buffer | undefined;
}

/** GraphQL operation, as records have it; its names are bounded. */
export interface GraphqlOperation {
  /** Empty for an operation without a name. */
  readonly name: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** Fields of the root type. */
  readonly fields: readonly string[];
}

/** Result of a URL rewrite. */
export interface RewrittenTarget {
  /** Undefined for the upstream of the API. */
  readonly address: UpstreamAddress | undefined;
  /** Below the upstream address; canonical, begins with a slash. */
  readonly path: string;
  readonly query: string;
}

/**
 * Exchange: one request with its response and the state of the steps, also what analytics records. A class for its
 * fixed shape: one is allocated per request on the hot path.
 */
export class Exchange {
  method: string;
  /** As received; decides the framing of the response. */
  readonly receivedMethod: string;
  /** As received, for signatures and logs. */
  readonly target: string;
  /** Canonical (see `path.ts`). Steps may rewrite it for the upstream. */
  path: string;
  query: string;
  readonly host: string;
  readonly headers: HeaderList;
  readonly body: Body;
  /** Requested upgrade protocol, such as `websocket`; empty without one. */
  readonly upgrade: string;
  readonly peer: Peer;
  /** `HTTP/1.1` */
  readonly protocol: string;
  /** Client address behind trusted proxies. */
  readonly clientAddress: string;
  readonly receivedAtMs: number;
  readonly startedAt: number;

  /** Empty until one is assigned or used: `request-id.ts`. */
  requestId = '';
  /** Response header that carries the id; empty for none. */
  requestIdHeader = '';
  api: ApiInfo | undefined = undefined;
  /** The path below the listen path, beginning with a slash. */
  innerPath = '';
  /** Upstream path when the listen path is kept and the version is stripped; empty otherwise. */
  pathWithoutVersion = '';
  /** Matrix parameters give the path two readings; rules must hold for both. */
  isPathAmbiguous = false;
  /** The listen path that matched. */
  listenPath = '';
  pathParameters: Readonly<Record<string, string>> | undefined = undefined;
  versionName = '';
  /** JSON-RPC message of a request to an MCP proxy. */
  rpcMessage: RpcMessage | undefined = undefined;
  /** Operation of a request to a GraphQL API: that of a batch is its first one. */
  graphqlOperation: GraphqlOperation | undefined = undefined;
  /** Endpoint without authentication: authentication and key steps do nothing. */
  skipsAuth = false;

  /** Presented or derived key id; empty for an open API. */
  keyId = '';
  /** Owner of the rate limit and quota counters. */
  counterOwner = '';
  /** Counters of the request so far, where a second chain counts it too; undefined for other requests. */
  countedNames: Set<string> | undefined = undefined;
  /** Hash of the key, safe for logs and records. */
  keyHash = '';
  session: Session | undefined = undefined;
  /** Keys of the APIs that looped the request here; their responses may depend on them. */
  previousKeyIds = '';
  /** Authentication method that provided the session. */
  authMethod = '';
  /** Index of the security requirement that matched; -1 without alternatives. */
  matchedAlternative = -1;
  /** Verified token and its claims, kept where a later step reads it. */
  verifiedToken: { readonly text: string; readonly claims: Readonly<Record<string, unknown>> } | undefined = undefined;
  /** Bearer token for scope checks and token exchange; empty without one. */
  bearerToken = '';
  /** W3C trace id; empty without tracing. */
  traceId = '';
  /** Spans of the request; undefined where traces are not exported. */
  trace: RequestTrace | undefined = undefined;
  context: Record<string, unknown> | undefined = undefined;
  /** State of the rate limit and the quota after this request. */
  rate: LimitState | undefined = undefined;
  quota: LimitState | undefined = undefined;

  /** A batch part may not leave this API; empty for a request of its own. */
  restrictedToApiId = '';
  /** Internal `gw://` redirects so far. */
  loopCount = 0;
  /** `loopCount` of the request that the client chose: above 0 for a call of a tool. */
  entryLoopCount = 0;
  /** Redirects to the API that serves the requested version. */
  versionHops = 0;
  /** APIs that passed the request on, by a loop or as base of a version; undefined without any. */
  previousApis: ApiInfo[] | undefined = undefined;
  maxLoops = 0;
  checkLimitsInLoop = false;

  /** Chain of the version that serves it. */
  chain: Chain | undefined = undefined;
  /** Rewritten target, applied after all steps: endpoint lists match the original `path` and `innerPath`. */
  rewrittenTarget: RewrittenTarget | undefined = undefined;
  upstreamMethod: string | undefined = undefined;
  /** `Host` header for the upstream; empty: its own, or that of the client where that is preserved. */
  upstreamHost = '';
  /** Lower-case names of headers the gateway adds for upstreams and a definition suppresses. */
  suppressedHeaders: ReadonlySet<string> | undefined = undefined;
  /** Timeout of the upstream, where the definition sets one. */
  enforcedTimeout: TimeoutQueue | undefined = undefined;
  /** Signs the upstream request. */
  sign: RequestSigner | undefined = undefined;

  /** Refusal code, see `refusals.ts`; empty without an error. */
  errorCode = '';
  /** Flat list of headers that are added to every response, and not stored with a cached one. */
  extraResponseHeaders: string[] | undefined = undefined;
  /** Response, once there is one. It has a body only where the gateway buffered it. */
  response: GatewayResponse | undefined = undefined;
  /** `http://host:port` of the upstream that the request was sent to; empty for none. */
  upstreamOrigin = '';
  upstreamStartedAt = 0;
  /** Until the response head of the upstream, or its failure; 0 where the request was sent to none. */
  upstreamMs = 0;
  /** Why there is no complete response of the upstream; undefined where it is not at fault. */
  upstreamFailure: UpstreamFailure | undefined = undefined;
  status = 0;
  responseBytes = 0;
  isRecorded = true;
  trackedPath = '';
  tags: string[] | undefined = undefined;

  /** Checked operations of a request to a data graph, which executes these and nothing else of the request. */
  graphqlRequests: CheckedGraphqlRequests | undefined = undefined;

  /** Accepted WebSocket of a client to a data graph; undefined for any other request. */
  graphqlSocket: GraphqlSocket | undefined = undefined;

  /** Requests to data sources so far, shared by the graphs that one request passes; undefined outside of one. */
  sourceRequests: { count: number } | undefined = undefined;

  /** Lines about what each hook of a plugin changed; undefined unless the request is explained. */
  hookChanges: string[] | undefined = undefined;

  /** Checks WebSocket messages of the client; undefined where they pass unread. */
  messageCheck: MessageCheck | undefined = undefined;
  /** Limits that count each operation in the WebSocket of an upgrade request: `message-limits.ts`. */
  messageLimits: ((call: Exchange) => MaybePromise<StepResult>)[] | undefined = undefined;

  /** Request to the upstream that follows the response: a stored response that is stale is refreshed by it. */
  background: Exchange | undefined = undefined;

  /** Called when the client disconnects before the response is complete. */
  onDisconnect: (() => void) | undefined = undefined;
  isClientDisconnected = false;
  /** Why the response is aborted: its key was revoked, or its rights changed, while it was streamed. */
  sessionEndCode: '' | 'key_inactive' | 'access_changed' = '';

  constructor(init: {
    method: string;
    target: string;
    path: string;
    query: string;
    host: string;
    headers: HeaderList;
    body: Body;
    upgrade?: string;
    peer: Peer;
    protocol?: string;
    clientAddress: string;
    receivedAtMs: number;
    startedAt: number;
  }) {
    this.method = init.method;
    this.receivedMethod = init.method;
    this.target = init.target;
    this.path = init.path;
    this.query = init.query;
    this.host = init.host;
    this.headers = init.headers;
    this.body = init.body;
    this.upgrade = init.upgrade ?? '';
    this.peer = init.peer;
    this.protocol = init.protocol ?? 'HTTP/1.1';
    this.clientAddress = init.clientAddress;
    this.receivedAtMs = init.receivedAtMs;
    this.startedAt = init.startedAt;
  }
}

/** Decision about a WebSocket message: forwarded, dropped, or the end of the connection with a close code. */
export type MessageDecision = 'forward' | 'drop' | { readonly closeCode: number };

/** Check of each text message that a client sends over a WebSocket. */
export interface MessageCheck {
  /** A longer message closes the connection. */
  readonly maxMessageBytes: number;
  /** `reply` sends a message to the client. Messages are checked one after the other. */
  check(text: string, reply: (text: string) => void): MaybePromise<MessageDecision>;
  /** Interval of Ping frames to the client, which is disconnected where it sends nothing for one; 0 for none. */
  readonly pingIntervalMs?: number;
  /** Payload of a text message of the upstream; one of more than 64 KiB is not observed. */
  onUpstreamMessage?(payload: Buffer): void;
  /** The WebSocket is open: `close` ends it with a close code. The returned function is called when it has ended. */
  onOpen?(close: (code: number) => void): () => void;
}

/** Undefined continues with the next step; a response ends the request phase. */
export type StepResult = GatewayResponse | undefined;

/** Hooks of a step for one version of an API, built when the definition is loaded. */
export interface StepHooks {
  request?(call: Exchange): MaybePromise<StepResult>;
  /** Response phase, in the same order; may change the response. */
  response?(call: Exchange, response: GatewayResponse): MaybePromise<void>;
  /** True when `response` reads the whole body: the response is then buffered, within a bound. */
  buffersResponse?(call: Exchange, response: GatewayResponse): boolean;
  /**
   * Last hook before the head of an upstream response is written, after all response hooks. May return the response to send
   * in its place, such as a stored one that a 304 validated.
   */
  finalizeResponse?(call: Exchange, response: GatewayResponse): StepResult;
  /** No response from the upstream. May return a response to send in place of the refusal. */
  replaceRefusal?(call: Exchange): StepResult;
  /** Refusal of the gateway, before error overrides: may add headers. */
  onRefusal?(call: Exchange, response: GatewayResponse): void;
  /** Body transform: changes the body of a streamed response as it passes, after all response hooks ran. */
  transformBody?(call: Exchange, response: GatewayResponse): StreamTransform | undefined;
  /** Body capture: requests a copy of the body after all response hooks ran; the response is not delayed. */
  captureBody?(call: Exchange, response: GatewayResponse): BodyCapture | undefined;
  /** Result of the upstream request. */
  onUpstreamResult?(call: Exchange, result: UpstreamResult): void;
  /** End of the exchange, whatever the outcome; also without a response. */
  onFinish?(call: Exchange): void;
}

/** Changes a streamed response body. */
export interface StreamTransform {
  /**
   * Returns the part of the body that can be written so far; undefined for none, an error to abort the response. The
   * caller may reuse the chunk.
   */
  write(chunk: Buffer): Buffer | Error | undefined;
  /** The rest of the body; undefined for nothing. */
  end(): Buffer | undefined;
}

/** Copy of a response body that streams through. */
export interface BodyCapture {
  /** A longer body is not captured. */
  readonly maxBytes: number;
  /** Called exactly once; undefined when the body was longer or incomplete. */
  complete(bytes: Buffer | undefined): void;
  /** Backpressure: the client reads more slowly than the upstream sends. Called at each pause. */
  onPause?(): void;
}

export interface UpstreamResult {
  /** 0 without a response. */
  readonly status: number;
  /** Reason when there was no response. */
  readonly failure: RefusalCode | '';
}

/** Compiled chain: the hooks of the steps that one version of an API uses, in order. */
export interface Chain extends ChainHooks {
  readonly request: readonly NonNullable<StepHooks['request']>[];
  readonly response: readonly NonNullable<StepHooks['response']>[];
  /** Step names parallel to the hooks, for tracing. */
  readonly names: { readonly request: readonly string[]; readonly response: readonly string[] };
}

/** Hooks around the upstream response that do not change it. */
interface ChainHooks {
  readonly buffersResponse: readonly NonNullable<StepHooks['buffersResponse']>[];
  readonly finalizeResponse: readonly NonNullable<StepHooks['finalizeResponse']>[];
  readonly replaceRefusal: readonly NonNullable<StepHooks['replaceRefusal']>[];
  readonly onRefusal: readonly NonNullable<StepHooks['onRefusal']>[];
  readonly transformBody: readonly NonNullable<StepHooks['transformBody']>[];
  readonly captureBody: readonly NonNullable<StepHooks['captureBody']>[];
  readonly onUpstreamResult: readonly NonNullable<StepHooks['onUpstreamResult']>[];
  readonly onFinish: readonly NonNullable<StepHooks['onFinish']>[];
}
