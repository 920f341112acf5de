import type { z } from 'zod';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { announceToPage } from './announcement.ts';
import type { ChangelogWrite, StoredChange } from './schema.ts';

export type EntryServices = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

const maxEntries = 2000;

/** Inside a transaction: adds an entry to the changelog of a product, and notifies the first of its subscribers. */
export async function addEntry(
  productId: number,
  { Version = '', Kind, Headline, Text = '', ReleasedAt = 0, Notify }: z.output<typeof ChangelogWrite>,
  services: EntryServices,
): Promise<StoredChange> {
  const { portal, clock } = services;
  const product = present(await portal.products.change(productId, it => it), 'Product', 'unknown');
  if ((await portal.changelog.count(productId)) >= maxEntries)
    throw problem.too_many_changes({ detail: { max: maxEntries } });
  const now = clock.now();
  const values = { ProductID: productId, Version, Kind, Headline, Text, ReleasedAt: ReleasedAt || now };
  const inserted = await portal.changelog.insert({ ...values, CreatedAt: now, UpdatedAt: now });
  if (Notify === false) return inserted;
  const announced = await announceToPage(inserted, product, services);
  await portal.changelog.change(productId, inserted.ID, () => announced);
  return announced;
}
