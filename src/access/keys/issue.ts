import type { Clock } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import { hashPassword } from '#base/passwords.ts';
import { Problem } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { EmitEvent } from '#events/events.ts';
import type { EventName } from '#events/payload.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import type { FindApis } from '../api-lookup.ts';
import type { CertificateStore } from '../certificates/store.ts';
import type { PolicyStore } from '../policies/store.ts';
import { refuseUnknownBindings, refuseUnknownCertificate } from './bindings.ts';
import type { KeyCounters } from './counters.ts';
import { type PreparedKey, prepareKeyUpdate, prepareNewKey, withPassword } from './creation.ts';
import { formatKeyId, nameFault, parseKeyToken } from './ids.ts';
import {
  buildKeyContext,
  type ResolvedPolicies,
  refuseInactivePolicies,
  resolvePolicies,
  throwInvalidKey,
} from './issue-context.ts';
import { clearQuota, resetQuota, withLiveQuota } from './live-quota.ts';
import { problem } from './problems.ts';
import { type Key, keyEnvelope } from './schema.ts';
import type { KeyKind, KeyStore, StoredKey } from './store.ts';

/** How keys come to be, change and go, whoever asks: the dashboard, the operator or the portal. */
export interface KeyTools {
  keys: KeyStore;
  policies: PolicyStore;
  certificates: CertificateStore;
  findApis: FindApis;
  counting: KeyCounters;
  clock: Clock;
  settings: Settings;
  /** Tells handlers; they learn the hash of a key, never the key. */
  emitEvent: EmitEvent;
}

export type IssuedKey = ReturnType<typeof keyEnvelope>;

export interface IssueOptions {
  /** The name of a custom key or of a basic-auth user; a key without one gets a random id. */
  readonly name?: string | undefined;
  readonly kind?: KeyKind;
}

/** Longer names than anybody types; they stand in headers, paths and logs. */
const maxNameLength = 256;
const hashType = 'scrypt';

/** A key with its names, as answers show it. */
export const toIssuedKey = ({ key, keyId, keyHash }: StoredKey): IssuedKey => keyEnvelope(key, keyId, keyHash);

/** The id a name gets in an organisation. A key brought from another installation in the JSON form keeps its id. */
export function buildKeyId(orgId: string, name: string, settings: Settings): string {
  const token = parseKeyToken(name);
  if (token?.org === orgId && token.id !== '') return name;
  const keyId = formatKeyId(orgId, name);
  const localName = keyId.slice(orgId.length);
  const fault =
    nameFault(localName, settings['keys.min_length']) ??
    (localName.length > maxNameLength ? `a key may have at most ${maxNameLength} characters` : undefined) ??
    (/\p{Cc}/u.test(localName) ? 'a key may not hold control characters' : undefined);
  if (fault) throw createInvalidProblem([{ path: '', message: fault }]);
  return keyId;
}

/** Hashing takes long, so it happens before anything is locked. */
const hashSentPassword = async (key: Key): Promise<string | undefined> => {
  const password = key.basic_auth_data?.password;
  return password ? hashPassword(password) : undefined;
};

function withHashedPassword({ key, passwordToHash }: PreparedKey, hash: string | undefined): Key {
  return passwordToHash && hash ? withPassword(key, { password: hash, hash_type: hashType }) : key;
}

async function prepareNew(tools: KeyTools, orgId: string, sent: Key, kind: KeyKind, resolved: ResolvedPolicies) {
  refuseInactivePolicies(sent, resolved);
  if (kind !== 'organisation') await refuseUnknownCertificate(tools.certificates, orgId, sent);
  await refuseUnknownBindings(tools.certificates, orgId, sent);
  const context = await buildKeyContext(tools, { orgId, key: sent, kind, resolved });
  const prepared = prepareNewKey(sent, { ...context, ...(sent.hmac_string ? {} : { randomHex: createPublicId }) });
  return prepared.ok ? prepared : throwInvalidKey(prepared);
}

/** Makes a key. Its id is in the answer, and nowhere else later where only hashes are kept. */
export async function issueKey(
  tools: KeyTools,
  orgId: string,
  key: Key,
  { name, kind = 'token' }: IssueOptions = {},
): Promise<IssuedKey> {
  const keyId = name === undefined ? await createKeyId(tools, orgId, key) : buildKeyId(orgId, name, tools.settings);
  return createKeyWithId(tools, { orgId, keyId, kind }, key);
}

/** A key bound to a certificate is found by it, so its id is made of that of the certificate; any other is random. */
async function createKeyId({ certificates }: Pick<KeyTools, 'certificates'>, orgId: string, { certificate }: Key) {
  const bound = certificate ? await certificates.get(orgId, certificate) : undefined;
  return formatKeyId(orgId, bound ? bound.id : createPublicId());
}

export interface KeyIdentity {
  readonly orgId: string;
  readonly keyId: string;
  readonly kind: KeyKind;
}

/** Makes a key of exactly this id. */
export async function createKeyWithId(
  tools: KeyTools,
  { orgId, keyId, kind }: KeyIdentity,
  key: Key,
): Promise<IssuedKey> {
  const sent = { ...key, org_id: orgId };
  const resolved = await resolvePolicies(tools, orgId, sent);
  const prepared = await prepareNew(tools, orgId, sent, kind, resolved);
  const createdAtMs = tools.clock.now();
  const stored = await tools.keys.create({
    rowId: createDatabaseId(createdAtMs),
    orgId,
    kind,
    keyId,
    createdAtMs,
    key: withHashedPassword(prepared, await hashSentPassword(sent)),
    policyIds: resolved.publicIds,
  });
  await resetQuota(tools, stored, prepared.session, prepared.quotaScopes);
  emitKeyEvent(tools, stored, 'TokenCreated', 'Key generated.');
  return toIssuedKey(stored);
}

/** The limits of an organisation are kept like a key, but are none. */
function emitKeyEvent(
  { emitEvent }: KeyTools,
  { kind, orgId, keyHash }: StoredKey,
  event: EventName,
  message: string,
): void {
  if (kind !== 'organisation') emitEvent(event, orgId, { message, key: keyHash });
}

export interface PutKeyResult {
  readonly issued: IssuedKey;
  readonly action: 'added' | 'modified';
}

/** Makes a key of exactly this id, or replaces the one there is. Whoever comes second, of two at once, replaces. */
export async function putKey(
  tools: KeyTools,
  identity: KeyIdentity,
  key: Key,
  options: ChangeOptions = {},
): Promise<PutKeyResult> {
  const isSameKey = (it: StoredKey | undefined) => it?.kind === identity.kind && it.orgId === identity.orgId;
  const existing = await tools.keys.getAnywhere(identity.keyId);
  if (existing && !isSameKey(existing)) throw problem.exists();
  if (existing) return { issued: await changeKey(tools, existing, key, options), action: 'modified' };
  try {
    return { issued: await createKeyWithId(tools, identity, key), action: 'added' };
  } catch (error) {
    const concurrent = isExists(error) ? await tools.keys.getAnywhere(identity.keyId) : undefined;
    if (!concurrent || !isSameKey(concurrent)) throw error;
    return { issued: await changeKey(tools, concurrent, key, options), action: 'modified' };
  }
}

const isExists = (error: unknown) => error instanceof Problem && error.code === problem.exists.code;

/** What would be made of a key, with its policies applied; nothing is kept. */
export async function previewKey(tools: KeyTools, orgId: string, key: Key): Promise<IssuedKey> {
  const sent = { ...key, org_id: orgId };
  const kind = sent.basic_auth_data?.password ? 'basic' : 'token';
  const { effective } = await prepareNew(tools, orgId, sent, kind, await resolvePolicies(tools, orgId, sent));
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
  const hash = typeof next === 'function' ? undefined : await hashSentPassword(next);
  let prepared: PreparedKey | undefined;
  const changed = await tools.keys.change(stored, async previous => {
    const sent = { ...(typeof next === 'function' ? next(previous) : next), org_id: stored.orgId };
    const resolved = await resolvePolicies(tools, stored.orgId, sent);
    refuseInactivePolicies(sent, resolved, previous);
    prepared = await prepareChange(tools, stored, { previous, sent, resolved, suppressReset });
    return { key: withHashedPassword(prepared, hash), policyIds: resolved.publicIds };
  });
  if (!changed || !prepared) throw problem.not_found();
  await resetQuota(tools, changed, prepared.session, prepared.quotaScopes);
  emitKeyEvent(tools, changed, 'TokenUpdated', 'Key modified.');
  return toIssuedKey(changed);
}

interface KeyChange extends Required<ChangeOptions> {
  readonly previous: Key;
  readonly sent: Key;
  readonly resolved: ResolvedPolicies;
}

async function prepareChange(
  tools: KeyTools,
  { orgId, kind }: StoredKey,
  { previous, sent, resolved, suppressReset }: KeyChange,
) {
  const context = await buildKeyContext(tools, { orgId, key: sent, kind, resolved });
  // The limits of an organisation are nobody's credential: no certificate binds them.
  const before = kind === 'organisation' ? { ...previous, certificate: sent.certificate } : previous;
  const prepared = prepareKeyUpdate(before, sent, { ...context, suppressReset });
  if (!prepared.ok) return throwInvalidKey(prepared);
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
  await clearQuota(tools, stored);
  if (removed) emitKeyEvent(tools, stored, 'TokenDeleted', 'Key deleted.');
  return removed;
}

/** A key as it stands now, with what is left of its quotas. */
export const readLiveKey = async (tools: KeyTools, stored: StoredKey): Promise<IssuedKey> =>
  toIssuedKey(await withLiveQuota(tools, stored));

/** A member that must be there for this way of making a key. */
export const requiredFault = (path: string): ValidationError => ({ path, message: 'is required' });
