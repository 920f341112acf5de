import { findRight } from '#access/keys/session.ts';
import { isJsonType, parseMediaType } from '#base/media-type.ts';
import { bodyFromBytes } from '../http/body.ts';
import type { GatewayResponse } from '../http/response.ts';
import { createMcpAccessLists, type McpAccessLists } from '../mcp/access-lists.ts';
import { createEventTransform } from '../mcp/event-stream.ts';
import { filteredMethods, filterMessageText, type Visibility } from '../mcp/list-filter.ts';
import { createPrimitiveResolver } from '../mcp/primitive-names.ts';
import { createRightsCache, type McpRights } from '../mcp/rights.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { isEncoded } from '../transform/content-coding.ts';

type Services = Pick<PipelineServices, 'settings'>;

const reads = { also: 'whole definition' } as const satisfies StepReads;

/**
 * Lists of primitives and capabilities in responses, without those that the client may not use: whole JSON bodies, and
 * event streams event by event. An event stream of a GET request may repeat the response of an earlier request, so that
 * it is filtered too.
 */
export const mcpListsStep: Step<Services, typeof reads> = {
  name: 'mcp-lists',
  reads,
  build({ model, version, services }) {
    if (!model.mcp) return undefined;
    const { id } = model.identity;
    const maxBytes = services.settings['gateway.max_buffered_body_bytes'];
    const resolve = createPrimitiveResolver(model.mcp.paths);
    const lists = createMcpAccessLists(version.endpoints, model.mcp.paths, resolve);
    const compile = createRightsCache();
    /** Responses that could not be read. */
    const unreadable = new WeakSet<Exchange>();

    /** Undefined where the client may see everything. */
    function findVisibility(call: Exchange): Visibility | undefined {
      const right = call.skipsAuth || !call.session ? undefined : findRight(call.session, id);
      const rights = right && compile(right);
      if (!rights && !lists.restrictsAccess) return undefined;
      return rights ? joinVisibility(lists, rights) : lists;
    }

    const isFiltered = ({ method, rpcMessage: message }: Exchange) =>
      message ? filteredMethods.has(message.method) : method === 'GET';

    const change = (visibility: Visibility) => (data: string) => {
      const filtered = filterMessageText(data, visibility);
      if (typeof filtered === 'string') return filtered;
      // Data that is no JSON is no message.
      return filtered.reason === 'malformed' ? data : new Error('a message is nested too deeply');
    };

    return {
      request(call) {
        // A response with a content coding cannot be filtered as it streams.
        if (isFiltered(call) && findVisibility(call)) call.headers.set('Accept-Encoding', 'identity');
        return undefined;
      },
      buffersResponse: (call, response) =>
        isSuccess(response) && isJson(response) && isFiltered(call) && findVisibility(call) !== undefined,
      response(call, response) {
        const visibility = isSuccess(response) && isFiltered(call) ? findVisibility(call) : undefined;
        if (!visibility || (!isJson(response) && !isEventStream(response))) return;
        if (isEncoded(response.headers.get('content-encoding'))) unreadable.add(call);
        else if (isJson(response) && !filterBody(response, visibility)) unreadable.add(call);
      },
      finalizeResponse: call => (unreadable.has(call) ? refuse(call, 'mcp_response_unreadable') : undefined),
      transformBody(call, response) {
        if (!isSuccess(response) || !isEventStream(response) || !isFiltered(call)) return undefined;
        const visibility = findVisibility(call);
        return visibility && createEventTransform(change(visibility), maxBytes);
      },
    };
  },
};

const isSuccess = ({ status }: GatewayResponse) => status >= 200 && status < 300;
const typeOf = ({ headers }: GatewayResponse) => parseMediaType(headers.get('content-type'));
const isJson = (response: GatewayResponse) => isJsonType(typeOf(response));
const isEventStream = (response: GatewayResponse) => typeOf(response) === 'text/event-stream';

const joinVisibility = (lists: McpAccessLists, rights: McpRights): Visibility => ({
  allowsMethod: method => lists.allowsMethod(method) && rights.allowsMethod(method),
  allowsPrimitive: (type, name) => lists.allowsPrimitive(type, name) && rights.allowsPrimitive(type, name),
});

/** False for a body that cannot be read. */
function filterBody(response: GatewayResponse, visibility: Visibility): boolean {
  const { bytes } = response.body;
  if (bytes === undefined || bytes.length === 0) return true;
  const text = bytes.toString('utf8');
  const filtered = filterMessageText(text, visibility);
  if (typeof filtered !== 'string') return false;
  if (filtered !== text) response.body = bodyFromBytes(Buffer.from(filtered));
  return true;
}
