import { AsyncLocalStorage } from 'node:async_hooks';
import type { Settings } from '#base/settings.ts';
import type { SurfaceName } from './surfaces.ts';

/** Handling of unknown members of a request body. */
export type UnknownMembersRule = Settings['management.unknown_members'];

const lenientRequests = new AsyncLocalStorage<true>();

/** Surfaces of the operator, whose setting the preference of a request may override. */
const operatorSurfaces: readonly SurfaceName[] = ['gateway', 'admin'];

/** Longer header values are not parsed. */
const maxPreferLength = 1000;

/**
 * Lenient handling (RFC 7240, section 4.4): `Prefer: handling=lenient` turns rejections of unknown members into warnings
 * for one request. Migrations from other products need it; tenants cannot override the setting of the operator.
 */
export function prefersLenient(surface: SurfaceName, prefer: string | readonly string[] | undefined): boolean {
  if (prefer === undefined || !operatorSurfaces.includes(surface)) return false;
  const text = typeof prefer === 'string' ? prefer : prefer.join(',');
  if (text.length > maxPreferLength) return false;
  // The first of several preferences of the same name counts (section 2).
  const handling = text
    .split(',')
    .map(part => part.split(';', 1)[0]!.trim().toLowerCase())
    .find(part => /^handling\s*(=|$)/.test(part));
  return handling !== undefined && /^handling\s*=\s*"?lenient"?$/.test(handling);
}

/** Runs the handler of a request with lenient handling. */
export const runLenient = <T>(handle: () => T): T => lenientRequests.run(true, handle);

/** Rule of the request that is handled: its preference, else the setting. */
export const findUnknownMembersRule = (settings: Settings): UnknownMembersRule =>
  lenientRequests.getStore() ? 'warn' : settings['management.unknown_members'];
