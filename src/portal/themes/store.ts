import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import type { PortalFileStore } from '../files/store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import { type StoredTheme, type ThemeManifest, themeBounds } from './schema.ts';

export type ThemeStore = ReturnType<typeof createThemeStore>;

const archiveSlot = 'archive';
const toOwner = (id: number) => `themes/${id}`;
const archiveType = 'application/zip';

/** Uploaded themes with their archives. The default theme is none of them: it is active where no other is. */
export function createThemeStore(records: Records, files: PortalFileStore) {
  const themes = createNumberedStore<'portal_themes', StoredTheme>(records, 'portal_themes', it => ({
    name: it.Manifest.name.toLowerCase(),
    is_active: Number(it.IsActive),
  }));
  const find = (name: string) => themes.rows.find({ name: name.toLowerCase() });

  /** Inside a transaction: locks all themes, in one statement. */
  const lockAll = () => records.db.updateTable('portal_themes').set({ name: sql<string>`name` }).execute();

  return {
    find,
    all: () => themes.all(),
    findActive: () => themes.rows.find({ is_active: 1 }),

    /** Inserts a theme, or replaces the one of the same name, with its archive. */
    save: (Manifest: ThemeManifest, bytes: Buffer, nowMs: number): Promise<StoredTheme> =>
      records.write(async () => {
        await lockAll();
        const before = await find(Manifest.name);
        if (!before && (await themes.count()) >= themeBounds.maxThemes)
          throw problem.too_many_themes({ detail: { max: themeBounds.maxThemes } });
        const fresh = { Manifest, IsActive: false, Revision: 1, CreatedAt: nowMs, UpdatedAt: nowMs };
        const saved = before
          ? await themes.change(before.ID, it => ({ ...it, Manifest, Revision: it.Revision + 1, UpdatedAt: nowMs }))
          : await themes.insert(fresh);
        await files.put(toOwner(saved!.ID), archiveSlot, { mediaType: archiveType, bytes }, nowMs);
        return saved!;
      }),

    readArchive: ({ ID }: StoredTheme) => files.find(toOwner(ID), archiveSlot),

    /** Inside a transaction: makes a theme the only active one; undefined makes the default theme active. */
    async activate(id: number | undefined): Promise<void> {
      await lockAll();
      for (const theme of await themes.all())
        if (theme.IsActive !== (theme.ID === id))
          await themes.change(theme.ID, it => ({ ...it, IsActive: theme.ID === id }));
    },

    /** Inside a transaction: reads a theme under the lock of all. */
    async lock(name: string): Promise<StoredTheme | undefined> {
      await lockAll();
      return find(name);
    },

    async remove(id: number): Promise<void> {
      await files.removeAll(toOwner(id));
      await themes.remove(id);
    },
  };
}
