import type { Vault } from '#base/vault.ts';
import { transformSecrets } from '#people/single-sign-on/profiles/secrets.ts';
import { createCollection } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { applyLimit, type PortalPageQuery, toPortalPageRequest } from '../shapes.ts';
import { problem } from './problems.ts';
import type { SsoProfile } from './schema.ts';

export type SsoProfileStore = ReturnType<typeof createSsoProfileStore>;

const purpose = 'sso profile secret';

/** SSO profiles; secrets in the configurations are sealed one by one in the row and opened on read. */
export function createSsoProfileStore(records: Records, vault: Vault) {
  const profiles = createCollection<'portal_sso_profiles', SsoProfile>(
    records,
    'portal_sso_profiles',
    it => ({ id: it.ID, created_at: it.CreatedAt }),
    problem.id_taken,
  );
  const mapConfigs = (change: (text: string) => string) => (profile: SsoProfile) => ({
    ...profile,
    ProviderConfig: transformSecrets(profile.ProviderConfig, change),
    IdentityHandlerConfig: transformSecrets(profile.IdentityHandlerConfig, change),
  });
  const seal = mapConfigs(text => vault.seal(text, purpose));
  const open = mapConfigs(text => vault.open(text, purpose));
  const openMaybe = (profile: SsoProfile | undefined) => profile && open(profile);

  return {
    get: async (id: string) => openMaybe(await profiles.find({ id })),
    async page(query: PortalPageQuery): Promise<SsoProfile[]> {
      const { items } = await profiles.page({ order: ['-created_at', '-id'] }, toPortalPageRequest(query));
      return openRows(applyLimit(items, query), open, it => it.ID);
    },
    insert: (profile: SsoProfile) => profiles.insert(seal(profile)),
    change: async (id: string, change: (profile: SsoProfile) => SsoProfile) =>
      openMaybe(await profiles.change({ id }, it => seal(change(open(it))))),
    remove: (id: string) => profiles.remove({ id }),
  };
}
