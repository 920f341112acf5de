import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Vault } from '#base/vault.ts';
import { transformSecrets } from '#people/single-sign-on/profiles/secrets.ts';
import { createCollection } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { applyLimit, type PortalPageQuery, toPortalPageRequest } from '../shapes.ts';
import { toSharedProfileId } from './identity-profile.ts';
import { problem } from './problems.ts';
import { ownDefaults, type SsoProfile } from './schema.ts';

export type SsoProfileStore = ReturnType<typeof createSsoProfileStore>;

const purpose = 'sso profile secret';
/** Profiles that a sign-in page offers. */
const maxOffered = 50;
/** Visitors read them without a credential: another process's change is seen after this time. */
const offeredTtlMs = 2000;

/** Cache of the profiles of a sign-in page, with request coalescing; `read` gets them from the database. */
function createOfferedProfiles(clock: Clock, read: () => Promise<SsoProfile[]>) {
  let cached: { readonly profiles: Promise<readonly SsoProfile[]>; readonly expiresAtMs: number } | undefined;
  const forget = () => {
    cached = undefined;
  };
  return {
    list(): Promise<readonly SsoProfile[]> {
      if (cached && cached.expiresAtMs > clock.now()) return cached.profiles;
      const profiles = read();
      cached = { profiles, expiresAtMs: clock.now() + offeredTtlMs };
      profiles.catch(forget);
      return profiles;
    },
    forget,
  };
}

/** SSO profiles; secrets in the configurations are sealed one by one in the row and opened on read. */
export function createSsoProfileStore(records: Records, vault: Vault, clock: Clock = systemClock) {
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
  const openConfigs = mapConfigs(text => vault.open(text, purpose));
  const open = (profile: SsoProfile): SsoProfile => openConfigs({ ...ownDefaults, ...profile });
  const openMaybe = (profile: SsoProfile | undefined) => profile && open(profile);

  /** A change of a profile ends the sessions it opened. */
  const endSessions = (id: string) =>
    records.db.deleteFrom('sessions').where('profile_id', '=', toSharedProfileId(id)).execute();

  const offered = createOfferedProfiles(clock, async () => {
    const { items } = await profiles.page({ order: ['created_at', 'id'] }, { page: 1, size: maxOffered });
    return openRows(items, open, it => it.ID);
  });
  const writeProfile = <T>(work: () => Promise<T>): Promise<T> => records.write(work).finally(offered.forget);

  return {
    get: async (id: string) => openMaybe(await profiles.find({ id })),
    async page(query: PortalPageQuery): Promise<SsoProfile[]> {
      const { items } = await profiles.page({ order: ['-created_at', '-id'] }, toPortalPageRequest(query));
      return openRows(applyLimit(items, query), open, it => it.ID);
    },
    /** The oldest profiles, for a sign-in page; cached. */
    listOffered: offered.list,
    /** Locks a profile inside a transaction; false where it was changed or removed since it was read. */
    async lockUnchanged(profile: SsoProfile): Promise<boolean> {
      const current = await profiles.lock({ id: profile.ID });
      return current !== undefined && isDeepStrictEqual(open(current), profile);
    },
    insert: (profile: SsoProfile) => writeProfile(() => profiles.insert(seal(profile))),
    change: (id: string, change: (profile: SsoProfile) => SsoProfile) =>
      writeProfile(async () => {
        const changed = await profiles.change({ id }, it => seal(change(open(it))));
        await endSessions(id);
        return openMaybe(changed);
      }),
    remove: (id: string) =>
      writeProfile(async () => {
        await endSessions(id);
        return profiles.remove({ id });
      }),
  };
}
