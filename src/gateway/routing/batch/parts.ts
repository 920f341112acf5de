import { z } from 'zod';
import { tokenPattern, toLatin1 } from '#base/http-syntax.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { bodyFromBytes, noBody } from '../../http/body.ts';
import { framingHeaders, HeaderList } from '../../http/headers.ts';
import { type InvalidRequest, isClaimHeader } from '../../http/request-head.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { explainHeader } from '../../pipeline/explain-header.ts';
import { type CreateExchangeOptions, createExchange } from '../../server/create-exchange.ts';

const headerValue = z.string().refine(text => !/[^\P{Cc}\t]/u.test(text));

/** Relative URLs only: a part must not choose the host. */
const relativeUrl = z.string().refine(text => !/^(?:[a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(text) && !/[\s\\#]/.test(text));

const Part = z.object({
  method: z.string().nullish(),
  headers: z.record(z.string().regex(tokenPattern), headerValue).nullish(),
  body: z.string().nullish(),
  relative_url: relativeUrl,
});
export type Part = z.output<typeof Part>;

export const Batch = z.object({
  requests: z.array(Part).nullish(),
  suppress_parallel_execution: z.boolean().nullish(),
});

/** Headers that the enclosing request decides: framing, host, explanation. */
const inheritedHeaders: ReadonlySet<string> = new Set([...framingHeaders, 'host', explainHeader]);

/**
 * Exchange of one batch part, or why a listener would refuse it. Its peer is that of the enclosing request; client
 * claims inside a part are dropped even behind a trusted proxy, which only forwarded the body.
 */
export function createPartExchange(
  part: Part,
  whole: Exchange,
  options: CreateExchangeOptions,
): Exchange | InvalidRequest {
  const body = Buffer.from(part.body ?? '');
  const root = trimTrailingSlashes(whole.listenPath);
  const below = part.relative_url.startsWith('/') ? part.relative_url : `/${part.relative_url}`;
  const call = createExchange(
    {
      method: part.method || 'GET',
      target: toLatin1(root + below),
      headers: buildPartHeaders(part, whole, body.length),
      peer: { ...whole.peer, isTrusted: false },
      protocol: whole.protocol,
      mayOmitHost: true,
      body: () => (body.length > 0 ? bodyFromBytes(body) : noBody()),
    },
    { ...options, clientAddress: { isTrusted: () => false, resolve: () => whole.clientAddress } },
  );
  if (!('fault' in call)) {
    call.restrictedToApiId = whole.api!.id;
    for (const [name, value] of whole.headers)
      if (isClaimHeader(name.toLowerCase(), options.isClientClaim)) call.headers.append(name, value);
  }
  return call;
}

function buildPartHeaders(part: Part, whole: Exchange, bodyBytes: number): HeaderList {
  const own = Object.entries(part.headers ?? {}).filter(
    ([name]) => !inheritedHeaders.has(name.toLowerCase().replaceAll('_', '-')),
  );
  const host = whole.headers.get('host');
  return new HeaderList([
    ...(host === undefined ? [] : ['Host', host]),
    ...own.flatMap(([name, value]) => [name, toLatin1(value.trim())]),
    ...(bodyBytes > 0 ? ['Content-Length', String(bodyBytes)] : []),
  ]);
}
