import type { StoredApp } from '../apps/schema.ts';
import type { StoredCatalogue } from '../catalogues/schema.ts';
import { hasPersonalApps } from '../organisations/schema.ts';
import type { StoredPortalUser } from '../users/schema.ts';

/** Visitor of the live portal: everything that visibility depends on. */
export type Visitor = AnonymousVisitor | DeveloperVisitor | AdministratorVisitor;

interface AnonymousVisitor {
  readonly kind: 'anonymous';
}

interface DeveloperVisitor {
  readonly kind: 'developer';
  readonly userId: number;
  readonly organisationId: number;
  readonly isOrganisationAdmin: boolean;
  /** Teams of the visitor, and the default team of the organisation: an audience of it is the whole organisation. */
  readonly audienceTeamIds: ReadonlySet<number>;
  /** Teams of the visitor without default ones: their members share apps and see each other. */
  readonly sharedTeamIds: ReadonlySet<number>;
}

/** Administrator of the portal, of all organisations. */
interface AdministratorVisitor {
  readonly kind: 'administrator';
  readonly userId: number;
}

export const anonymousVisitor: AnonymousVisitor = { kind: 'anonymous' };

const isOneOf = (ids: Iterable<number>, set: ReadonlySet<number>) => [...ids].some(id => set.has(id));

/** A private catalogue without audience is for all developers; with one, for the members of its teams. */
export function canSeeCatalogue(
  visitor: Visitor,
  { VisibilityStatus }: Pick<StoredCatalogue, 'VisibilityStatus'>,
  audienceTeamIds: readonly number[],
): boolean {
  if (visitor.kind === 'administrator' || VisibilityStatus === 'Public') return true;
  if (visitor.kind === 'anonymous') return false;
  return audienceTeamIds.length === 0 || isOneOf(audienceTeamIds, visitor.audienceTeamIds);
}

/** Owner of an app: the organisation, and the teams that are not default ones. */
export interface AppOwner {
  readonly organisationId: number;
  readonly sharedTeamIds: readonly number[];
}

/** Apps carry secrets. Users of the default organisation are strangers to each other: they share none. */
export function canSeeApp(visitor: Visitor, app: Pick<StoredApp, 'UserID' | 'Visibility'>, owner: AppOwner): boolean {
  if (visitor.kind !== 'developer') return visitor.kind === 'administrator';
  if (app.UserID === visitor.userId) return true;
  if (visitor.organisationId !== owner.organisationId || hasPersonalApps(visitor.organisationId)) return false;
  if (visitor.isOrganisationAdmin || app.Visibility === 'organisation') return true;
  return app.Visibility === 'team' && isOneOf(owner.sharedTeamIds, visitor.sharedTeamIds);
}

/** Changes of an app are those of its owner and of administrators of the organisation. */
export const canEditApp = (visitor: Visitor, app: Pick<StoredApp, 'UserID' | 'Visibility'>, owner: AppOwner): boolean =>
  canSeeApp(visitor, app, owner) && canEditVisibleApp(visitor, app);

/** For an app that is known to be visible to the visitor. */
export const canEditVisibleApp = (visitor: Visitor, { UserID }: Pick<StoredApp, 'UserID'>): boolean =>
  visitor.kind === 'administrator' ||
  (visitor.kind === 'developer' && (visitor.isOrganisationAdmin || UserID === visitor.userId));

/** Members of a team see each other; an administrator of the organisation sees all of its users. */
export function canSeeUser(
  visitor: Visitor,
  user: Pick<StoredPortalUser, 'ID' | 'OrganisationID'>,
  teamIds: readonly number[],
): boolean {
  if (visitor.kind !== 'developer') return visitor.kind === 'administrator';
  if (user.ID === visitor.userId) return true;
  if (visitor.organisationId !== user.OrganisationID || hasPersonalApps(visitor.organisationId)) return false;
  return visitor.isOrganisationAdmin || isOneOf(teamIds, visitor.sharedTeamIds);
}

export function canSeeTeam(visitor: Visitor, team: { readonly ID: number; readonly OrganisationID: number }): boolean {
  if (visitor.kind !== 'developer') return visitor.kind === 'administrator';
  if (visitor.audienceTeamIds.has(team.ID)) return true;
  return visitor.isOrganisationAdmin && team.OrganisationID === visitor.organisationId;
}

export const canSeeOrganisation = (visitor: Visitor, id: number): boolean =>
  visitor.kind === 'administrator' || (visitor.kind === 'developer' && visitor.organisationId === id);

/** Drafts are for administrators alone. Pages and posts spell the state differently. */
export const canSeeContent = (visitor: Visitor, { Status }: { readonly Status: string }): boolean =>
  visitor.kind === 'administrator' || Status.toLowerCase() === 'published';
