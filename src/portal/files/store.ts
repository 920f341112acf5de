import type { FileContent } from '#operations/body.ts';
import type { Records } from '#storage/records.ts';
import { listDocumentEntries } from '../search/entries.ts';
import { readDocumentProduct } from '../search/schema.ts';
import { createEntryStore, type EntryStore } from '../search/store.ts';

export type PortalFileStore = ReturnType<typeof createPortalFileStore>;

/**
 * Uploaded files, in the database: one in each slot (`logo`, `oas`) of an owner (`products/7`, `products/7/specs/2`).
 * Owners and slots are made of ids and fixed words, never of the name of an upload.
 */
export function createPortalFileStore(records: Records, search = createEntryStore(records)) {
  return {
    async find(owner: string, slot: string): Promise<FileContent | undefined> {
      const row = await records.db
        .selectFrom('portal_files')
        .select(['media_type', 'content'])
        .where('owner', '=', owner)
        .where('slot', '=', slot)
        .executeTakeFirst();
      return row && { mediaType: row.media_type, bytes: Buffer.from(row.content, 'base64') };
    },

    /** Slots of an owner that hold a file. */
    async listSlots(owner: string): Promise<string[]> {
      const rows = await records.db.selectFrom('portal_files').select('slot').where('owner', '=', owner).execute();
      return rows.map(({ slot }) => slot).sort();
    },

    /** Stores a file in place of the one before. */
    async put(owner: string, slot: string, file: FileContent, nowMs: number): Promise<void> {
      await records.write(async () => {
        await upsertFile(records, { owner, slot }, file, nowMs);
        await indexFile(search, owner, slot, file);
      });
    },

    /** False where there was no file. */
    async remove(owner: string, slot: string): Promise<boolean> {
      if (slot === 'oas') await search.removeOwner(owner);
      const query = records.db.deleteFrom('portal_files').where('owner', '=', owner).where('slot', '=', slot);
      return (await query.executeTakeFirst()).numDeletedRows > 0n;
    },

    /** Removes the files of an owner, and of everything below it. */
    async removeAll(owner: string): Promise<void> {
      await search.removeBelow(owner);
      await records.db
        .deleteFrom('portal_files')
        .where(({ eb, and, or }) =>
          // A range in place of LIKE: `0` follows `/`, and owners may have characters that are patterns.
          or([eb('owner', '=', owner), and([eb('owner', '>', `${owner}/`), eb('owner', '<', `${owner}0`)])]),
        )
        .execute();
    },

    /** Slots that hold a file, by their owner, of everything below an owner. */
    async listBelow(owner: string): Promise<Map<string, Set<string>>> {
      const query = records.db.selectFrom('portal_files').select(['owner', 'slot']);
      const rows = await query.where('owner', '>', `${owner}/`).where('owner', '<', `${owner}0`).execute();
      const slots = new Map<string, Set<string>>();
      for (const row of rows) slots.set(row.owner, (slots.get(row.owner) ?? new Set()).add(row.slot));
      return slots;
    },
  };
}

async function upsertFile(
  { db }: Records,
  place: { readonly owner: string; readonly slot: string },
  { mediaType, bytes }: FileContent,
  nowMs: number,
): Promise<void> {
  const content = { media_type: mediaType, content: bytes.toString('base64'), updated_at: nowMs };
  await db
    .insertInto('portal_files')
    .values({ ...place, ...content })
    .onConflict(conflict => conflict.columns(['owner', 'slot']).doUpdateSet(content))
    .execute();
}

/** Searches find the operations of OpenAPI documents. */
async function indexFile(search: EntryStore, owner: string, slot: string, content: FileContent): Promise<void> {
  const productId = slot === 'oas' ? readDocumentProduct(owner) : undefined;
  if (productId !== undefined) await search.replace({ owner, productId }, listDocumentEntries(content));
}
