import { z } from 'zod';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import type { MarkKind, MarkStore } from './mark-store.ts';
import { problem } from './problems.ts';
import {
  notificationTopics,
  type TopicName,
  type TopicNotification,
  type TopicServices,
  topicNames,
} from './topics.ts';

interface NotificationServices extends TopicServices {
  readonly notificationMarks: MarkStore;
}

/** Notifications of one user: a longer list has no reader. */
const maxNotifications = 500;

const notification = z.object({
  id: z.string(),
  topic: z.enum(topicNames),
  kind: z.enum(['critical', 'warning']),
  created_at: z.string(),
  title: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.union([z.string(), z.number()])),
  read: z.boolean(),
});

const declared = { surface: 'dashboard', noun: 'notifications', permission: 'websockets:read' } as const;

type Listed = TopicNotification & { readonly topic: TopicName };

/** All notifications of the topics that the caller may read: critical ones first, then the newest. */
async function listAll(services: TopicServices, actor: Actor): Promise<Listed[]> {
  const found: Listed[] = [];
  for (const topic of topicNames) {
    const { permission, list } = notificationTopics[topic];
    if (!hasPermission(actor, permission)) continue;
    found.push(...(await list(services, actor)).map(it => ({ ...it, topic })));
  }
  const isFirst = (a: Listed, b: Listed) =>
    Number(b.kind === 'critical') - Number(a.kind === 'critical') ||
    Date.parse(b.created_at) - Date.parse(a.created_at);
  return found.sort(isFirst).slice(0, maxNotifications);
}

const ownerOf = ({ orgId, id: userId }: Actor) => ({ orgId, userId });

const noMarks = { read: new Set<string>(), muted: new Set<string>() };
const readMarks = ({ notificationMarks }: NotificationServices, actor: Actor) =>
  actor.temporaryUser ? noMarks : notificationMarks.list(ownerOf(actor));

async function replaceMarks(
  { notificationMarks, clock }: NotificationServices,
  actor: Actor,
  kind: MarkKind,
  names: readonly string[],
): Promise<void> {
  if (actor.temporaryUser) throw problem.account_required();
  const isStored = await notificationMarks.replace(ownerOf(actor), kind, names, clock.now());
  if (!isStored) throw peopleProblem.user_not_found();
}

export const listUserNotifications = operation({
  ...declared,
  name: 'listUserNotifications',
  method: 'GET',
  path: '/api/notifications',
  about:
    'Lists what needs attention in the caller’s organisation, without the topics that the caller has muted: certificates that expire, webhooks with dead letters, APIs that are not served. Critical ones first, then the newest.',
  query: z.object({
    muted: z.enum(['true', 'false', '']).default('false').describe('true includes muted topics'),
    unread: z.enum(['true', 'false', '']).default('false').describe('true leaves out what is marked as read'),
  }),
  returns: z.object({
    notifications: z.array(notification),
    unread: z.int().describe('Number of unread notifications of topics that are not muted'),
    muted_topics: z.array(z.enum(topicNames)),
  }),
  async handle({ actor, query }, services: NotificationServices) {
    const { read, muted } = await readMarks(services, actor);
    const all = (await listAll(services, actor)).map(it => ({ ...it, read: read.has(it.id) }));
    const audible = all.filter(({ topic }) => !muted.has(topic));
    const shown = query.muted === 'true' ? all : audible;
    return {
      notifications: query.unread === 'true' ? shown.filter(it => !it.read) : shown,
      unread: audible.filter(it => !it.read).length,
      muted_topics: topicNames.filter(topic => muted.has(topic)),
    };
  },
});

export const markNotifications = operation({
  ...declared,
  name: 'markNotifications',
  method: 'PUT',
  path: '/api/notifications/read',
  about:
    'Marks notifications of the caller as read, or as unread; Meta is the number of those that exist. A notification whose cause changes is unread again.',
  body: z.object({
    ids: z.array(z.string().min(1).max(64)).min(1).max(maxNotifications),
    read: z.boolean().default(true),
  }),
  returns: statusResponse,
  problems: [problem.account_required, peopleProblem.user_not_found],
  async handle({ actor, body, audit }, services: NotificationServices) {
    audit(actor.id);
    const existing = (await listAll(services, actor)).map(({ id }) => id);
    const { read } = await readMarks(services, actor);
    const ids = new Set(body.ids);
    const isRead = (id: string) => (ids.has(id) ? body.read : read.has(id));
    await replaceMarks(services, actor, 'read', existing.filter(isRead));
    return toStatus('Notifications marked', existing.filter(id => ids.has(id)).length);
  },
});

export const muteNotifications = operation({
  ...declared,
  name: 'muteNotifications',
  method: 'PUT',
  path: '/api/notifications/mutes',
  about: 'Replaces the list of topics that the caller has muted. Other users are not affected.',
  body: z.object({
    topics: z
      .array(z.enum(topicNames))
      .max(topicNames.length)
      .refine(topics => new Set(topics).size === topics.length, 'has duplicates'),
  }),
  returns: statusResponse,
  problems: [problem.account_required, peopleProblem.user_not_found],
  async handle({ actor, body, audit }, services: NotificationServices) {
    audit(actor.id);
    await replaceMarks(services, actor, 'muted', body.topics);
    return toStatus('Muted topics replaced');
  },
});

export const userNotificationOperations = [listUserNotifications, markNotifications, muteNotifications];
