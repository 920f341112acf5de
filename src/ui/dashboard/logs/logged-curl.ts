import { toCurl } from '../../kit/curl.ts';
import { hideInBody, hideParameters, toPlaceholder } from '../../kit/hide-credentials.ts';
import { decodeRecorded } from './decode-recorded.ts';
import type { TailedRequest } from './log-filters.ts';

/** Headers that a copy of the request keeps: none of them is a credential. */
const keptHeaders = new Set(['accept', 'accept-language', 'content-type', 'if-match', 'if-none-match', 'range']);
/** Mask that records have in place of a credential. */
const mask = '***';

interface RecordedRequest {
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/**
 * Command that repeats a logged request. Credentials are placeholders: those that the record masks, and values with the
 * name of one. A body is included where the record has all of it. `origin` is that of the API: the host of a record has
 * no port.
 */
export function toLoggedCurl(call: TailedRequest, hasKey: boolean, origin: string): string {
  const recorded = parseRecorded(call.raw_request ?? '');
  const masked = recorded.headers.filter(([, value]) => value === mask).map(([name]) => [name, toPlaceholder(name)]);
  const kept = recorded.headers.filter(([name, value]) => value !== mask && keptHeaders.has(name.toLowerCase()));
  const key = hasKey && masked.length === 0 ? [['Authorization', '<key>']] : [];
  const isWhole = recorded.body !== '' && new TextEncoder().encode(recorded.body).length === call.content_length;
  return toCurl({
    method: call.method,
    url: `${origin}${call.raw_path}${recorded.query && `?${hideParameters(recorded.query)}`}`,
    headers: Object.fromEntries([...kept, ...masked, ...key]),
    ...(isWhole ? { text: hideInBody(recorded.body) } : {}),
  });
}

function parseRecorded(encoded: string): RecordedRequest {
  const [head = '', ...rest] = decodeRecorded(encoded).split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = fields.map(field => {
    const end = field.indexOf(':');
    return [field.slice(0, end), field.slice(end + 1).trim()] as const;
  });
  return { query: /^\S+ [^?\s]*\?(\S*)/.exec(line)?.[1] ?? '', headers, body: rest.join('\r\n\r\n') };
}
