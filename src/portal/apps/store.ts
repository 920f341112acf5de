import type { Records } from '#storage/records.ts';
import { numberedStore } from '../numbered-store.ts';
import type { StoredApp } from './schema.ts';

export const appStore = (records: Records) =>
  numberedStore<'portal_apps', StoredApp>(records, 'portal_apps', it => ({ user_id: it.UserID }));
