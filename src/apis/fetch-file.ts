import type { OutboundClient } from '#base/http-client/client.ts';
import type { Audience } from '#base/http-client/target.ts';
import type { Problem } from '#base/problems.ts';

export interface FileRequest {
  readonly url: string;
  readonly orgId: string;
  /** `visitor` refuses loopback and private networks. */
  readonly audience: Audience;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly accept?: string;
}

export interface FetchedFile {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
}

/** Redirects by audience: none for addresses that are not trusted. */
const maxFetchRedirects: Readonly<Record<Audience, number>> = { operator: 3, visitor: 0 };

/** Fetches a file by its address; a status other than 200 throws the problem of `toProblem`. */
export async function fetchFile(
  outbound: OutboundClient,
  { url, orgId, audience, maxBytes, timeoutMs, accept }: FileRequest,
  toProblem: (status: number) => Problem,
): Promise<FetchedFile> {
  const { status, headers, body } = await outbound.fetch({
    url,
    orgId,
    audience,
    headers: accept === undefined ? {} : { accept },
    timeoutMs,
    maxRedirects: maxFetchRedirects[audience],
    maxBytes,
  });
  if (status !== 200) throw toProblem(status);
  const contentType = headers['content-type'];
  return { bytes: body, contentType: typeof contentType === 'string' ? contentType : undefined };
}
