import type { SiteFile } from '../page.ts';

export const toJsonFile = (value: unknown, status = 200): SiteFile => ({
  file: JSON.stringify(value),
  type: 'application/json; charset=utf-8',
  status,
});
