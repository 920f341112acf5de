import type { Settings } from '#base/settings.ts';
import { findKeyWatch } from '../auth/key-watch.ts';
import { createScopeReader } from '../auth/scopes.ts';
import type { AuthServices } from '../auth/services.ts';
import { noBytes } from '../http/body.ts';
import { createOriginTest } from '../http/origin-test.ts';
import { createResponse, type GatewayResponse } from '../http/response.ts';
import type { CheckedGraphqlRequest } from '../pipeline/checked-graphql.ts';
import type { Exchange, StepHooks, StepResult } from '../pipeline/exchange.ts';
import { ApiCompileError, type Step, type StepContext, type StepReads } from '../pipeline/step.ts';
import { removeStaleHeaders } from '../transform/body-transform.ts';
import { ContentCodingError, decodeContent, decompressionBounds, isEncoded } from '../transform/content-coding.ts';
import { compileApiSchema } from './api-schema.ts';
import { type CheckOutcome, createOperationChecker, type OperationChecker, type Refused } from './checker.ts';
import { acceptSocket } from './graph-socket.ts';
import { refuseDocument, refuseGraphqlRequest } from './graphql-refusals.ts';
import { acceptsEvents, contentTypeOf, negotiateResponse } from './media-types.ts';
import { summarizeOperation } from './operation-summary.ts';
import { createPlanSize } from './plan-size.ts';
import { findPlaygroundPath } from './playground.ts';
import {
  isFault,
  type ReadRequests,
  type RequestBounds,
  type RequestFault,
  readBodyRequest,
  readQueryRequest,
} from './request.ts';
import { createForwarding } from './request-forwarding.ts';
import { openSocket, type SocketOptions } from './socket-messages.ts';
import { createStreamWatch } from './stream-watch.ts';
import { createTrustedDocuments } from './trusted-documents.ts';

type Services = Pick<AuthServices, 'settings' | 'clock' | 'keyCache' | 'oauthTokens' | 'log'>;

const reads = { api: ['graphql'], also: { api: ['oauth2', 'cors'] } } as const satisfies StepReads;

/** Nested selections, lists and objects of a document: the parser recurses. */
const maxNesting = 200;

/** Of supergraphs whose definition has none: planning takes longer with each level. */
const defaultSupergraphDepth = 15;

/** Modes whose operations the gateway executes itself. */
const executedModes: ReadonlySet<string> = new Set(['executionEngine', 'supergraph']);

/** GraphQL proxy: only operations that are valid for the schema and allowed for the client reach the upstream. */
export const graphqlStep: Step<Services, typeof reads> = {
  name: 'graphql',
  reads,
  build: buildGraphqlProxy,
};

function buildGraphqlProxy(context: StepContext<Services, typeof reads>): StepHooks | undefined {
  const { settings } = context.services;
  const { graphql } = context.model;
  if (!graphql.enabled) return undefined;
  const check = createChecker(context);
  const bounds: RequestBounds = {
    maxValues: settings['gateway.max_body_values'],
    maxDocumentBytes: settings['graphql.max_document_bytes'],
    maxBatchOperations: settings['graphql.max_batch_operations'],
    trustedDocuments: createTrustedDocuments(graphql.trustedDocumentsMode, graphql.trustedDocuments),
  };
  const decompression = decompressionBounds(settings);
  const isExecuted = executedModes.has(graphql.executionMode);
  const checkAll = (call: Exchange, read: ReadRequests) => checkRequests(call, read, check, settings, isExecuted);
  const forward = createForwarding(graphql);
  const socket = createSocketOptions(context, check, bounds);

  const checkBody = (call: Exchange, bytes: Buffer): StepResult => {
    const read = readBodyRequest(call, bytes, bounds);
    if (isFault(read)) return refuseRead(call, read);
    const response = checkAll(call, read);
    if (!response && !isExecuted) forward(call, read);
    return response;
  };

  async function readAndCheck(call: Exchange, coding: string | undefined): Promise<StepResult> {
    const bytes = await call.body.read(decompression.maxBytes);
    if (!isEncoded(coding)) return checkBody(call, bytes);
    try {
      call.body.replace(await decodeContent(bytes, coding, decompression));
    } catch (error) {
      if (!(error instanceof ContentCodingError)) throw error;
      return refuseGraphqlRequest(call, 'graphql_request_invalid', error.message);
    }
    removeStaleHeaders(call.headers);
    return checkBody(call, call.body.bytes ?? noBytes);
  }

  return {
    ...createStreamWatch(socket),
    request(call) {
      if (call.upgrade !== '') return isExecuted ? acceptSocket(call, socket) : openSocket(call, socket);
      const method = call.upstreamMethod ?? call.method;
      if (method === 'GET') {
        const read = readQueryRequest(call, bounds);
        if (isFault(read)) return refuseRead(call, read);
        const response = checkAll(call, read);
        if (!response && !isExecuted) forward(call, read);
        return response;
      }
      if (method === 'OPTIONS' && call.body.isEmpty && !isExecuted) return undefined;
      if (method !== 'POST') return refuseMethod(call, isExecuted ? 'GET, POST' : 'GET, POST, OPTIONS');
      const coding = call.headers.get('content-encoding');
      if (call.body.stream || isEncoded(coding)) return readAndCheck(call, coding);
      return checkBody(call, call.body.bytes ?? noBytes);
    },
  };
}

function createSocketOptions(
  { model, services }: StepContext<Services, typeof reads>,
  check: OperationChecker,
  bounds: RequestBounds,
): SocketOptions {
  const { id: apiId, orgId } = model.identity;
  const { subscriptionType } = model.graphql;
  const keyWatch = findKeyWatch(services);
  const origins = createOriginTest(model.cors.enabled ? model.cors.allowedOrigins : []);
  const allowsOrigin = (origin: string) => !origins.isAny && origins.has(origin);
  return { apiId, orgId, subscriptionType, check, bounds, settings: services.settings, keyWatch, allowsOrigin };
}

function createChecker({ model, services: { settings } }: StepContext<Services, typeof reads>): OperationChecker {
  const { graphql, identity } = model;
  if (graphql.playgroundEnabled && findPlaygroundPath(graphql) === '/')
    throw new ApiCompileError('the path of the GraphQL playground is that of the API');
  const { compiled, guards, supergraphTypes } = compileApiSchema(graphql);
  const ownMaxDepth = graphql.maxQueryDepth || settings['graphql.max_query_depth'];
  return createOperationChecker(
    {
      compiled,
      guards,
      guardedTypes: supergraphTypes ?? compiled,
      readScopes: createScopeReader(model.oauth2),
      bounds: {
        maxTokens: settings['graphql.max_tokens'],
        maxNesting,
        maxFields: settings['graphql.max_fields'],
        maxAliases: graphql.maxAliases || settings['graphql.max_aliases'],
        maxDirectives: graphql.maxDirectives || settings['graphql.max_directives'],
      },
      findPlanExcess: supergraphTypes && createPlanSize(supergraphTypes, settings['graphql.max_planned_selections']),
      maxDepth: ownMaxDepth || (supergraphTypes ? defaultSupergraphDepth : 0),
      maxCost: graphql.maxCost || settings['graphql.max_cost'],
      defaultListSize: graphql.defaultListSize || settings['graphql.default_list_size'],
      isIntrospectionDisabled: graphql.introspectionDisabled,
      apiId: identity.id,
    },
    settings,
  );
}

/** Checks every operation before one is forwarded. A batch that needs only the schema is answered as a batch. */
function checkRequests(
  call: Exchange,
  read: ReadRequests,
  check: OperationChecker,
  settings: Settings,
  isExecuted: boolean,
): StepResult {
  const results: string[] = [];
  const checked: CheckedGraphqlRequest[] = [];
  for (const request of read.requests) {
    const outcome = check(call, request);
    if (outcome.kind === 'refuse') return refuseOutcome(call, outcome, settings);
    call.graphqlOperation ??= summarizeOperation(outcome.operation);
    if (isUnsafeGet(call, outcome)) return refuseMethod(call, 'POST');
    if (outcome.kind === 'respond') results.push(outcome.result);
    const { document, operation } = outcome;
    if (isExecuted && operation.type === 'subscription' && (read.isBatch || !acceptsEvents(call.headers.get('accept'))))
      return refuseGraphqlRequest(call, 'graphql_request_invalid', subscriptionHint);
    checked.push({ document, operation, variables: request.variables });
  }
  if (results.length === read.requests.length) return respondLocally(call, results, read.isBatch);
  if (isExecuted) call.graphqlRequests = { requests: checked, isBatch: read.isBatch };
  else dropPersistedHash(call, read);
  return undefined;
}

const subscriptionHint = 'a subscription needs Accept: text/event-stream or a WebSocket, and no batch';

const isUnsafeGet = (call: Exchange, outcome: Exclude<CheckOutcome, Refused>) =>
  outcome.operation.type === 'mutation' && (call.upstreamMethod ?? call.method) === 'GET';

function respondLocally(call: Exchange, results: readonly string[], isBatch: boolean): GatewayResponse {
  const type = contentTypeOf(negotiateResponse(call.headers.get('accept')));
  return createResponse(200, { 'Content-Type': type }, isBatch ? `[${results.join(',')}]` : results[0]!);
}

/** A GET request keeps its URL; a hash in it could name another document at the upstream. */
function dropPersistedHash(call: Exchange, { requests: [first] }: ReadRequests): void {
  if ((call.upstreamMethod ?? call.method) !== 'GET' || !first?.extensions || !('persistedQuery' in first.extensions))
    return;
  call.query = call.query
    .split('&')
    .filter(part => !new URLSearchParams(part).has('extensions'))
    .join('&');
}

/** Document errors follow the media type that the client accepts; denials have a status of their own. */
function refuseOutcome(call: Exchange, { code, errors }: Refused, settings: Settings): GatewayResponse {
  if (!errors) return refuseGraphqlRequest(call, code);
  const isDocumentError = code === 'graphql_invalid' || code === 'graphql_limit_exceeded';
  return refuseDocument(call, code, errors, isDocumentError ? settings['graphql.document_error_status'] : '400');
}

function refuseRead(call: Exchange, { code, detail }: RequestFault): GatewayResponse {
  if (code !== 'graphql_document_unknown') return refuseGraphqlRequest(call, code, detail);
  // The answer that clients of automatic persisted queries expect.
  const error = { message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } };
  return refuseDocument(call, code, [error]);
}

function refuseMethod(call: Exchange, allow: string): GatewayResponse {
  const refusal = refuseGraphqlRequest(call, 'graphql_method_not_allowed');
  refusal.headers.set('Allow', allow);
  return refusal;
}
