import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { StoredApp } from './schema.ts';

export function createAppStore(records: Records) {
  const apps = createNumberedStore<'portal_apps', StoredApp>(records, 'portal_apps', it => ({ user_id: it.UserID }));
  return {
    ...apps,
    ofUser: (userId: number) => apps.all({ user_id: userId }),
  };
}
