import type { Certificate } from '#access/certificates/schema.ts';
import type { CertificateStore } from '#access/certificates/store.ts';
import type { StoredApi } from '#apis/api/schema.ts';
import type { ApiStore } from '#apis/api/store.ts';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { every } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import { listCertificateUses } from '#definition/certificate-uses.ts';
import type { Model } from '#definition/model.ts';
import type { DeliveryStore } from '#events/deliveries/store.ts';
import { type Dispatch, groupEnabledByEvent } from '#events/dispatch.ts';
import { toModelOfStored } from '../routing/stored-model.ts';

export interface ExpiryMonitorOptions {
  readonly certificates: Pick<CertificateStore, 'endingBy'>;
  readonly apis: Pick<ApiStore, 'all'>;
  readonly deliveries: Pick<DeliveryStore, 'claimKey'>;
  readonly events: Pick<Dispatch, 'emit'>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

type ExpiringCertificate = Awaited<ReturnType<CertificateStore['endingBy']>>[number];

/**
 * Emits events for certificates that expire soon or have expired: once a day per API and role, by the first process
 * that claims it in the database.
 */
export function startCertificateExpiryMonitor(options: ExpiryMonitorOptions) {
  const { certificates, apis, deliveries, events, settings, clock, log } = options;

  async function emitExpiryEvent(model: Model, role: string, certificate: ExpiringCertificate): Promise<void> {
    const nowMs = clock.now();
    const { event, detail } = buildExpiryEvent(certificate, role, nowMs);
    const { id: apiId, orgId } = model.identity;
    const claimName = JSON.stringify([event, certificate.id, role, apiId]);
    if (!(await deliveries.claimKey(claimName, nowMs, nowMs + dayMs))) return;
    const handlers = groupEnabledByEvent(model.events.handlers).get(event) ?? [];
    events.emit({ event, atMs: nowMs, orgId, apiId, detail: { ...detail, api_id: apiId } }, handlers);
  }

  /** Skips an unreadable definition: the loader reports it, and it must not stop the check of others. */
  function tryReadModel(stored: StoredApi): Model | undefined {
    try {
      return toModelOfStored(stored);
    } catch (error) {
      log.debug(
        { api: stored.api_id, reason: (error as Error).message },
        'definition unreadable, certificates not checked',
      );
      return undefined;
    }
  }

  async function check(): Promise<void> {
    const ending = await certificates.endingBy(clock.now() + settings['events.certificate_expiry_days'] * dayMs);
    if (ending.length === 0) return;
    const byId = new Map(ending.map(it => [JSON.stringify([it.orgId, it.id]), it]));
    for (const stored of await apis.all()) {
      const model = tryReadModel(stored);
      if (!model?.identity.active) continue;
      for (const { role, ids } of listCertificateUses(model).filter(use => use.isEnabled))
        for (const id of new Set(ids)) {
          const found = byId.get(JSON.stringify([stored.org_id, id]));
          if (found) await emitExpiryEvent(model, role, found);
        }
    }
  }

  const onError = ({ message }: Error) => log.warn({ reason: message }, 'certificate expiry check failed');
  const checks = every(hourMs, check, { onError, runsAtStart: true, unref: true });
  return {
    /** Runs a check now. */
    check,
    close: checks.close,
  };
}

function buildExpiryEvent({ id, subjectCn, notAfter }: Certificate, role: string, nowMs: number) {
  const endsMs = Date.parse(notAfter);
  const about = { cert_id: id, cert_name: subjectCn };
  const days = (ms: number) => Math.floor(ms / dayMs);
  if (endsMs > nowMs) {
    const when = { expires_at: formatIsoTime(endsMs), days_remaining: days(endsMs - nowMs), cert_role: role };
    return { event: 'CertificateExpiringSoon', detail: { message: 'Certificate is expiring soon', ...about, ...when } };
  }
  const when = { expired_at: formatIsoTime(endsMs), days_since_expiry: days(nowMs - endsMs), cert_role: role };
  return { event: 'CertificateExpired', detail: { message: 'Certificate has expired', ...about, ...when } };
}
