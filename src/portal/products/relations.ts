import { partnersOf } from '../join-table-store.ts';
import type { PortalServices, PortalStores } from '../portal-stores.ts';
import type { Reference } from '../shapes.ts';
import { type ProductChange, type ProductRelations, type StoredProduct, toProductView } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'clock'>;

/** Catalogues, tags and client types of a product, which join tables hold. */
async function readRelations(
  productId: number,
  { catalogues, productTags, tags, clientTypes }: PortalStores,
): Promise<ProductRelations> {
  const names = (found: ReadonlyMap<number, { Name: string }>) => [...found.values()].map(({ Name }) => Name);
  const catalogueIds = partnersOf(await catalogues.products.leftOf([productId]), productId);
  const tagIds = partnersOf(await productTags.leftOf([productId]), productId);
  const typeIds = partnersOf(await clientTypes.products.leftOf([productId]), productId);
  return {
    catalogues: names(await catalogues.byIds(catalogueIds)),
    tags: names(await tags.byIds(tagIds)),
    clientTypes: names(await clientTypes.byIds(typeIds)),
  };
}

export const loadProductView = async (product: StoredProduct, { portal }: Pick<PortalServices, 'portal'>) =>
  toProductView(product, await readRelations(product.ID, portal));

/** Ids by kind; undefined where the body has none of the kind, and nothing changes. */
interface RelationIds {
  readonly catalogues: readonly number[] | undefined;
  readonly tags: readonly number[] | undefined;
  readonly clientTypes: readonly number[] | undefined;
}

const toIds = (found: readonly { ID: number }[]) => found.map(({ ID }) => ID);

/** Resolves the relations of a body before any write; tags that do not exist are created. */
export async function resolveRelations(
  { Catalogues, Tags, Templates }: ProductChange,
  before: StoredProduct | undefined,
  { portal, clock }: Services,
): Promise<RelationIds> {
  const catalogues =
    Catalogues === undefined
      ? undefined
      : toIds(await portal.catalogues.resolveReferences(Catalogues ?? [], 'Catalogues', 'catalogue'));
  const clientTypes = await resolveClientTypes(Templates, before, portal);
  const tags =
    Tags === undefined ? undefined : await portal.tags.resolveOrCreate(Tags ?? [], 'Tags', 'tag', clock.now());
  return { catalogues, tags, clientTypes };
}

/** Client types of two OAuth providers may share a name: names that were read are written back unchanged. */
async function resolveClientTypes(
  given: readonly Reference[] | null | undefined,
  before: StoredProduct | undefined,
  portal: PortalStores,
): Promise<number[] | undefined> {
  if (given === undefined) return undefined;
  const shown = before ? (await readRelations(before.ID, portal)).clientTypes : [];
  if (JSON.stringify(given) === JSON.stringify(shown)) return undefined;
  return toIds(await portal.clientTypes.resolveReferences(given ?? [], 'Templates', 'client type'));
}

/** Writes relations in the transaction of their product. */
export async function saveRelations(
  productId: number,
  { catalogues, tags, clientTypes }: RelationIds,
  portal: PortalStores,
): Promise<void> {
  if (catalogues) await portal.catalogues.products.setLeftOf(productId, catalogues);
  if (tags) await portal.productTags.setLeftOf(productId, tags);
  if (clientTypes) await portal.clientTypes.products.setLeftOf(productId, clientTypes);
}
