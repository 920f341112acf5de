import { createHash } from 'node:crypto';
import { isObject } from '#base/json-tree.ts';
import { Lru } from '#base/lru.ts';
import { type FileContent, parseDocumentText } from '#operations/body.ts';
import type { PortalStores } from '../../portal-stores.ts';
import { toApiOwner, toProductOwner, toSpecOwner } from '../../products/removal.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { buildReference, type DocumentReference } from './api-reference.ts';

/** Larger documents are offered for download only: their pages would take the listener too long. */
const maxShownBytes = 4 * 1024 * 1024;
/** Parsed documents by the hash of their content. */
const parsed = new Lru<string, DocumentReference | null>(8);

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

/** The reference of an OpenAPI document; undefined for another document, or one that is too large. */
export function parseProductDocument({ bytes }: FileContent): DocumentReference | undefined {
  if (bytes.length > maxShownBytes) return undefined;
  const digest = createHash('sha256').update(bytes).digest('base64');
  const known = parsed.get(digest);
  if (known !== undefined) return known ?? undefined;
  const document = parseDocumentText(bytes.toString('utf8'), maxShownBytes);
  const reference = isObject(document) && !('asyncapi' in document) ? buildReference(document) : undefined;
  parsed.set(digest, reference ?? null);
  return reference;
}
