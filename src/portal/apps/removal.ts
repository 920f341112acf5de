import type { DecisionServices } from '../access-requests/decision.ts';
import { removeRequests } from '../access-requests/removal.ts';

/** Removes an app with its access requests; their keys are revoked first. */
export async function removeApp(appId: number, services: DecisionServices, force = false): Promise<void> {
  const { accessRequests } = services.portal;
  do await removeRequests(await accessRequests.listLive({ app_id: appId }), services, force);
  while (!(await tryRemove(appId, services)));
}

/** Removes the app; false when an access request was created meanwhile. */
const tryRemove = (appId: number, { portal, records }: DecisionServices): Promise<boolean> =>
  records.write(async () => {
    await portal.apps.change(appId, it => it);
    if ((await portal.accessRequests.listLive({ app_id: appId })).length > 0) return false;
    await portal.apps.remove(appId);
    return true;
  });
