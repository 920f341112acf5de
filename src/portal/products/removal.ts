import type { PortalStores } from '../portal-stores.ts';
import type { StoredProduct } from './schema.ts';

/** Owners of files in the file store: a product, one of its APIs, one of its specifications. */
export const toProductOwner = (productId: number): string => `products/${productId}`;
export const toApiOwner = (productId: number, apiId: string): string =>
  `${toProductOwner(productId)}/apis/${encodeURIComponent(apiId)}`;
export const toSpecOwner = (productId: number, specId: number): string =>
  `${toProductOwner(productId)}/specs/${specId}`;

/** Removes the rows of a product, inside a transaction. */
export async function removeProduct(
  id: number,
  { catalogues, products, files, docs, changelog, proposals, productTags, clientTypes, search }: PortalStores,
): Promise<void> {
  await catalogues.products.setLeftOf(id, []);
  await productTags.setLeftOf(id, []);
  await clientTypes.products.setLeftOf(id, []);
  await docs.removeOfProduct(id);
  await changelog.removeOfProduct(id);
  await proposals.removeOfProduct(id);
  await files.removeAll(toProductOwner(id));
  await search.removeOfProduct(id);
  await products.remove(id);
}

/** Removes the files of specifications and APIs that a change leaves out: an API may return, without them. */
export async function removeDroppedFiles(
  before: StoredProduct,
  after: StoredProduct,
  { files }: Pick<PortalStores, 'files'>,
): Promise<void> {
  const kept = new Set(after.SpecDetails.map(({ ID }) => ID));
  for (const { ID } of before.SpecDetails) if (!kept.has(ID)) await files.removeAll(toSpecOwner(before.ID, ID));
  const apis = new Set(after.APIDetails.map(({ APIID }) => APIID));
  for (const { APIID } of before.APIDetails) if (!apis.has(APIID)) await files.removeAll(toApiOwner(before.ID, APIID));
}
