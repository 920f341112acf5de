import type { PortalServices } from '../portal-stores.ts';

/** Inside a transaction: removes a team, from audiences of catalogues too. */
export async function removeTeam(id: number, { portal }: Pick<PortalServices, 'portal'>): Promise<void> {
  await portal.catalogues.audiences.removeTeam(id);
  await portal.teams.remove(id);
}
