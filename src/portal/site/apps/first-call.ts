import { parseProductDocument } from '../../files/parsed-document.ts';
import type { StoredProduct } from '../../products/schema.ts';
import type { SiteServices } from '../page.ts';
import { listProductDocuments } from '../reference/documents.ts';
import { findGatewayBase, getAuthHeader } from '../reference/gateway-base.ts';

/** Call of an API, without the key. */
export interface FirstCall {
  readonly url: string;
  readonly header: string;
}

/** Paths without parameters that need no quotes in a shell: a document must not end the command. */
const plainPath = /^\/[\w.~/-]*$/;

/** Path of the first operation of the document of an API that can be called as it is; empty without one. */
async function findCallPath(product: StoredProduct, apiId: string, { portal }: SiteServices): Promise<string> {
  const documents = await listProductDocuments(product, portal);
  const chosen = documents.find(({ id, slot, isLive }) => id === apiId && slot === 'oas' && !isLive);
  const content = chosen && (await portal.files.find(chosen.owner, chosen.slot));
  const operations = (content && parseProductDocument(content))?.operations ?? [];
  const callable = operations.find(
    ({ method, path, parameters }) =>
      method.toUpperCase() === 'GET' && plainPath.test(path) && !parameters.some(({ isRequired }) => isRequired),
  );
  return callable?.path ?? '';
}

/** Call of the first API of a product; undefined where the gateway is not known. */
export async function findFirstCall(
  product: StoredProduct | undefined,
  services: SiteServices,
): Promise<FirstCall | undefined> {
  const api = product?.APIDetails[0];
  const { url, isKnown } = product ? await findGatewayBase(product, services) : { url: '', isKnown: false };
  if (!product || !api || !isKnown) return undefined;
  const base = url.replace(/\/$/, '') + api.ListenPath;
  const path = await findCallPath(product, api.APIID, services);
  return { url: path ? base.replace(/\/$/, '') + path : base, header: getAuthHeader(product, api.APIID) };
}
