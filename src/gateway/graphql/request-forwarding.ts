import type { Model } from '#definition/model.ts';
import { noBytes } from '../http/body.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { removeStaleHeaders } from '../transform/body-transform.ts';
import { type ReadRequests, writeRequests } from './request.ts';
import { removeUrlParameters } from './url-parameters.ts';

/** Changes a checked request to what the upstream gets. */
export type ForwardChecked = (call: Exchange, read: ReadRequests) => void;

const isGet = (call: Exchange): boolean => (call.upstreamMethod ?? call.method) === 'GET';

/** Longer query strings exceed the bounds of many servers, together with their headers. */
const maxQueryLength = 4096;

/**
 * Forwarding of checked requests: as received, or serialized again where the upstream could read another request.
 * Subscriptions by server-sent events have the method of the definition; values of a body stay in a body, because logs
 * have URLs.
 */
export function createForwarding({ subscriptionType, sseUsePost }: Model['graphql']): ForwardChecked {
  const forward: ForwardChecked = (call, read) => {
    if (!read.isRewritten) return;
    if (isGet(call)) sendAsPost(call, read);
    else rewriteBody(call, read);
  };
  if (subscriptionType !== 'sse') return forward;
  return (call, read) => {
    if (call.graphqlOperation?.type !== 'subscription' || read.isBatch) return forward(call, read);
    if (sseUsePost) return isGet(call) ? sendAsPost(call, read) : forward(call, read);
    if (isGet(call)) return read.isRewritten ? sendAsGet(call, writeQuery(call, read)) : undefined;
    const query = hasValues(read) ? undefined : writeQuery(call, read);
    return query === undefined || query.length > maxQueryLength ? forward(call, read) : sendAsGet(call, query);
  };
}

/** A document in the URL, or one that a hash in it names, for which a URL may be too short. */
function sendAsPost(call: Exchange, read: ReadRequests): void {
  rewriteBody(call, read);
  call.upstreamMethod = 'POST';
}

/** Forwards the checked parameters alone, as JSON. */
function rewriteBody(call: Exchange, read: ReadRequests): void {
  call.body.replace(writeRequests(read));
  removeStaleHeaders(call.headers);
  call.headers.set('Content-Type', 'application/json');
  call.query = removeUrlParameters(call.query);
}

/** Variables and extensions can be personal data and credentials. */
const hasValues = ({ requests }: ReadRequests): boolean =>
  requests.some(({ variables, extensions = {} }) => Object.keys(variables).length + Object.keys(extensions).length > 0);

/** Query string with the checked parameters alone (GraphQL over HTTP, section 5.3). */
function writeQuery(call: Exchange, read: ReadRequests): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(JSON.parse(writeRequests(read).toString())))
    if (value !== null) parameters.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  const kept = removeUrlParameters(call.query);
  return kept === '' ? parameters.toString() : `${kept}&${parameters}`;
}

function sendAsGet(call: Exchange, query: string): void {
  call.query = query;
  call.body.replace(noBytes);
  removeStaleHeaders(call.headers);
  call.headers.remove('content-type');
  call.upstreamMethod = 'GET';
}
