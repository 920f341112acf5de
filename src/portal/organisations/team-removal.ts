import type { TeamSet } from '../catalogues/store.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem } from '../problems.ts';

type Services = Pick<PortalServices, 'portal'>;

/** Bounds the names in one error. */
const maxNames = 10;

/**
 * Inside a transaction: locks teams, and refuses those that are the whole audience of a catalogue, which would be for
 * all developers without them. Its catalogues are locked first, in the order of requests that add a team to an audience.
 */
export async function lockRemovable<T>(teams: TeamSet, lockTeams: () => Promise<T>, { portal }: Services): Promise<T> {
  const { catalogues } = portal;
  const locked = new Set(await catalogues.audiences.findCatalogues(teams));
  for (const id of locked) await catalogues.lock(id);
  const result = await lockTeams();
  const shared = await catalogues.audiences.findSharing(teams);
  // A catalogue that got one of the teams meanwhile is not locked: its other teams may be deleted concurrently.
  const opened = (await catalogues.audiences.findCatalogues(teams)).filter(id => !locked.has(id) || !shared.has(id));
  if (opened.length === 0) return result;
  const names = [...(await catalogues.byIds(opened.slice(0, maxNames))).values()].map(({ Name }) => Name);
  throw problem.last_audience({ detail: { names: names.join(', ') } });
}
