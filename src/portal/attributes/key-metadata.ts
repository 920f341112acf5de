import type { PortalServices } from '../portal-stores.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import { userModelId } from './store.ts';

type Services = Pick<PortalServices, 'portal'>;

/** Metadata of the keys of a user: default and custom attributes with `AddToKeyMetadata`. */
export async function loadAttributeMetadata(
  user: StoredPortalUser,
  teamIds: readonly number[],
  { portal }: Services,
): Promise<Record<string, string>> {
  const model = await portal.attributes.models.get(userModelId);
  const chosen = (model?.Defaults ?? []).filter(it => it.AddToKeyMetadata).map(it => it.Label);
  const defaults = chosen.length > 0 ? await loadDefaults(user, teamIds, { portal }) : {};
  const custom = (await portal.attributes.listValues(user.ID)).filter(({ attribute }) => attribute.AddToKeyMetadata);
  return Object.fromEntries([
    ...chosen.map(label => [label, defaults[label] ?? ''] as const),
    ...custom.map(({ attribute, value }) => [attribute.Identifier, value] as const),
  ]);
}

async function loadDefaults(
  user: StoredPortalUser,
  teamIds: readonly number[],
  { portal }: Services,
): Promise<Record<string, string>> {
  const organisation = user.OrganisationID === 0 ? undefined : await portal.organisations.get(user.OrganisationID);
  const teams = await portal.teams.byIds(teamIds);
  return {
    First: user.First,
    Last: user.Last,
    Email: user.Email,
    Role: user.Role,
    Organisation: organisation?.Name ?? '',
    TeamNames: [...teams.values()].map(({ Name }) => Name).join(','),
  };
}
