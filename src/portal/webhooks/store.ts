import type { Vault } from '#base/vault.ts';
import { inlinePrefix } from '#events/deliveries/schema.ts';
import { createDeliveryStore } from '#events/deliveries/store.ts';
import { createHookSecretStore, secretOverlapMs } from '#events/hooks/secret-store.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { PortalEvent, Webhook } from './schema.ts';

export type PortalWebhookStore = ReturnType<typeof createPortalWebhookStore>;

type StoredWebhook = Omit<Webhook, 'Headers'> & { SealedHeaders: string };

const purpose = 'portal webhook headers';

/** Deliveries of the portal are among those of the operator, which have no organisation. */
export const operatorOrgId = '';

/** Name of the queue of a webhook among those of the operator, and of its secret. */
export const toDeliveryHook = ({ ID }: Pick<Webhook, 'ID'>): string => `${inlinePrefix}portal-${ID}`;

/** Portal webhooks; headers may carry credentials, so they are sealed. */
export function createPortalWebhookStore(records: Records, vault: Vault) {
  const webhooks = createNumberedStore<'portal_webhooks', StoredWebhook>(records, 'portal_webhooks', () => ({}));
  const secrets = createHookSecretStore(records, vault);
  const deliveries = createDeliveryStore(records);
  const seal = ({ Headers, ...hook }: Webhook): StoredWebhook => ({
    ...hook,
    SealedHeaders: vault.seal(JSON.stringify(Headers), purpose),
  });
  const open = ({ SealedHeaders, ...hook }: StoredWebhook): Webhook => ({
    ...hook,
    Headers: JSON.parse(vault.open(SealedHeaders, purpose)) as Webhook['Headers'],
  });
  const openMaybe = (hook: StoredWebhook | undefined) => hook && open(hook);

  return {
    get: async (id: number) => openMaybe(await webhooks.get(id)),
    /** Webhooks subscribed to an event, oldest first. */
    wanting: async (event: PortalEvent) =>
      (await webhooks.all()).filter(({ Events }) => Events.includes(event)).map(open),
    page: async (query: PortalPageQuery) => openRows(await webhooks.page(query), open, it => it.ID),
    /** With a secret of its own. */
    insert: (hook: Omit<Webhook, 'ID'>) =>
      records.write(async () => {
        const stored = open(await webhooks.insert(seal({ ...hook, SecretChangedAt: hook.CreatedAt, ID: 0 })));
        return { stored, secret: await secrets.create(operatorOrgId, toDeliveryHook(stored), hook.CreatedAt) };
      }),
    change: async (id: number, change: (hook: Webhook) => Webhook) =>
      openMaybe(await webhooks.change(id, it => seal(change(open(it))))),
    rotateSecret: (id: number, nowMs: number) =>
      records.write(async () => {
        const times = { SecretChangedAt: nowMs, OldSecretValidUntil: nowMs + secretOverlapMs, UpdatedAt: nowMs };
        const changed = await webhooks.change(id, it => ({ ...it, ...times }));
        return changed && { ...times, secret: await secrets.replace(operatorOrgId, toDeliveryHook(changed), nowMs) };
      }),
    /** With its secret, and the deliveries that wait. */
    remove: (id: number) =>
      records.write(async () => {
        const hook = toDeliveryHook({ ID: id });
        if (!(await webhooks.remove(id))) return false;
        await deliveries.discardWaiting(operatorOrgId, hook);
        await secrets.remove(operatorOrgId, hook);
        return true;
      }),
  };
}
