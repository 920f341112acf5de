import type { Clock } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import type { Log } from '#base/log.ts';
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
import { carryQuota, clearQuota, compileSession, resetQuota, withLiveQuota } from './live-quota.ts';
import { problem } from './problems.ts';
import { type Key, keyEnvelope } from './schema.ts';
import type { Session } from './session.ts';
import type { KeyKind, KeyStore, StoredKey } from './store.ts';

/** Services for creating, changing and removing keys, shared by dashboard, gateway API and portal. */
export interface KeyServices {
  keys: KeyStore;
  policies: PolicyStore;
  certificates: CertificateStore;
  findApis: FindApis;
  counting: KeyCounters;
  clock: Clock;
  log: Log;
  settings: Settings;
  /** Emits a key event; it carries the key hash, never the key. */
  emitEvent: EmitEvent;
}

export type IssuedKey = ReturnType<typeof keyEnvelope>;

export interface IssueKeyOptions {
  /** Name of a custom key or basic-auth user; without one the id is random. */
  readonly name?: string | undefined;
  readonly kind?: KeyKind;
}

/** Key names appear in headers, paths and logs. */
const maxNameLength = 256;
const hashType = 'scrypt';

/** Response form of a stored key. */
export const toIssuedKey = ({ key, keyId, keyHash }: StoredKey): IssuedKey => keyEnvelope(key, keyId, keyHash);

/** Key id of a name in an organisation. An imported key in JSON form keeps its id. */
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

/** Password hashing is slow: it runs before any lock. */
const hashSentPassword = async (key: Key): Promise<string | undefined> => {
  const password = key.basic_auth_data?.password;
  return password ? hashPassword(password) : undefined;
};

function withHashedPassword({ key, passwordToHash }: PreparedKey, hash: string | undefined): Key {
  return passwordToHash && hash ? withPassword(key, { password: hash, hash_type: hashType }) : key;
}

async function prepareNew(services: KeyServices, orgId: string, sent: Key, kind: KeyKind, resolved: ResolvedPolicies) {
  refuseInactivePolicies(sent, resolved);
  if (kind !== 'organisation') await refuseUnknownCertificate(services.certificates, orgId, sent);
  await refuseUnknownBindings(services.certificates, orgId, sent);
  const context = await buildKeyContext(services, { orgId, key: sent, kind, resolved });
  const prepared = prepareNewKey(sent, { ...context, ...(sent.hmac_string ? {} : { randomHex: createPublicId }) });
  return prepared.ok ? prepared : throwInvalidKey(prepared);
}

/** Issues a key. Where only hashes are stored, the response is the only place with its id. */
export async function issueKey(
  services: KeyServices,
  orgId: string,
  key: Key,
  { name, kind = 'token' }: IssueKeyOptions = {},
): Promise<IssuedKey> {
  const keyId =
    name === undefined ? await createKeyId(services, orgId, key) : buildKeyId(orgId, name, services.settings);
  return createKeyWithId(services, { orgId, keyId, kind }, key);
}

/** A certificate-bound key is looked up by certificate, so its id derives from it; others are random. */
async function createKeyId({ certificates }: Pick<KeyServices, 'certificates'>, orgId: string, { certificate }: Key) {
  const bound = certificate ? await certificates.get(orgId, certificate) : undefined;
  return formatKeyId(orgId, bound ? bound.id : createPublicId());
}

export interface KeyIdentity {
  readonly orgId: string;
  readonly keyId: string;
  readonly kind: KeyKind;
}

export const createKeyWithId = async (services: KeyServices, identity: KeyIdentity, key: Key): Promise<IssuedKey> =>
  toIssuedKey(await storeNewKey(services, identity, key));

/** Creates a key with this id. */
export async function storeNewKey(
  services: KeyServices,
  { orgId, keyId, kind }: KeyIdentity,
  key: Key,
): Promise<StoredKey> {
  const sent = { ...key, org_id: orgId };
  const resolved = await resolvePolicies(services, orgId, sent);
  const prepared = await prepareNew(services, orgId, sent, kind, resolved);
  const createdAtMs = services.clock.now();
  const stored = await services.keys.create({
    rowId: createDatabaseId(createdAtMs),
    orgId,
    kind,
    keyId,
    createdAtMs,
    key: withHashedPassword(prepared, await hashSentPassword(sent)),
    policyIds: resolved.publicIds,
  });
  await resetQuota(services, stored, prepared.session, prepared.quotaScopes);
  logWarnings(services, stored, prepared);
  emitKeyEvent(services, stored, 'TokenCreated', 'Key generated.');
  return stored;
}

/** Warnings of one key in the log; a key may have rights to any number of unknown APIs. */
const maxLoggedWarnings = 10;

function logWarnings({ log }: KeyServices, { orgId, keyHash }: StoredKey, { warnings }: PreparedKey): void {
  if (warnings.length === 0) return;
  log.warn({ org: orgId, key: keyHash, warnings: warnings.slice(0, maxLoggedWarnings) }, 'key stored with warnings');
}

/** Emits a key event; organisation limits are stored as keys but emit none. */
function emitKeyEvent(
  { emitEvent }: KeyServices,
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

/** Upserts a key by id. Of two concurrent writes the second replaces. */
export async function putKey(
  services: KeyServices,
  identity: KeyIdentity,
  key: Key,
  options: ChangeOptions = {},
): Promise<PutKeyResult> {
  const isSameKey = (it: StoredKey | undefined) => it?.kind === identity.kind && it.orgId === identity.orgId;
  const existing = await services.keys.getAnywhere(identity.keyId);
  if (existing && !isSameKey(existing)) throw problem.exists();
  if (existing) return { issued: await changeKey(services, existing, key, options), action: 'modified' };
  try {
    return { issued: await createKeyWithId(services, identity, key), action: 'added' };
  } catch (error) {
    const concurrent = isExists(error) ? await services.keys.getAnywhere(identity.keyId) : undefined;
    if (!concurrent || !isSameKey(concurrent)) throw error;
    return { issued: await changeKey(services, concurrent, key, options), action: 'modified' };
  }
}

const isExists = (error: unknown) => error instanceof Problem && error.code === problem.exists.code;

export interface KeyPreview {
  readonly issued: IssuedKey;
  readonly prepared: PreparedKey;
}

/** Dry run: the key with its policies applied, not stored. */
export async function previewKey(services: KeyServices, orgId: string, key: Key): Promise<KeyPreview> {
  const sent = { ...key, org_id: orgId };
  const kind = sent.basic_auth_data?.password ? 'basic' : 'token';
  const prepared = await prepareNew(services, orgId, sent, kind, await resolvePolicies(services, orgId, sent));
  return { issued: keyEnvelope(prepared.effective, '', ''), prepared };
}

export interface ChangeOptions {
  /** Leaves the running quota period and the rate window as they are. */
  readonly suppressReset?: boolean;
}

/** The next value of a key, or a function of the stored one, so that no concurrent change is lost. */
export type NextKey = Key | ((previous: Key) => Key);

/** Replaces a key; its id, creation date, organisation, and a password not sent stay. */
export async function changeKey(
  services: KeyServices,
  stored: StoredKey,
  next: NextKey,
  { suppressReset = false }: ChangeOptions = {},
): Promise<IssuedKey> {
  const hash = typeof next === 'function' ? undefined : await hashSentPassword(next);
  let prepared: PreparedKey | undefined;
  let before: Session | undefined;
  const changed = await services.keys.change(stored, async previous => {
    before = suppressReset ? await compileSession(services, { orgId: stored.orgId, key: previous }) : undefined;
    const sent = { ...(typeof next === 'function' ? next(previous) : next), org_id: stored.orgId };
    const resolved = await resolvePolicies(services, stored.orgId, sent);
    refuseInactivePolicies(sent, resolved, previous);
    prepared = await prepareChange(services, stored, { previous, sent, resolved, suppressReset });
    return { key: withHashedPassword(prepared, hash), policyIds: resolved.publicIds };
  });
  if (!changed || !prepared) throw problem.not_found();
  await resetQuota(services, changed, prepared.session, prepared.quotaScopes);
  if (before) await carryQuota(services, { stored, session: before }, { stored: changed, session: prepared.session });
  logWarnings(services, changed, prepared);
  emitKeyEvent(services, changed, 'TokenUpdated', 'Key modified.');
  return toIssuedKey(changed);
}

interface KeyChange extends Required<ChangeOptions> {
  readonly previous: Key;
  readonly sent: Key;
  readonly resolved: ResolvedPolicies;
}

async function prepareChange(
  services: KeyServices,
  { orgId, kind }: StoredKey,
  { previous, sent, resolved, suppressReset }: KeyChange,
) {
  const context = await buildKeyContext(services, { orgId, key: sent, kind, resolved });
  // Organisation limits are no credential: no certificate binds them.
  const before = kind === 'organisation' ? { ...previous, certificate: sent.certificate } : previous;
  const prepared = prepareKeyUpdate(before, sent, { ...context, suppressReset });
  if (!prepared.ok) return throwInvalidKey(prepared);
  const { certificateToCheck: certificate } = prepared;
  if (certificate && !(await services.certificates.get(orgId, certificate))) throw problem.certificate_unknown();
  await refuseUnknownBindings(services.certificates, orgId, sent, previous);
  return prepared;
}

/** Removes a key by id; false when the organisation has no such key. */
export async function revokeKey(services: KeyServices, orgId: string, keyId: string): Promise<boolean> {
  const stored = await services.keys.get(orgId, keyId);
  return stored !== undefined && stored.kind !== 'organisation' && removeKey(services, stored);
}

/** Removes a key and clears its counters; false when it no longer exists. */
export async function removeKey(services: KeyServices, stored: StoredKey): Promise<boolean> {
  const removed = await services.keys.remove(stored);
  await clearQuota(services, stored);
  if (removed) emitKeyEvent(services, stored, 'TokenDeleted', 'Key deleted.');
  return removed;
}

/** Key with its current quota counters. */
export const readLiveKey = async (services: KeyServices, stored: StoredKey): Promise<IssuedKey> =>
  toIssuedKey(await withLiveQuota(services, stored));

/** ValidationError of a missing member. */
export const missingMember = (path: string): ValidationError => ({ path, message: 'is required' });
