import { createTextProblem } from './problems.ts';

/** Request as curl, a browser or a client of APIs recorded it. */
export interface RecordedRequest {
  readonly method: string;
  /** Origin of the upstream; undefined where the recording has none, such as an unresolved variable. */
  readonly origin: string | undefined;
  /** Decoded segments; a `{name}` is a parameter already. */
  readonly segments: readonly string[];
  readonly query: readonly NameValue[];
  readonly headers: readonly NameValue[];
  readonly body?: RecordedBody | undefined;
  readonly responses?: readonly RecordedResponse[] | undefined;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly tag?: string | undefined;
  readonly security?: RecordedSecurity | undefined;
}

export interface NameValue {
  readonly name: string;
  readonly value: string;
}

export interface RecordedBody {
  readonly mediaType: string;
  readonly text?: string | undefined;
  /** Fields of a form; a file has no value. */
  readonly fields?: readonly { readonly name: string; readonly value: string | undefined }[] | undefined;
}

export interface RecordedResponse {
  readonly status: number;
  readonly mediaType: string;
  readonly text?: string | undefined;
  readonly name?: string | undefined;
}

/** Credential that a request carries: its kind and place, never its value. */
export type RecordedSecurity =
  | { readonly kind: 'basic' | 'bearer' | 'none' }
  | { readonly kind: 'apiKey'; readonly in: 'header' | 'query' | 'cookie'; readonly name: string };

/** Requests of one conversion. */
export const maxRecordedRequests = 5000;

export const createRequestsProblem = () => createTextProblem(`it has more than ${maxRecordedRequests} requests`);

const maxUrlLength = 8000;

/** Splits a URL; undefined where it is none of HTTP, or too long. */
export function splitUrl(text: string): Pick<RecordedRequest, 'origin' | 'segments' | 'query'> | undefined {
  if (text.length > maxUrlLength || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  return {
    origin: url.origin,
    segments: url.pathname.split('/').slice(1).map(decodeSegment),
    query: [...url.searchParams].map(([name, value]) => ({ name, value })),
  };
}

/** Percent-decoding; a segment that is not UTF-8, or holds a slash, stays as it is. */
export function decodeSegment(segment: string): string {
  try {
    const decoded = decodeURIComponent(segment);
    return decoded.includes('/') ? segment : decoded;
  } catch {
    return segment;
  }
}
