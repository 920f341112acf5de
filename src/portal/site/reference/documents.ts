import type { PortalStores } from '../../portal-stores.ts';
import { toApiOwner, toProductOwner, toSpecOwner } from '../../products/removal.ts';
import type { StoredProduct } from '../../products/schema.ts';

/** Document of a product: of one of its APIs, or a specification of its own. */
export interface ProductDocument {
  /** Segment of its address: id of the API, or alias of the specification. */
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly slot: 'oas' | 'graphql';
  /** Path of the API at the gateway; undefined for a specification. */
  readonly listenPath: string | undefined;
  /** A GraphQL API without an uploaded schema, which the gateway can be asked for. */
  readonly isLive: boolean;
}

/** Documents of a product, those of its APIs first. */
export async function listProductDocuments(
  product: StoredProduct,
  { files }: Pick<PortalStores, 'files'>,
): Promise<ProductDocument[]> {
  const subjects = [
    ...product.APIDetails.map(({ APIID, Name, ChosenName, ListenPath, APIType }) => ({
      id: APIID,
      name: ChosenName || Name,
      owner: toApiOwner(product.ID, APIID),
      listenPath: ListenPath,
      isGraphql: APIType.toLowerCase() === 'graphql',
    })),
    ...product.SpecDetails.map(({ ID, SpecAlias, Name }) => ({
      id: SpecAlias,
      name: Name || SpecAlias,
      owner: toSpecOwner(product.ID, ID),
      listenPath: undefined,
      isGraphql: false,
    })),
  ];
  if (subjects.length === 0) return [];
  const slots = await files.listBelow(toProductOwner(product.ID));
  return subjects.flatMap(({ isGraphql, ...subject }): ProductDocument[] => {
    const slot = (['oas', 'graphql'] as const).find(it => slots.get(subject.owner)?.has(it));
    if (slot) return [{ ...subject, slot, isLive: false }];
    return isGraphql ? [{ ...subject, slot: 'graphql', isLive: true }] : [];
  });
}
