import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';

/** Uses of a certificate of an app. */
export interface CertificateUses {
  /** Ids of credentials that it is attached to. */
  readonly credentials: readonly number[];
  /** Ids of pending requests that name it. */
  readonly requests: readonly number[];
}

/** Uses of the certificates of an app. */
export async function listUses(
  appId: number,
  portal: PortalServices['portal'],
): Promise<(certificateId: number) => CertificateUses> {
  const requests = await portal.accessRequests.listLive({ app_id: appId });
  const credentials = await portal.credentials.ofRequests(requests.map(({ ID }) => ID));
  const pending = requests.filter(({ Status }) => Status === 'pending');
  return id => ({
    credentials: credentials.filter(it => it.Certificates?.some(({ ID }) => ID === id)).map(({ ID }) => ID),
    requests: pending.filter(({ CertificateID }) => CertificateID === id).map(({ ID }) => ID),
  });
}

/** Removes a certificate of an app; the lock of the app serialises it with requests. */
export const removeUnused = (
  appId: number,
  certificateId: number,
  { portal, records }: Pick<PortalServices, 'portal' | 'records'>,
): Promise<void> =>
  records.write(async () => {
    await portal.apps.change(appId, it => it);
    const certificate = await portal.certificates.get(certificateId);
    present(certificate?.AppID === appId ? certificate : undefined, 'Certificate');
    const { credentials, requests } = (await listUses(appId, portal))(certificateId);
    if (credentials.length + requests.length > 0) throw problem.certificate_in_use();
    await portal.certificates.remove(certificateId);
  });
