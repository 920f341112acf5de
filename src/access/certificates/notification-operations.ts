import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import type { Certificate } from './schema.ts';
import type { CertificateStore } from './store.ts';

export interface CertificateNotificationServices {
  certificates: Pick<CertificateStore, 'endingBy'>;
  clock: Clock;
  settings: Settings;
}

const dayMs = 86_400_000;
/** Days before its expiry from which a certificate is critical. */
const criticalDays = 7;

export const CertificateNotification = z.object({
  id: z.string(),
  created_at: z.string(),
  org_id: z.string(),
  hash: z.string(),
  kind: z.enum(['critical', 'warning']),
  topic: z.string(),
  title: z.string(),
  message: z.string(),
  data: z.object({ cert_id: z.string(), expiry_date: z.string(), days_remaining: z.int() }),
});

/** Stable id (RFC 9562, 5.8) of a hash: the same notification has the same one on every node. */
export function toNotificationId(hash: string): string {
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return [...parts, hash.slice(20, 32)].join('-');
}

/** Created when the certificate came within the warning period. */
function toNotification(
  { id, subjectCn, notBefore, notAfter }: Certificate,
  orgId: string,
  { nowMs, warningDays }: { readonly nowMs: number; readonly warningDays: number },
): z.output<typeof CertificateNotification> {
  const endsMs = Date.parse(notAfter);
  const days = Math.floor((endsMs - nowMs) / dayMs);
  const kind = days < criticalDays ? 'critical' : 'warning';
  const topic = 'certificate.expiry';
  const hash = createHash('sha256')
    .update(JSON.stringify([orgId, topic, kind, id]))
    .digest('hex');
  const name = subjectCn || id;
  const hasExpired = endsMs <= nowMs;
  return {
    id: toNotificationId(hash),
    created_at: formatIsoTime(Math.max(Date.parse(notBefore), endsMs - warningDays * dayMs)),
    org_id: orgId,
    hash,
    kind,
    topic,
    title: hasExpired ? 'Certificate has expired' : 'Certificate is expiring soon',
    message: hasExpired ? `${name} expired on ${notAfter}` : `${name} expires on ${notAfter}`,
    data: { cert_id: id, expiry_date: formatIsoTime(endsMs), days_remaining: days },
  };
}

/** Certificates of an organisation that expire soon or have expired, earliest first. */
export async function listCertificateNotifications(
  { certificates, clock, settings }: CertificateNotificationServices,
  orgId: string,
): Promise<z.output<typeof CertificateNotification>[]> {
  const nowMs = clock.now();
  const warningDays = settings['events.certificate_expiry_days'];
  const ending = await certificates.endingBy(nowMs + warningDays * dayMs, orgId);
  return ending
    .sort((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter))
    .map(it => toNotification(it, orgId, { nowMs, warningDays }));
}

export const listNotifications = operation({
  surface: 'dashboard',
  noun: 'organisation',
  name: 'listNotifications',
  method: 'GET',
  path: '/api/org/notifications',
  about:
    'Lists what needs attention in the caller’s organisation: certificates that expire within events.certificate_expiry_days, or have expired, earliest first.',
  permission: 'websockets:read',
  query: z.object({
    refresh: z
      .enum(['true', 'false', ''])
      .optional()
      .describe('The list is computed for every request, with it or not'),
  }),
  returns: z.array(CertificateNotification),
  handle: ({ actor: { orgId } }, services: CertificateNotificationServices) =>
    listCertificateNotifications(services, orgId),
});

export const notificationOperations = [listNotifications];
