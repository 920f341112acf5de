import type { Vault } from '#base/vault.ts';
import type { Records } from '#storage/records.ts';
import { numberedStore } from '../numbered-store.ts';
import type { PageQuery } from '../shapes.ts';
import type { PortalEvent, Webhook } from './schema.ts';

export type PortalWebhookStore = ReturnType<typeof portalWebhookStore>;

type StoredWebhook = Omit<Webhook, 'Headers'> & { SealedHeaders: string };

const purpose = 'portal webhook headers';

/** Headers often carry a credential, so they are sealed. */
export function portalWebhookStore(records: Records, vault: Vault) {
  const webhooks = numberedStore<'portal_webhooks', StoredWebhook>(records, 'portal_webhooks', () => ({}));
  const sealed = ({ Headers, ...hook }: Webhook): StoredWebhook => ({
    ...hook,
    SealedHeaders: vault.seal(JSON.stringify(Headers), purpose),
  });
  const opened = ({ SealedHeaders, ...hook }: StoredWebhook): Webhook => ({
    ...hook,
    Headers: JSON.parse(vault.open(SealedHeaders, purpose)) as Webhook['Headers'],
  });
  const maybe = (hook: StoredWebhook | undefined) => hook && opened(hook);

  return {
    get: async (id: number) => maybe(await webhooks.get(id)),
    /** Those that want to hear of an event, oldest first. */
    wanting: async (event: PortalEvent) =>
      (await webhooks.all()).filter(({ Events }) => Events.includes(event)).map(opened),
    page: async (query: PageQuery) => (await webhooks.page(query)).map(opened),
    insert: async (hook: Omit<Webhook, 'ID'>) => opened(await webhooks.insert(sealed({ ...hook, ID: 0 }))),
    change: async (id: number, change: (hook: Webhook) => Webhook) =>
      maybe(await webhooks.change(id, it => sealed(change(opened(it))))),
    remove: (id: number) => webhooks.remove(id),
  };
}
