import type { Session } from '#access/keys/session.ts';
import type { Body } from '../http/body.ts';
import type { HeaderList } from '../http/headers.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { LimitState } from '../limits/rate.ts';
import type { UpstreamAddress } from '../proxy/load-balancer.ts';
import type { RequestSigner } from '../proxy/signer.ts';
import type { TimeoutQueue } from '../proxy/timeout-queue.ts';
import type { Api } from '../routing/api.ts';
import type { Chain } from './chain.ts';

/** What is known of the connection a call came over. */
export interface Peer {
  /** The address at the other end of the socket. */
  readonly address: string;
  /** The port it called when an API has one of its own; absent or 0 for the gateway's. */
  readonly port?: number;
  /** A proxy whose word about callers is taken. */
  readonly isTrusted?: boolean;
  readonly isTls: boolean;
  /** The name the client asked for in TLS, lower-case. */
  readonly serverName: string;
  /** The client's certificate as DER, when it showed one. */
  readonly certificate: Buffer | undefined;
}

/** A call sent elsewhere. */
export interface RewrittenTarget {
  /** Undefined: the API's own target. */
  readonly address: UpstreamAddress | undefined;
  /** Below the destination, canonical, beginning with a slash. */
  readonly path: string;
  readonly query: string;
}

/**
 * One call: what came in, what steps found out, and notes for whoever writes it down. A class for its fixed shape: it is
 * made once per call, on the busiest path there is.
 */
export class Exchange {
  method: string;
  /** As received: it decides how an answer is framed. */
  readonly receivedMethod: string;
  /** As received, for signatures and logs. */
  readonly target: string;
  /** Canonical; see `path.ts`. Steps may rewrite it on its way upstream. */
  path: string;
  query: string;
  readonly host: string;
  readonly headers: HeaderList;
  readonly body: Body;
  /** The protocol the caller wants to go on in, such as `websocket`; empty for an ordinary call. */
  readonly upgrade: string;
  readonly peer: Peer;
  /** The caller, seen through trusted proxies. */
  readonly clientAddress: string;
  readonly receivedAtMs: number;
  readonly startedAt: number;

  api: Api | undefined = undefined;
  /** The path below the listen path, beginning with a slash. */
  innerPath = '';
  /** What goes upstream in place of `path` where the listen path stays and a version was taken out; empty: nothing was. */
  pathWithoutVersion = '';
  /** The path has parameters in it and can be read in two ways: what rules say must hold for both. */
  isPathAmbiguous = false;
  /** The listen path as it was matched. */
  listenPath = '';
  pathParameters: Readonly<Record<string, string>> | undefined = undefined;
  versionName = '';
  /** An endpoint that asks for no credentials: steps that guard do nothing. */
  skipsAuth = false;

  /** As presented or derived; empty for an open API. */
  keyId = '';
  /** Whose counters it is counted in. */
  counterOwner = '';
  /** What may be shown of it. */
  keyHash = '';
  session: Session | undefined = undefined;
  /** Keys that other APIs knew it by before it was handed on: what they told the next one may depend on them. */
  previousKeyIds = '';
  /** Which of several ways in gave the session. */
  authMethod = '';
  /** Which of several alternative ways in let the caller in. */
  matchedAlternative = -1;
  /** The token a way in found to be genuine, where somebody asks for it, and what it says. */
  verifiedToken: { readonly text: string; readonly claims: Readonly<Record<string, unknown>> } | undefined = undefined;
  /** The token that scopes are looked for in and that is exchanged; empty where the call is not about one. */
  bearerToken = '';
  /** Where the call belongs among those of others; empty where nobody asked. */
  traceId = '';
  context: Record<string, unknown> | undefined = undefined;
  /** Where the call left the limits it was counted against. */
  rate: LimitState | undefined = undefined;
  quota: LimitState | undefined = undefined;

  /** The id of the API that a part of another call may not leave; empty for a call of its own. */
  restrictedToApiId = '';
  /** How many times a `gw://` address sent the call round inside the gateway. */
  loopCount = 0;
  /** How many times an API handed it to the API that serves the version asked for. */
  versionHops = 0;
  maxLoops = 0;
  checkLimitsInLoop = false;

  /** The steps of the version that serves it. */
  chain: Chain | undefined = undefined;
  /** Where it goes instead, once every step has run: `path` and `innerPath` stay what endpoint lists are matched with. */
  rewrittenTarget: RewrittenTarget | undefined = undefined;
  upstreamMethod: string | undefined = undefined;
  /** The host the upstream is told; empty: its own, or the caller's where that is kept. */
  upstreamHost = '';
  /** Headers the gateway tells upstreams by itself and here does not. Lower-case. */
  suppressedHeaders: ReadonlySet<string> | undefined = undefined;
  /** The time the upstream has, where the definition gives it one. */
  enforcedTimeout: TimeoutQueue | undefined = undefined;
  /** Signs what goes upstream. */
  sign: RequestSigner | undefined = undefined;

  /** Why it was refused: a code of `refusals.ts`. */
  errorCode = '';
  /** Added to the answer whoever gave it, as a flat list. */
  extraResponseHeaders: string[] | undefined = undefined;
  /** What goes back, once that is known. Its body is here only where the gateway held it. */
  response: GatewayResponse | undefined = undefined;
  upstreamStartedAt = 0;
  upstreamMs = 0;
  status = 0;
  responseBytes = 0;
  isRecorded = true;
  trackedPath = '';
  tags: string[] | undefined = undefined;

  /** Called when the caller has gone before the answer was complete. */
  onDisconnect: (() => void) | undefined = undefined;
  isClientDisconnected = false;

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
    this.clientAddress = init.clientAddress;
    this.receivedAtMs = init.receivedAtMs;
    this.startedAt = init.startedAt;
  }
}
