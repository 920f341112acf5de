import { isDeepStrictEqual } from 'node:util';
import type { Vault } from '#base/vault.ts';
import {
  createCollection,
  hasNameWith,
  type PageRequest,
  type Query,
  type RecordChange,
  wholeList,
} from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import type { RevisionLog } from '#storage/revision-log.ts';
import { openRows } from '#storage/unreadable-rows.ts';
import { problem as peopleProblem } from '../../problems.ts';
import type { IdentityProfile } from './schema.ts';
import { transformSecrets } from './secrets.ts';

export type IdentityProfileStore = ReturnType<typeof createIdentityProfileStore>;

const purpose = 'identity profile secret';
const defaultMaxProfiles = 100;

const createProfileHistory = (revisions: RevisionLog, open: (profile: IdentityProfile) => IdentityProfile) =>
  revisions.createHistory<IdentityProfile>({
    table: 'identity_profiles',
    identify: ({ OrgID, ID }) => ({ orgId: String(OrgID), publicId: String(ID) }),
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

/**
 * Identity profiles; secrets of the providers are sealed. A change of a profile ends the sessions it opened.
 * `maxProfiles`: of one organisation.
 */
export function createIdentityProfileStore(
  records: Records,
  vault: Vault,
  maxProfiles = defaultMaxProfiles,
  revisions?: RevisionLog,
) {
  const seal = mapSecrets(secret => vault.seal(secret, purpose));
  const open = mapSecrets(secret => vault.open(secret, purpose));
  const history = revisions && createProfileHistory(revisions, open);
  const profiles = createProfileCollection(records, history?.recordChange);
  const openIfFound = (profile: IdentityProfile | undefined) => profile && open(profile);
  const endSessions = (profileId: string) =>
    records.db.deleteFrom('sessions').where('profile_id', '=', profileId).execute();

  return {
    history,
    get: async (orgId: string, id: string) => openIfFound(await profiles.find({ org_id: orgId, id })),
    /** Profile of a login URL, which names no organisation. */
    findActive: async (id: string) => {
      const profile = openIfFound(await profiles.find({ id }));
      return profile?.Active ? profile : undefined;
    },
    /** Active profiles of an organisation as a sign-in page names them, without their settings. */
    async listActive(orgId: string): Promise<Pick<IdentityProfile, 'ID' | 'Name' | 'ProviderName'>[]> {
      const { items } = await profiles.page({ where: { org_id: orgId }, order: ['name', 'id'] }, wholeList);
      return items.filter(({ Active }) => Active).map(({ ID, Name, ProviderName }) => ({ ID, Name, ProviderName }));
    },
    /** Locks a profile inside a transaction; false where it was changed or removed since it was read. */
    async lockUnchanged(profile: IdentityProfile): Promise<boolean> {
      // A change waits for the lock, and then ends the sessions that the transaction has opened.
      const current = await profiles.lock({ org_id: profile.OrgID, id: profile.ID });
      return current !== undefined && isDeepStrictEqual(open(current), profile);
    },
    /** `text`: part of the name. */
    async page(orgId: string, request: PageRequest, text = '') {
      const filter = (query: Query) => (text ? query.where(hasNameWith('identity_profiles', orgId, text)) : query);
      const found = await profiles.page({ where: { org_id: orgId }, filter, order: ['-created_at', '-id'] }, request);
      return { ...found, items: openRows(found.items, open, it => it.ID) };
    },
    insert: (profile: IdentityProfile) =>
      records.write(async () => {
        if ((await profiles.count({ org_id: profile.OrgID })) >= maxProfiles)
          throw peopleProblem.limit_reached({ detail: { name: 'identity profiles', max: maxProfiles } });
        await profiles.insert(seal(profile));
      }),
    replace: (profile: IdentityProfile) =>
      records.write(async () => {
        const isReplaced = await profiles.replace({ org_id: profile.OrgID, id: profile.ID }, seal(profile));
        await endSessions(profile.ID);
        return isReplaced;
      }),
    remove: (orgId: string, id: string) =>
      records.write(async () => {
        const isRemoved = await profiles.remove({ org_id: orgId, id });
        if (isRemoved) await endSessions(id);
        return isRemoved;
      }),
    removeAll: (orgId: string) => profiles.remove({ org_id: orgId }),
  };
}

const mapSecrets = (change: (secret: string) => string) => (profile: IdentityProfile) => ({
  ...profile,
  ProviderConfig: transformSecrets(profile.ProviderConfig, change),
});
