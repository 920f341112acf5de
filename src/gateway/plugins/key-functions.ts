import type { FindApi } from '#access/api-lookup.ts';
import { buildKeyId, changeKey, type KeyServices, putKey, readLiveKey } from '#access/keys/issue.ts';
import { Key } from '#access/keys/schema.ts';
import type { KeyKind, StoredKey } from '#access/keys/store.ts';
import { policyIdsOf } from '#access/policies/apply-policies.ts';
import { isObject } from '#base/json-tree.ts';
import type { WriteAudit } from '#operations/audit.ts';
import { validate } from '#operations/validation-error.ts';
import { PluginFault } from './plugin-rpc.ts';

export interface KeyFunctionServices extends KeyServices {
  findApi: FindApi;
  writeAudit: WriteAudit;
}

/** Organisation and API of the plugin that calls. */
interface Caller {
  readonly orgId: string;
  readonly apiId: string;
}

/** As the control API returns it for a key that does not exist. */
const absentKey = JSON.stringify({ status: 'error', message: 'Key not found' });

/** By id or name, else by hash, in the organisation of the plugin only. Limits of the organisation are no key. */
async function findOwnKey({ keys }: KeyServices, orgId: string, text: string): Promise<StoredKey | undefined> {
  const stored = (await keys.findByCredential(orgId, text)) ?? (await keys.findByHash(orgId, text));
  return stored?.kind === 'organisation' ? undefined : stored;
}

const readText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** `GwGetKeyData(key, apiId)`: the key with its rest of quotas, without its secrets. */
export async function readKeyData(
  services: KeyFunctionServices,
  { orgId }: Caller,
  [keyText, apiText]: readonly unknown[],
): Promise<string> {
  const text = readText(keyText);
  const apiId = readText(apiText);
  if (apiId !== '' && !(await services.findApi(apiId, orgId))) return absentKey;
  const stored = text === '' ? undefined : await findOwnKey(services, orgId, text);
  if (!stored) return absentKey;
  const { data } = await readLiveKey(services, stored);
  // The id is the credential: one who has its hash does not get it.
  return JSON.stringify({ ...omitSecrets(data), key_id: text });
}

/** Members that authenticate; `keepSecrets` puts them back on a write. */
const omitSecrets = (key: Key): Key => ({
  ...key,
  basic_auth_data: { ...key.basic_auth_data, password: '' },
  hmac_string: '',
  jwt_data: { ...key.jwt_data, secret: '' },
  oauth_keys: {},
});

/** A script that reads a key, changes a member and writes it back does not remove the secrets it cannot read. */
const keepSecrets = (sent: Key, { hmac_string, jwt_data, oauth_keys }: Key): Key => ({
  ...sent,
  hmac_string: sent.hmac_string || hmac_string || '',
  jwt_data: { ...sent.jwt_data, secret: sent.jwt_data?.secret || jwt_data?.secret || '' },
  oauth_keys: Object.keys(sent.oauth_keys ?? {}).length > 0 ? sent.oauth_keys : oauth_keys,
});

/** `GwSetKeyData(key, session, suppressReset)`: creates or replaces a key by the rules of the control API. */
export async function writeKeyData(
  services: KeyFunctionServices,
  { orgId, apiId }: Caller,
  [keyText, session, suppress]: readonly unknown[],
): Promise<undefined> {
  const text = readText(keyText);
  const sent = { ...validate(Key, parseSession(session, services.settings['management.max_body_bytes'])) };
  delete sent.key_id;
  const options = { suppressReset: suppress === '1' || suppress === 1 || suppress === true };
  const stored = await findOwnKey(services, orgId, text);
  const kind: KeyKind = sent.basic_auth_data?.password ? 'basic' : 'token';
  const issued = stored
    ? await changeKey(services, stored, keepSecrets(sent, stored.key), options)
    : (await putKey(services, { orgId, keyId: buildKeyId(orgId, text, services.settings), kind }, sent, options))
        .issued;
  await services.writeAudit({
    actor: { surface: 'gateway', id: '', name: `plugin of ${apiId}`, orgId, permissions: {} },
    orgId,
    action: 'GwSetKeyData',
    method: '',
    url: '',
    status: 200,
    ip: '',
    object: issued.key_hash,
  });
  return undefined;
}

function parseSession(session: unknown, maxBytes: number): unknown {
  if (typeof session !== 'string') return session;
  if (Buffer.byteLength(session) > maxBytes) throw new PluginFault(`the session exceeds ${maxBytes} bytes`);
  try {
    return JSON.parse(session);
  } catch {
    throw new PluginFault('the session must be a JSON object');
  }
}

/** Metadata that a hook returned, written to the key of the request. A key that no longer exists has none. */
export async function writeKeyMetadata(
  { keys, policies }: KeyFunctionServices,
  { orgId }: Caller,
  [keyId, metadata]: readonly unknown[],
): Promise<undefined> {
  const stored = await keys.findByCredential(orgId, readText(keyId));
  if (!stored || !isObject(metadata)) return undefined;
  await keys.change(stored, async previous => {
    // Embedded policies are rights, which metadata of a hook does not change.
    const { policies: _, ...given } = metadata;
    const embedded = isObject(previous.meta_data) ? previous.meta_data.policies : undefined;
    const meta_data = embedded === undefined ? given : { ...given, policies: embedded };
    const byId = await policies.findByIds(orgId, policyIdsOf(previous));
    return { key: { ...previous, meta_data }, policyIds: [...byId.values()].map(({ id }) => id) };
  });
  return undefined;
}
