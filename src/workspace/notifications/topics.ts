import { createHash } from 'node:crypto';
import {
  type CertificateNotificationServices,
  listCertificateNotifications,
  toNotificationId,
} from '#access/certificates/notification-operations.ts';
import type { DataPlaneControl } from '#apis/api/data-plane.ts';
import type { ApiStore } from '#apis/api/store.ts';
import type { Ownership } from '#apis/owners/store.ts';
import { findUnavailable } from '#apis/status/find-unavailable.ts';
import { formatIsoTime } from '#base/clock.ts';
import type { DeadLetterStore } from '#events/deliveries/dead-letter-store.ts';
import type { Actor } from '#operations/actor.ts';
import type { Permission } from '#operations/operation.ts';

export interface TopicServices extends CertificateNotificationServices {
  readonly apis: Pick<ApiStore, 'findByIds'>;
  readonly deadLetters: DeadLetterStore;
  readonly ownership: Ownership;
  readonly traffic: Pick<DataPlaneControl, 'listUnavailable'>;
}

export interface TopicNotification {
  readonly id: string;
  readonly created_at: string;
  readonly kind: 'critical' | 'warning';
  readonly title: string;
  readonly message: string;
  readonly data: Readonly<Record<string, string | number>>;
}

interface Topic {
  /** Beside that of notifications. */
  readonly permission: Permission;
  list(services: TopicServices, actor: Actor): Promise<TopicNotification[]>;
}

/** Webhooks with dead letters that are listed. */
const maxHooks = 100;

/** The same cause has the same id on every node; another one, such as a further dead letter, is unread again. */
const toId = (...cause: readonly unknown[]) =>
  toNotificationId(createHash('sha256').update(JSON.stringify(cause)).digest('hex'));

/** Topics of notifications, each with the permission to read it. */
export const notificationTopics = {
  'certificate.expiry': { permission: 'websockets:read', list: listExpiringCertificates },
  'webhook.dead_letters': { permission: 'hooks:read', list: listDeadLetters },
  'api.not_served': { permission: 'apis:read', list: listUnservedApis },
} as const satisfies Readonly<Record<string, Topic>>;

export type TopicName = keyof typeof notificationTopics;
export const topicNames = Object.keys(notificationTopics) as [TopicName, ...TopicName[]];

async function listExpiringCertificates(services: TopicServices, { orgId }: Actor): Promise<TopicNotification[]> {
  const found = await listCertificateNotifications(services, orgId);
  return found.map(({ id, created_at, kind, title, message, data }) => ({
    id,
    created_at,
    kind,
    title,
    message,
    data,
  }));
}

async function listDeadLetters({ deadLetters }: TopicServices, { orgId }: Actor): Promise<TopicNotification[]> {
  const found = await deadLetters.countByHook(orgId, maxHooks);
  return found.map(({ hook, hookName, count, lastId, lastAtMs }) => ({
    id: toId(orgId, 'webhook.dead_letters', hook, lastId),
    created_at: formatIsoTime(lastAtMs),
    kind: 'warning',
    title: 'Webhook deliveries have failed',
    message: `${hookName || hook} has ${count} dead ${count === 1 ? 'letter' : 'letters'}`,
    data: { hook_id: hook, dead_letters: count },
  }));
}

async function listUnservedApis(services: TopicServices, actor: Actor): Promise<TopicNotification[]> {
  const { orgId } = actor;
  const unavailable = (await findUnavailable(services.traffic, orgId)) ?? [];
  if (unavailable.length === 0) return [];
  const hidden = await services.ownership.findHidden(actor);
  const reasons = new Map(unavailable.filter(({ apiId }) => !hidden.has(apiId)).map(it => [it.apiId, it.reason]));
  const apis = await services.apis.findByIds(orgId, [...reasons.keys()]);
  return apis.map(({ api_id, summary, updated_at }) => {
    const reason = reasons.get(api_id)!;
    return {
      id: toId(orgId, 'api.not_served', api_id, reason),
      created_at: updated_at,
      kind: 'critical',
      title: 'API is not served',
      message: `${summary.name} is not served: ${reason}`,
      data: { api_id },
    };
  });
}
