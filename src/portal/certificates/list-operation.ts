import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { portalSearchQuery } from '../shapes.ts';
import {
  certificateStates,
  findValidity,
  PortalCertificateRow,
  type StoredPortalCertificate,
  toCertificateView,
} from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'clock'>;

const query = portalSearchQuery.extend({
  state: z.enum(certificateStates).optional().describe('Only certificates in this state'),
});

export const listCertificatesOfApps = operation({
  surface: 'portal',
  noun: 'certificates of apps',
  permission: 'secret',
  name: 'listCertificatesOfApps',
  method: 'GET',
  path: '/portal-api/certificates',
  about:
    'Lists the client certificates of all apps with owner and validity, newest first; `q` is a part of name, subject, ' +
    'fingerprint or app.',
  query,
  returns: z.array(PortalCertificateRow),
  async handle({ query: { page, per_page, limit = per_page, q, state } }, services: Services) {
    const { portal, clock } = services;
    const start = (page - 1) * per_page;
    const end = start + Math.min(limit, per_page);
    const wanted = q.toLowerCase();
    const found: StoredPortalCertificate[] = [];
    for await (const batch of portal.certificates.readAll()) {
      const apps = await portal.apps.byIds(batch.map(({ AppID }) => AppID));
      const hasText = ({ Name, Subject, Fingerprint, AppID }: StoredPortalCertificate) =>
        [Name, Subject, Fingerprint, apps.get(AppID)?.Name ?? ''].some(it => it.toLowerCase().includes(wanted));
      found.push(...batch.filter(it => (!state || findValidity(it, clock.now()) === state) && hasText(it)));
      if (found.length >= end) break;
    }
    return toRows(found.slice(start, end), services);
  },
});

/** Rows with the app, its owner, and the credentials that each is attached to. */
async function toRows(certificates: readonly StoredPortalCertificate[], { portal, clock }: Services) {
  const apps = await portal.apps.byIds(certificates.map(({ AppID }) => AppID));
  const users = await portal.users.byIds([...apps.values()].map(({ UserID }) => UserID));
  const requests = await portal.accessRequests.listOfApps([...apps.keys()]);
  const credentials = await portal.credentials.ofRequests(requests.map(({ ID }) => ID));
  return certificates.map(it => {
    const app = apps.get(it.AppID);
    const uses = credentials.filter(({ Certificates }) => Certificates?.some(({ ID }) => ID === it.ID));
    return {
      ...toCertificateView(
        it,
        uses.map(({ ID }) => ID),
        clock.now(),
      ),
      App: app?.Name ?? '',
      UserID: app?.UserID ?? 0,
      UserEmail: users.get(app?.UserID ?? 0)?.Email ?? '',
    };
  });
}
