import type { Vault } from '#base/vault.ts';
import { createCollection } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { capped, type PageQuery, pageAsked } from '../shapes.ts';
import { problem } from './problems.ts';
import type { SsoProfile } from './schema.ts';
import { changedSecrets } from './secrets.ts';

export type SsoProfileStore = ReturnType<typeof ssoProfileStore>;

const purpose = 'sso profile secret';

/** Secrets inside the configurations are sealed one by one; profiles come out with them opened. */
export function ssoProfileStore(records: Records, vault: Vault) {
  const profiles = createCollection<'portal_sso_profiles', SsoProfile>(
    records,
    'portal_sso_profiles',
    it => ({ id: it.ID, created_at: it.CreatedAt }),
    problem.id_taken,
  );
  const each = (change: (text: string) => string) => (profile: SsoProfile) => ({
    ...profile,
    ProviderConfig: changedSecrets(profile.ProviderConfig, change),
    IdentityHandlerConfig: changedSecrets(profile.IdentityHandlerConfig, change),
  });
  const sealed = each(text => vault.seal(text, purpose));
  const opened = each(text => vault.open(text, purpose));
  const maybe = (profile: SsoProfile | undefined) => profile && opened(profile);

  return {
    get: async (id: string) => maybe(await profiles.find({ id })),
    async page(query: PageQuery): Promise<SsoProfile[]> {
      const { items } = await profiles.page({ order: ['-created_at', '-id'] }, pageAsked(query));
      return capped(items, query).map(opened);
    },
    insert: (profile: SsoProfile) => profiles.insert(sealed(profile)),
    change: async (id: string, change: (profile: SsoProfile) => SsoProfile) =>
      maybe(await profiles.change({ id }, it => sealed(change(opened(it))))),
    remove: (id: string) => profiles.remove({ id }),
  };
}
