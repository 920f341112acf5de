import { createInvalidProblem } from '#operations/validation-error.ts';
import { hasPersonalApps } from '../organisations/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { portalMessages } from '../webhooks/notify.ts';
import type { StoredApp } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;
type NewApp = Pick<StoredApp, 'Name' | 'UserID'> &
  Partial<Pick<StoredApp, 'Description' | 'RedirectURLs' | 'Visibility'>>;
type AppValues = {
  readonly [Member in keyof NewApp]?: NewApp[Member] | undefined;
};

/**
 * Owner and visibility of an app: in the default organisation apps are personal, its users are strangers. Inside a
 * transaction: locks the owner, so that a user deleted meanwhile gets no app.
 */
async function resolveOwnership(UserID: number, Visibility: StoredApp['Visibility'], { portal }: Services) {
  const owner = await portal.users.lock(UserID);
  if (!owner) throw createInvalidProblem([{ path: 'UserID', message: `there is no user ${UserID}` }]);
  return { UserID, Visibility: hasPersonalApps(owner.OrganisationID) ? ('personal' as const) : Visibility };
}

/** Creates an app and reports it; undefined where the owner has `maxApps` already. */
export function insertApp<Bound extends number | undefined = undefined>(
  values: AppValues & Pick<NewApp, 'Name' | 'UserID'>,
  services: Services,
  maxApps?: Bound,
): Promise<StoredApp | (Bound extends number ? undefined : never)> {
  const { portal, records, clock } = services;
  const now = clock.now();
  return records.write(async () => {
    const owner = await resolveOwnership(values.UserID, values.Visibility ?? 'organisation', services);
    if (maxApps !== undefined && (await portal.apps.countOfUser(values.UserID)) >= maxApps)
      return undefined as Bound extends number ? undefined : never;
    const inserted = await portal.apps.insert({
      Name: values.Name,
      Description: values.Description ?? '',
      RedirectURLs: values.RedirectURLs ?? '',
      ...owner,
      CreatedAt: now,
      UpdatedAt: now,
    });
    await portal.notify('ApplicationRegistered', portalMessages.app(inserted));
    return inserted;
  });
}

/** Changes an app; omitted members do not change. Undefined where it was deleted meanwhile. */
export function changeApp(before: StoredApp, values: AppValues, services: Services): Promise<StoredApp | undefined> {
  const { portal, records, clock } = services;
  return records.write(async () => {
    const visibility = values.Visibility ?? before.Visibility;
    const owned = await resolveOwnership(values.UserID ?? before.UserID, visibility, services);
    return portal.apps.change(before.ID, it => ({
      ...it,
      Name: values.Name ?? it.Name,
      Description: values.Description ?? it.Description,
      RedirectURLs: values.RedirectURLs ?? it.RedirectURLs,
      ...owned,
      UpdatedAt: clock.now(),
    }));
  });
}
