import { parseMediaType } from '#base/media-type.ts';

/** Media types of GraphQL responses (GraphQL over HTTP, section 4). */
const graphqlResponseType = 'application/graphql-response+json';
const jsonType = 'application/json';
export const serverSentEventsType = 'text/event-stream';

export type GraphqlResponseMode =
  /** The status tells whether the document could be executed. */
  | 'graphql-response'
  /** `application/json` alone is accepted: every well-formed GraphQL response has 200. */
  | 'json'
  /** No preference: JSON, with the status of an error. */
  | 'any';

/** Chooses the media type by `Accept`. */
export function negotiateResponse(accept: string | undefined): GraphqlResponseMode {
  if (accept === undefined) return 'any';
  const qualities = new Map(accept.split(',').map(range => [parseMediaType(range), readQuality(range)]));
  const graphql = qualities.get(graphqlResponseType) ?? 0;
  const json = qualities.get(jsonType) ?? 0;
  if (graphql > 0 && graphql >= json) return 'graphql-response';
  return json > 0 && !qualities.has('*/*') && !qualities.has('application/*') ? 'json' : 'any';
}

/** True where server-sent events are accepted: of subscriptions alone, other operations prefer JSON. */
export const acceptsEvents = (accept: string | undefined): boolean =>
  (accept ?? '').split(',').some(range => parseMediaType(range) === serverSentEventsType && readQuality(range) > 0);

export const contentTypeOf = (mode: GraphqlResponseMode): string =>
  mode === 'graphql-response' ? `${graphqlResponseType}; charset=utf-8` : jsonType;

function readQuality(range: string): number {
  const text = /;\s*q\s*=\s*([\d.]+)/i.exec(range)?.[1];
  const quality = text === undefined ? 1 : Number(text);
  return Number.isFinite(quality) ? quality : 0;
}
