import type { Clock } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import { hashPassword } from '#base/passwords.ts';
import { Problem } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { Tell } from '#events/events.ts';
import type { EventName } from '#events/payload.ts';
import { type Fault, invalid } from '#operations/validation-error.ts';
import type { FindApis } from '../api-lookup.ts';
import type { CertificateStore } from '../certificates/store.ts';
import type { PolicyStore } from '../policies/store.ts';
import { refuseUnknownBindings, refuseUnknownCertificate } from './bindings.ts';
import type { Counting } from './counters.ts';
import { type PreparedKey, prepareKeyUpdate, prepareNewKey, withPassword } from './creation.ts';
import { nameFault, readToken, tokenOf } from './ids.ts';
import { contextOf, type NamedPolicies, namedPolicies, refuseClosed, refused } from './issue-context.ts';
import { forgetQuota, liveQuota, resetQuota } from './live-quota.ts';
import { problem } from './problems.ts';
import { type Key, keyEnvelope } from './schema.ts';
import type { KeyKind, KeyStore, StoredKey } from './store.ts';

/** How keys come to be, change and go, whoever asks: the dashboard, the operator or the portal. */
export interface KeyTools {
  keys: KeyStore;
  policies: PolicyStore;
  certificates: CertificateStore;
  findApis: FindApis;
  counting: Counting;
  clock: Clock;
  settings: Settings;
  /** Tells handlers; they learn the hash of a key, never the key. */
  happened: Tell;
}

export type IssuedKey = ReturnType<typeof keyEnvelope>;

export interface IssueOptions {
  /** The name of a custom key or of a basic-auth user; a key without one gets a random id. */
  readonly name?: string | undefined;
  readonly kind?: KeyKind;
}

/** Longer names than anybody types; they stand in headers, paths and logs. */
const nameAtMost = 256;
const hashType = 'scrypt';

/** A key with its names, as answers show it. */
export const shownKey = ({ key, keyId, keyHash }: StoredKey): IssuedKey => keyEnvelope(key, keyId, keyHash);

/** The id a name gets in an organisation. A key brought from another installation in the JSON form keeps its id. */
export function keyIdOf(orgId: string, name: string, settings: Settings): string {
  const token = readToken(name);
  if (token?.org === orgId && token.id !== '') return name;
  const keyId = tokenOf(orgId, name);
  const bare = keyId.slice(orgId.length);
  const fault =
    nameFault(bare, settings['keys.min_length']) ??
    (bare.length > nameAtMost ? `a key may have at most ${nameAtMost} characters` : undefined) ??
    (/\p{Cc}/u.test(bare) ? 'a key may not hold control characters' : undefined);
  if (fault) throw invalid([{ path: '', message: fault }]);
  return keyId;
}

/** Hashing takes long, so it happens before anything is locked. */
const hashed = async (key: Key): Promise<string | undefined> => {
  const password = key.basic_auth_data?.password;
  return password ? hashPassword(password) : undefined;
};

function keptKey({ key, passwordToHash }: PreparedKey, hash: string | undefined): Key {
  return passwordToHash && hash ? withPassword(key, { password: hash, hash_type: hashType }) : key;
}

async function preparedNew(tools: KeyTools, orgId: string, sent: Key, kind: KeyKind, named: NamedPolicies) {
  refuseClosed(sent, named);
  if (kind !== 'organisation') await refuseUnknownCertificate(tools.certificates, orgId, sent);
  await refuseUnknownBindings(tools.certificates, orgId, sent);
  const context = await contextOf(tools, { orgId, key: sent, kind, named });
  const prepared = prepareNewKey(sent, { ...context, ...(sent.hmac_string ? {} : { randomHex: createPublicId }) });
  return prepared.ok ? prepared : refused(prepared);
}

/** Makes a key. Its id is in the answer, and nowhere else later where only hashes are kept. */
export async function issueKey(
  tools: KeyTools,
  orgId: string,
  key: Key,
  { name, kind = 'token' }: IssueOptions = {},
): Promise<IssuedKey> {
  const keyId = name === undefined ? await freshId(tools, orgId, key) : keyIdOf(orgId, name, tools.settings);
  return createKey(tools, { orgId, keyId, kind }, key);
}

/** A key bound to a certificate is found by it, so its id is made of that of the certificate; any other is random. */
async function freshId({ certificates }: Pick<KeyTools, 'certificates'>, orgId: string, { certificate }: Key) {
  const bound = certificate ? await certificates.get(orgId, certificate) : undefined;
  return tokenOf(orgId, bound ? bound.id : createPublicId());
}

export interface Named {
  readonly orgId: string;
  readonly keyId: string;
  readonly kind: KeyKind;
}

/** Makes a key of exactly this id. */
export async function createKey(tools: KeyTools, { orgId, keyId, kind }: Named, key: Key): Promise<IssuedKey> {
  const sent = { ...key, org_id: orgId };
  const named = await namedPolicies(tools, orgId, sent);
  const prepared = await preparedNew(tools, orgId, sent, kind, named);
  const createdAtMs = tools.clock.now();
  const stored = await tools.keys.create({
    rowId: createDatabaseId(createdAtMs),
    orgId,
    kind,
    keyId,
    createdAtMs,
    key: keptKey(prepared, await hashed(sent)),
    policyIds: named.publicIds,
  });
  await resetQuota(tools, stored, prepared.session, prepared.quotaScopes);
  told(tools, stored, 'TokenCreated', 'Key generated.');
  return shownKey(stored);
}

/** The limits of an organisation are kept like a key, but are none. */
function told({ happened }: KeyTools, { kind, orgId, keyHash }: StoredKey, event: EventName, message: string): void {
  if (kind !== 'organisation') happened(event, orgId, { message, key: keyHash });
}

export interface PutKey {
  readonly issued: IssuedKey;
  readonly action: 'added' | 'modified';
}

/** Makes a key of exactly this id, or replaces the one there is. Whoever comes second, of two at once, replaces. */
export async function putKey(tools: KeyTools, named: Named, key: Key, options: ChangeOptions = {}): Promise<PutKey> {
  const isIt = (it: StoredKey | undefined) => it?.kind === named.kind && it.orgId === named.orgId;
  const known = await tools.keys.getAnywhere(named.keyId);
  if (known && !isIt(known)) throw problem.exists();
  if (known) return { issued: await changeKey(tools, known, key, options), action: 'modified' };
  try {
    return { issued: await createKey(tools, named, key), action: 'added' };
  } catch (error) {
    const meanwhile = isExists(error) ? await tools.keys.getAnywhere(named.keyId) : undefined;
    if (!meanwhile || !isIt(meanwhile)) throw error;
    return { issued: await changeKey(tools, meanwhile, key, options), action: 'modified' };
  }
}

const isExists = (error: unknown) => error instanceof Problem && error.code === problem.exists.code;

/** What would be made of a key, with its policies applied; nothing is kept. */
export async function previewKey(tools: KeyTools, orgId: string, key: Key): Promise<IssuedKey> {
  const sent = { ...key, org_id: orgId };
  const kind = sent.basic_auth_data?.password ? 'basic' : 'token';
  const { effective } = await preparedNew(tools, orgId, sent, kind, await namedPolicies(tools, orgId, sent));
  return keyEnvelope(effective, '', '');
}

export interface ChangeOptions {
  /** Leaves the running quota period and the rate window as they are. */
  readonly suppressReset?: boolean;
}

/** What a key says next: as it is sent, or made of what it says now, of which nobody else's change is lost. */
export type NextKey = Key | ((previous: Key) => Key);

/** Replaces what a key says; its id, its day of birth, its organisation and a password not sent stay. */
export async function changeKey(
  tools: KeyTools,
  stored: StoredKey,
  next: NextKey,
  { suppressReset = false }: ChangeOptions = {},
): Promise<IssuedKey> {
  const hash = typeof next === 'function' ? undefined : await hashed(next);
  let kept: PreparedKey | undefined;
  const changed = await tools.keys.change(stored, async previous => {
    const sent = { ...(typeof next === 'function' ? next(previous) : next), org_id: stored.orgId };
    const named = await namedPolicies(tools, stored.orgId, sent);
    refuseClosed(sent, named, previous);
    kept = await preparedChange(tools, stored, { previous, sent, named, suppressReset });
    return { key: keptKey(kept, hash), policyIds: named.publicIds };
  });
  if (!changed || !kept) throw problem.not_found();
  await resetQuota(tools, changed, kept.session, kept.quotaScopes);
  told(tools, changed, 'TokenUpdated', 'Key modified.');
  return shownKey(changed);
}

interface Change extends Required<ChangeOptions> {
  readonly previous: Key;
  readonly sent: Key;
  readonly named: NamedPolicies;
}

async function preparedChange(
  tools: KeyTools,
  { orgId, kind }: StoredKey,
  { previous, sent, named, suppressReset }: Change,
) {
  const context = await contextOf(tools, { orgId, key: sent, kind, named });
  // The limits of an organisation are nobody's credential: no certificate binds them.
  const before = kind === 'organisation' ? { ...previous, certificate: sent.certificate } : previous;
  const prepared = prepareKeyUpdate(before, sent, { ...context, suppressReset });
  if (!prepared.ok) return refused(prepared);
  const { certificateToCheck: certificate } = prepared;
  if (certificate && !(await tools.certificates.get(orgId, certificate))) throw problem.certificate_unknown();
  await refuseUnknownBindings(tools.certificates, orgId, sent, previous);
  return prepared;
}

/** Removes a key by its id; false when the organisation has no such key. */
export async function revokeKey(tools: KeyTools, orgId: string, keyId: string): Promise<boolean> {
  const stored = await tools.keys.get(orgId, keyId);
  return stored !== undefined && stored.kind !== 'organisation' && removeKey(tools, stored);
}

/** Removes a key and forgets what it has used; false when it is gone already. */
export async function removeKey(tools: KeyTools, stored: StoredKey): Promise<boolean> {
  const removed = await tools.keys.remove(stored);
  await forgetQuota(tools, stored);
  if (removed) told(tools, stored, 'TokenDeleted', 'Key deleted.');
  return removed;
}

/** A key as it stands now, with what is left of its quotas. */
export const liveKey = async (tools: KeyTools, stored: StoredKey): Promise<IssuedKey> =>
  shownKey(await liveQuota(tools, stored));

/** A member that must be there for this way of making a key. */
export const required = (path: string): Fault => ({ path, message: 'is required' });
