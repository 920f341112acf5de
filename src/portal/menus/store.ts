import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import { footerMenuPath, menuBounds, primaryMenuPath, type StoredMenu } from './schema.ts';

export function createMenuStore(records: Records) {
  const { rows, get, page, all, count, insert, change, remove } = createNumberedStore<'portal_menus', StoredMenu>(
    records,
    'portal_menus',
    it => ({ cid: it.CID, path: it.Path }),
    problem.menu_exists,
  );
  return {
    get,
    page,
    all,
    change,
    remove,
    /** Inserts a menu up to the bound. */
    add: (menu: Omit<StoredMenu, 'ID'>): Promise<StoredMenu> =>
      records.write(async () => {
        const { maxMenus } = menuBounds;
        if ((await count()) >= maxMenus) throw problem.too_many_menus({ detail: { max: maxMenus } });
        return insert(menu);
      }),
    /** Menus that the site shows, by the place. */
    async readShown(): Promise<{ primary: StoredMenu | undefined; footer: StoredMenu | undefined }> {
      return { primary: await rows.find({ path: primaryMenuPath }), footer: await rows.find({ path: footerMenuPath }) };
    },
  };
}
