import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { StoredApp } from './schema.ts';

export const createAppStore = (records: Records) =>
  createNumberedStore<'portal_apps', StoredApp>(records, 'portal_apps', it => ({ user_id: it.UserID }));
