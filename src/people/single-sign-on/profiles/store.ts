import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '#base/clock.ts';
import { Lru } from '#base/lru.ts';
import type { Vault } from '#base/vault.ts';
import { createCollection, hasNameWith, type PageRequest, type Query, type RecordChange } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { RevisionLog } from '#storage/revision-log.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { problem as peopleProblem } from '../../problems.ts';
import type { IdentityProfile } from './schema.ts';
import { transformSecrets } from './secrets.ts';

export type IdentityProfileStore = ReturnType<typeof createIdentityProfileStore>;

const purpose = 'identity profile secret';
const defaultMaxProfiles = 100;
/** Visitors read the active profiles without a credential: another process's change is seen after this time. */
const activeTtlMs = 2000;
const maxCachedOrganisations = 1000;

type ActiveProfile = Pick<IdentityProfile, 'ID' | 'Name' | 'ProviderName'>;

export interface ProfileFilter {
  /** Part of the name. */
  readonly text?: string | undefined;
  readonly isActive?: boolean | undefined;
}

const createProfileHistory = (revisions: RevisionLog, open: (profile: IdentityProfile) => IdentityProfile) =>
  revisions.createHistory<IdentityProfile>({
    table: 'identity_profiles',
    identify: ({ OrgID, ID, Name }) => ({ orgId: String(OrgID), publicId: String(ID), name: String(Name ?? '') }),
    open: row => open(row as unknown as IdentityProfile),
    ignored: ['UpdatedAt', 'UpdatedBy'],
  });

const createProfileCollection = (records: Records, recordChange: RecordChange | undefined) =>
  createCollection<'identity_profiles', IdentityProfile>(
    records,
    'identity_profiles',
    it => ({ id: it.ID, org_id: it.OrgID, name: it.Name, created_at: it.CreatedAt }),
    undefined,
    undefined,
    {
      kind: 'identity_profiles',
      toEntry: ({ Name, ProviderName }) => ({ names: [Name], label: Name, detail: ProviderName }),
    },
    recordChange,
  );

/** An organisation has few profiles: their state is filtered here, whatever the engine. */
const createProfileListing =
  (profiles: ReturnType<typeof createProfileCollection>) =>
  async (orgId: string, { text = '', isActive }: ProfileFilter): Promise<IdentityProfile[]> => {
    const filter = (query: Query) => (text ? query.where(hasNameWith('identity_profiles', orgId, text)) : query);
    const found = await profiles.all({ where: { org_id: orgId }, filter, order: ['-created_at', '-id'] });
    return isActive === undefined ? found : found.filter(({ Active }) => Active === isActive);
  };

/** Cache of the active profiles, with request coalescing; `read` gets them from the database. */
function createActiveProfiles(clock: Clock, read: (orgId: string) => Promise<IdentityProfile[]>) {
  const cache = new Lru<string, { readonly profiles: Promise<ActiveProfile[]>; readonly expiresAtMs: number }>(
    maxCachedOrganisations,
  );
  const readNames = async (orgId: string): Promise<ActiveProfile[]> =>
    (await read(orgId)).map(({ ID, Name, ProviderName }) => ({ ID, Name, ProviderName }));

  return {
    list(orgId: string): Promise<ActiveProfile[]> {
      const cached = cache.get(orgId);
      if (cached && cached.expiresAtMs > clock.now()) return cached.profiles;
      const profiles = readNames(orgId);
      cache.set(orgId, { profiles, expiresAtMs: clock.now() + activeTtlMs });
      profiles.catch(() => cache.delete(orgId));
      return profiles;
    },
    forget: (orgId: string) => cache.delete(orgId),
  };
}

/**
 * Identity profiles; secrets of the providers are sealed. A change of a profile ends the sessions it opened.
 * `maxProfiles`: of one organisation.
 */
export function createIdentityProfileStore(
  records: Records,
  vault: Vault,
  maxProfiles = defaultMaxProfiles,
  revisions?: RevisionLog,
  clock: Clock = systemClock,
) {
  const seal = mapSecrets(secret => vault.seal(secret, purpose));
  const open = mapSecrets(secret => vault.open(secret, purpose));
  const history = revisions && createProfileHistory(revisions, open);
  const profiles = createProfileCollection(records, history?.recordChange);
  const openIfFound = (profile: IdentityProfile | undefined) => profile && open(profile);
  const listAll = createProfileListing(profiles);
  const active = createActiveProfiles(clock, orgId => listAll(orgId, { isActive: true }));

  return {
    history,
    get: async (orgId: string, id: string) => openIfFound(await profiles.find({ org_id: orgId, id })),
    /** Profile of a login URL, which names no organisation. */
    findActive: async (id: string) => {
      const profile = openIfFound(await profiles.find({ id }));
      return profile?.Active ? profile : undefined;
    },
    /** Active profiles of an organisation as a sign-in page names them, without their settings; cached. */
    listActive: active.list,
    /** Locks a profile inside a transaction; false where it was changed or removed since it was read. */
    async lockUnchanged(profile: IdentityProfile): Promise<boolean> {
      // A change waits for the lock, and then ends the sessions that the transaction has opened.
      const current = await profiles.lock({ org_id: profile.OrgID, id: profile.ID });
      return current !== undefined && isDeepStrictEqual(open(current), profile);
    },
    async page(orgId: string, { page, size }: PageRequest, filter: ProfileFilter = {}) {
      const found = await listAll(orgId, filter);
      const items = page < 1 ? found : found.slice((page - 1) * size, page * size);
      const pages = page < 1 ? 1 : Math.max(1, Math.ceil(found.length / size));
      return { items: openRows(items, open, it => it.ID), pages, total: found.length };
    },
    ...createProfileWrites(records, profiles, { seal, maxProfiles, onWrite: active.forget }),
    removeAll: (orgId: string) => profiles.remove({ org_id: orgId }),
  };
}

interface ProfileWriteParts {
  readonly seal: (profile: IdentityProfile) => IdentityProfile;
  readonly maxProfiles: number;
  readonly onWrite: (orgId: string) => void;
}

/** Writes of profiles; a change ends the sessions that the profile opened. */
function createProfileWrites(
  records: Records,
  profiles: ReturnType<typeof createProfileCollection>,
  { seal, maxProfiles, onWrite }: ProfileWriteParts,
) {
  const endSessions = (profileId: string) =>
    records.db.deleteFrom('sessions').where('profile_id', '=', profileId).execute();
  const writeProfile = <T>(orgId: string, work: () => Promise<T>): Promise<T> =>
    records.write(work).finally(() => onWrite(orgId));

  return {
    insert: (profile: IdentityProfile) =>
      writeProfile(profile.OrgID, async () => {
        if ((await profiles.count({ org_id: profile.OrgID })) >= maxProfiles)
          throw peopleProblem.limit_reached({ detail: { name: 'identity profiles', max: maxProfiles } });
        await profiles.insert(seal(profile));
      }),
    replace: (profile: IdentityProfile) =>
      writeProfile(profile.OrgID, async () => {
        const isReplaced = await profiles.replace({ org_id: profile.OrgID, id: profile.ID }, seal(profile));
        await endSessions(profile.ID);
        return isReplaced;
      }),
    remove: (orgId: string, id: string) =>
      writeProfile(orgId, async () => {
        const isRemoved = await profiles.remove({ org_id: orgId, id });
        if (isRemoved) await endSessions(id);
        return isRemoved;
      }),
  };
}

const mapSecrets = (change: (secret: string) => string) => (profile: IdentityProfile) => ({
  ...profile,
  ProviderConfig: transformSecrets(profile.ProviderConfig, change),
});
