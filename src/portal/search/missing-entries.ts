import type { Log } from '#base/log.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import type { PortalServices } from '../portal-stores.ts';
import { listDocumentEntries, listGuideEntries } from './entries.ts';
import { readDocumentProduct, toGuideOwner } from './schema.ts';

export type IndexServices = Pick<PortalServices, 'portal' | 'records'>;

const intervalMs = 60_000;

/** Indexes documents and guides that are older than the index, each in a transaction of its own. */
export async function indexMissing({ portal, records }: IndexServices): Promise<void> {
  for (let missing = await portal.search.nextMissing(); missing; missing = await portal.search.nextMissing()) {
    const next = missing;
    await records.write(() =>
      'docId' in next ? indexGuide(next.docId, portal) : indexDocument(next.documentOwner, portal),
    );
  }
}

/** Under the lock of the product, which writers of its documents hold too. */
async function indexDocument(owner: string, { products, files, search }: IndexServices['portal']): Promise<void> {
  const productId = readDocumentProduct(owner) ?? 0;
  await products.change(productId, it => it);
  const content = await files.find(owner, 'oas');
  if (content && !(await search.has(owner))) await search.replace({ owner, productId }, listDocumentEntries(content));
}

async function indexGuide(docId: number, { docs, search }: IndexServices['portal']): Promise<void> {
  const doc = await docs.change(docId, it => it);
  const owner = toGuideOwner(docId);
  if (doc && !(await search.has(owner)))
    await search.replace({ owner, productId: doc.ProductID }, listGuideEntries(doc));
}

export function startIndexing(options: IndexServices & { readonly log: Pick<Log, 'warn'> }): RepeatedWork {
  const onError = ({ message: reason }: Error) => options.log.warn({ reason }, 'search index incomplete, retrying');
  return every(intervalMs, () => indexMissing(options), { onError, runsAtStart: true, unref: true });
}
