import type { Model } from '#definition/model.ts';
import { noBytes } from '../http/body.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { removeStaleHeaders } from '../transform/body-transform.ts';
import { type ReadRequests, writeRequests } from './request.ts';
import { removeUrlParameters } from './url-parameters.ts';

/** Changes a checked request to what the upstream gets. */
export type ForwardChecked = (call: Exchange, read: ReadRequests) => void;

const isGet = (call: Exchange): boolean => (call.upstreamMethod ?? call.method) === 'GET';

/**
 * Forwarding of checked requests: as received, or anew where the upstream could read another request. Subscriptions by
 * server-sent events have the method of the definition.
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
    if (!sseUsePost) return isGet(call) && !read.isRewritten ? undefined : sendAsGet(call, read);
    return isGet(call) ? sendAsPost(call, read) : forward(call, read);
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

/** Forwards the checked parameters alone, in the URL (GraphQL over HTTP, section 5.3). */
function sendAsGet(call: Exchange, read: ReadRequests): void {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(JSON.parse(writeRequests(read).toString())))
    if (value !== null) parameters.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  const kept = removeUrlParameters(call.query);
  call.query = kept === '' ? parameters.toString() : `${kept}&${parameters}`;
  call.body.replace(noBytes);
  removeStaleHeaders(call.headers);
  call.headers.remove('content-type');
  call.upstreamMethod = 'GET';
}
