import type { OutboundClient } from '#base/http-client/client.ts';
import { addressProblems } from '#base/http-client/problems.ts';
import { isObject } from '#base/json-tree.ts';
import type { Settings } from '#base/settings.ts';
import { readBody } from '#operations/body.ts';
import { fetchFile } from '../fetch-file.ts';
import { rejectSwagger } from '../gw/documents.ts';
import { problem } from '../problems.ts';

export interface PlainDocumentServices {
  outbound: OutboundClient;
  settings: Settings;
}

export const fetchProblems = [problem.document_unavailable, ...addressProblems];

/** The plain OpenAPI document of a request body: the body itself, or what the address in `{"url": …}` serves. */
export async function readPlainDocument(
  body: unknown,
  orgId: string,
  services: PlainDocumentServices,
): Promise<Record<string, unknown>> {
  const document = await readDocument(body, orgId, services);
  rejectSwagger(document);
  return document as Record<string, unknown>;
}

/** The document of a request body, in any format of JSON or YAML. */
export const readDocument = async (body: unknown, orgId: string, services: PlainDocumentServices): Promise<unknown> =>
  isAddressOnly(body) ? fetchDocument(body.url, orgId, services) : body;

const isAddressOnly = (body: unknown): body is { url: string } =>
  isObject(body) && Object.keys(body).length === 1 && typeof body.url === 'string';

async function fetchDocument(url: string, orgId: string, services: PlainDocumentServices) {
  const { bytes, contentType } = await fetchDocumentFile(url, orgId, services);
  return readBody('document', bytes, { contentType, maxBytes: services.settings['management.max_body_bytes'] });
}

/** Fetches a description of an API by its address, within the networks that the organisation may use. */
export function fetchDocumentFile(url: string, orgId: string, { outbound, settings }: PlainDocumentServices) {
  const maxBytes = settings['management.max_body_bytes'];
  const accept = 'application/json, application/yaml;q=0.9, */*;q=0.1';
  return fetchFile(
    outbound,
    { url, orgId, audience: 'operator', maxBytes, timeoutMs: settings['apis.fetch_timeout_ms'], accept },
    status => problem.document_unavailable({ detail: { status } }),
  );
}
