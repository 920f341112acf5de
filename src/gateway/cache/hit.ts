import { Body, bodyOf, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Entry } from './entry.ts';
import { ageOf } from './request-cache-control.ts';

/** What is said again of an answer the caller has already. */
const ofUnchanged = new Set(['cache-control', 'content-location', 'date', 'etag', 'expires', 'last-modified', 'vary']);
const mark = 'x-gw-cached-response';

/** The answer that was kept, or that the caller has it already. No step sees it again. */
export function answerFrom(entry: Entry, call: Exchange, nowMs: number): GatewayResponse {
  const kept = new HeaderList(entry.headers as string[]);
  const response = isUnchanged(entry, kept, call) ? unchanged(kept) : whole(entry, kept, call.method);
  response.headers.append('Age', String(ageOf(entry, nowMs)));
  response.headers.append(mark, '1');
  response.skipsResponseSteps = true;
  return response;
}

function whole(entry: Entry, kept: HeaderList, method: string): GatewayResponse {
  const headers = new HeaderList(kept.flat.slice());
  if (entry.body.length > 0) return new GatewayResponse(entry.status, headers, bodyOf(entry.body));
  // The head of an answer says how long its body would be.
  const length = method === 'HEAD' ? kept.get('content-length') : '0';
  return new GatewayResponse(
    entry.status,
    headers,
    new Body(undefined, undefined, length === undefined ? length : Number(length)),
  );
}

function unchanged(kept: HeaderList): GatewayResponse {
  const headers = new HeaderList();
  for (const [name, value] of kept) if (ofUnchanged.has(name.toLowerCase())) headers.append(name, value);
  return new GatewayResponse(304, headers, noBody());
}

function isUnchanged({ status }: Entry, kept: HeaderList, { method, headers }: Exchange): boolean {
  if (status !== 200 || (method !== 'GET' && method !== 'HEAD')) return false;
  const tags = headers.all('if-none-match');
  if (tags.length > 0) return names(tags.join(','), kept.get('etag'));
  const since = Date.parse(headers.get('if-modified-since') ?? '');
  const changed = Date.parse(kept.get('last-modified') ?? '');
  return changed <= since;
}

const tag = /(?:W\/)?"[^"]*"|[^\s,]+/g;
/** Whether it is weak makes no difference to somebody who would get the same again. */
const strong = (text: string) => text.replace(/^W\//, '');

function names(list: string, etag: string | undefined): boolean {
  if (list.trim() === '*') return true;
  return etag !== undefined && (list.match(tag) ?? []).some(it => strong(it) === strong(etag.trim()));
}
