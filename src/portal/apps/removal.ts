import type { DecisionServices } from '../access-requests/decision.ts';
import { removeRequests } from '../access-requests/removal.ts';
import { removeCustomCredentials } from '../custom-credentials/removal.ts';
import { portalMessages } from '../webhooks/notify.ts';

/** Removes an app with its access requests and custom credentials; their keys are revoked first. */
export async function removeApp(appId: number, services: DecisionServices, force = false): Promise<void> {
  const { accessRequests, customCredentials } = services.portal;
  do {
    await removeRequests(await accessRequests.listLive({ app_id: appId }), services, force);
    await removeCustomCredentials(await customCredentials.ofApp(appId), services, force);
  } while (!(await tryRemove(appId, services)));
}

/** Removes the app; false when an access request or a custom credential was created meanwhile. */
const tryRemove = (appId: number, { portal, records }: DecisionServices): Promise<boolean> =>
  records.write(async () => {
    const app = await portal.apps.change(appId, it => it);
    if ((await portal.accessRequests.listLive({ app_id: appId })).length > 0) return false;
    if ((await portal.customCredentials.ofApp(appId)).length > 0) return false;
    for (const { ID } of await portal.certificates.ofApp(appId)) await portal.certificates.remove(ID);
    await portal.apps.remove(appId);
    if (app) await portal.notify('ApplicationDeleted', portalMessages.app(app));
    return true;
  });
