import type { OutboundClient } from '#base/http-client/client.ts';
import { outboundProblem } from '#base/http-client/problems.ts';
import { isObject } from '#base/json-tree.ts';
import type { Settings } from '#base/settings.ts';
import { readBody } from '#operations/body.ts';
import { rejectSwagger } from '../gw/documents.ts';
import { problem } from '../problems.ts';

export interface PlainDocumentServices {
  outbound: OutboundClient;
  settings: Settings;
}

const fetchTimeoutMs = 15_000;
const maxFetchRedirects = 3;

/** Problems of a file that is named by its address. */
export const addressProblems = [
  outboundProblem.bad_url,
  outboundProblem.bad_scheme,
  outboundProblem.credentials_in_url,
  outboundProblem.refused_address,
  outboundProblem.unreachable,
  outboundProblem.too_large,
];
export const fetchProblems = [problem.document_unavailable, ...addressProblems];

/** The plain OpenAPI document of a request body: the body itself, or what the address in `{"url": …}` serves. */
export async function readPlainDocument(
  body: unknown,
  orgId: string,
  services: PlainDocumentServices,
): Promise<Record<string, unknown>> {
  const document = isAddressOnly(body) ? await fetchDocument(body.url, orgId, services) : body;
  rejectSwagger(document);
  return document as Record<string, unknown>;
}

const isAddressOnly = (body: unknown): body is { url: string } =>
  isObject(body) && Object.keys(body).length === 1 && typeof body.url === 'string';

async function fetchDocument(url: string, orgId: string, { outbound, settings }: PlainDocumentServices) {
  const maxBytes = settings['management.max_body_bytes'];
  const { status, headers, body } = await outbound.fetch({
    url,
    orgId,
    audience: 'operator',
    headers: { accept: 'application/json, application/yaml;q=0.9, */*;q=0.1' },
    timeoutMs: fetchTimeoutMs,
    maxRedirects: maxFetchRedirects,
    maxBytes,
  });
  if (status !== 200) throw problem.document_unavailable({ detail: { status } });
  const contentType = headers['content-type'];
  return readBody('document', body, {
    contentType: typeof contentType === 'string' ? contentType : undefined,
    maxBytes,
  });
}
