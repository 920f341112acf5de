import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { createNumberedStore } from '../numbered-store.ts';
import type { PortalPageQuery } from '../shapes.ts';
import type { PortalEvent, Webhook } from './schema.ts';

export type PortalWebhookStore = ReturnType<typeof createPortalWebhookStore>;

type StoredWebhook = Omit<Webhook, 'Headers'> & { SealedHeaders: string };

const purpose = 'portal webhook headers';

/** Portal webhooks; headers may carry credentials, so they are sealed. */
export function createPortalWebhookStore(records: Records, vault: Vault) {
  const webhooks = createNumberedStore<'portal_webhooks', StoredWebhook>(records, 'portal_webhooks', () => ({}));
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
    insert: async (hook: Omit<Webhook, 'ID'>) => open(await webhooks.insert(seal({ ...hook, ID: 0 }))),
    change: async (id: number, change: (hook: Webhook) => Webhook) =>
      openMaybe(await webhooks.change(id, it => seal(change(open(it))))),
    remove: (id: number) => webhooks.remove(id),
  };
}
