import { fieldValuePattern, tokenPattern } from '#base/http-syntax.ts';
import { bodyFromBytes, noBody } from '../http/body.ts';
import { framingHeaders, HeaderList } from '../http/headers.ts';
import { createResponse, GatewayResponse } from '../http/response.ts';
import { createEndpointMatcher, type EndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError, type Step, type StepContext, type StepReads } from '../pipeline/step.ts';
import { negotiateMediaType } from '../validation/media-types.ts';
import {
  buildMockResponses,
  chooseDefaultStatus,
  findMockResponse,
  type MockResponses,
} from '../validation/mock-responses.ts';
import { compileOpenApiDocument, rejectUnreadable } from '../validation/openapi-document.ts';
import { createOperationMatcher, type FindOperation } from '../validation/operation-matcher.ts';

type Entry = Context['version']['endpoints']['mockResponse'][number];
type MockHandler = (call: Exchange) => GatewayResponse;

type Services = Pick<PipelineServices, 'settings'>;

const reads = { endpoints: ['mockResponse'], also: { api: ['document'] } } as const satisfies StepReads;

type Context = StepContext<Services, typeof reads>;

/** Mock responses: configured ones, or examples of the OpenAPI document. */
export const mockResponseStep: Step<Services, typeof reads> = {
  name: 'mock-response',
  reads,
  build(context) {
    const find = context.model.document ? findInDocument(context) : findInList(context);
    if (!find) return undefined;
    return { request: call => find(call)?.(call) };
  },
};

/** Mocks of classic definitions, matched by path alone. */
export function createClassicMocks({ model, version, services }: Context): EndpointMatcher<MockedEndpoint> | undefined {
  if (model.document) return undefined;
  const entries = version.endpoints.mockResponse.map(entry => ({
    path: entry.path,
    method: entry.method,
    ignoreCase: entry.ignoreCase,
    respond: createLiteralMock(entry),
  }));
  return createEndpointMatcher(entries, { model, version, settings: services.settings });
}

export interface MockedEndpoint {
  readonly path: string;
  readonly method: string;
  readonly ignoreCase: boolean;
  readonly respond: MockHandler;
}

function findInList(context: Context): ((call: Exchange) => MockHandler | undefined) | undefined {
  const matcher = createClassicMocks(context);
  return matcher && (call => matcher.find(call)?.respond);
}

function findInDocument(context: Context): ((call: Exchange) => MockHandler | undefined) | undefined {
  const { model, version } = context;
  if (version.endpoints.mockResponse.length === 0) return undefined;
  const find: FindOperation<MockHandler> | undefined = rejectUnreadable(() => {
    const document = compileOpenApiDocument(model.document!);
    return createOperationMatcher(version.endpoints.mockResponse, document, context, (entry, { operation }) =>
      entry.fromExamples ? createExampleMock(entry, buildMockResponses(operation, document)) : createLiteralMock(entry),
    );
  });
  return call => {
    const found = find?.(call);
    return found === undefined || found === 'unfit' ? undefined : found.compiled;
  };
}

function createLiteralMock({ code, body, headers, path }: Entry): MockHandler {
  const bytes = Buffer.from(body);
  const sendable = Object.fromEntries(validateMockHeaders(Object.entries(headers), path));
  return () => createResponse(code || 200, sendable, bytes);
}

/** Framing headers are set by the response writer. */
function validateMockHeaders(headers: readonly (readonly [string, string])[], path: string) {
  for (const [name, value] of headers)
    if (!tokenPattern.test(name) || !fieldValuePattern.test(value))
      throw new ApiCompileError(`the mock response of ${path} has an invalid header: ${JSON.stringify(name)}`);
  return headers.filter(([name]) => !framingHeaders.has(name.toLowerCase()));
}

const codeHeader = 'x-gw-accept-example-code';
const nameHeader = 'x-gw-accept-example-name';
/** Echoed part of a client value. */
const maxEchoedLength = 200;

function createExampleMock(
  { exampleCode, exampleContentType, exampleName, path }: Entry,
  replies: MockResponses,
): MockHandler {
  const sendable = new Map(
    [...replies.values()].map(it => [
      it,
      { flat: validateMockHeaders(toPairs(it.headers), path).flat(), types: [...it.media.keys()] },
    ]),
  );
  const defaultCode = String(exampleCode || chooseDefaultStatus(replies));
  return call => {
    const requestedCode = call.headers.get(codeHeader) || defaultCode;
    if (!/^[2-5]\d\d$/.test(requestedCode)) return refuse(call, 'mock_code_invalid');
    const code = Number(requestedCode);
    const reply = findMockResponse(replies, code);
    if (!reply) return refuse(call, 'mock_unknown', { what: `code ${code}` });
    const { flat, types } = sendable.get(reply)!;
    const headers = new HeaderList(flat.slice());
    if (reply.media.size === 0) return new GatewayResponse(code, headers, noBody());
    const accept = call.headers.get('accept') || '*/*';
    const type = selectType(accept, types, exampleContentType);
    if (type === undefined)
      return refuse(call, 'mock_unknown', { what: `content type ${accept.slice(0, maxEchoedLength)}` });
    const { defaultBody: usual, named } = reply.media.get(type)!;
    const name = call.headers.get(nameHeader) || exampleName;
    const bytes = name === '' || !named ? usual : named.get(name);
    if (!bytes) return refuse(call, 'mock_unknown', { what: `example name ${name.slice(0, maxEchoedLength)}` });
    headers.flat.push('Content-Type', type);
    return new GatewayResponse(code, headers, bodyFromBytes(bytes));
  };
}

/** Without a preference: the configured type, else JSON, else the first. */
function selectType(accept: string, types: readonly string[], configured: string): string | undefined {
  if (accept !== '*/*') return negotiateMediaType(accept, types, configured || 'application/json');
  if (configured !== '') return types.includes(configured) ? configured : undefined;
  return types.includes('application/json') ? 'application/json' : types[0];
}

const toPairs = (flat: readonly string[]): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
