import { basename } from 'node:path';
import { isObject, isZeroValue, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { readKeyOrganisation } from './key-organisation.ts';
import { type ExportPlace, formatPlace } from './place.ts';
import type { PlanBuilder } from './plan.ts';
import { describeTypes } from './tyk-apis.ts';
import { renameVendor } from './tyk-names.ts';
import { readExportedValue } from './tyk-values.ts';

/** Policies, keys and OAuth clients of Tyk exports. */

const keyMembers = [
  'apply_policies',
  'apply_policy_id',
  'basic_auth_data',
  'oauth_client_id',
  'jwt_data',
  'data_expires',
  'id_extractor_deadline',
  'session_lifetime',
  'certificate',
  'key_id',
];
const policyMembers = ['partitions', 'key_expires_in', 'state', 'access_rights_array'];

const hasMember = (value: JsonObject, names: readonly string[]) => names.some(name => name in value);

export const isTykPolicy = (value: JsonObject): boolean =>
  (isObject(value.access_rights) || Array.isArray(value.access_rights_array) || 'access_rights' in value) &&
  !hasMember(value, keyMembers) &&
  (hasMember(value, policyMembers) || typeof value.name === 'string' || 'active' in value || !('allowance' in value));

export const isTykKey = (value: JsonObject): boolean =>
  !isTykPolicy(value) &&
  (hasMember(value, keyMembers) || isObject(value.access_rights)) &&
  ('access_rights' in value ||
    'allowance' in value ||
    'rate' in value ||
    hasMember(value, ['apply_policies', 'apply_policy_id']));

export const isTykClient = (value: JsonObject): boolean =>
  typeof value.client_id === 'string' && hasMember(value, ['redirect_uri', 'secret', 'client_secret', 'policy_id']);

const readBody = (given: JsonObject) => {
  const { value, changed } = readExportedValue(renameVendor(given).value);
  return { body: value as JsonObject, notes: describeTypes(changed) };
};

export function addTykPolicy(plan: PlanBuilder, item: ExportPlace, given: JsonObject): void {
  const { body, notes } = readBody(withRights(given));
  const id = [body.id, body._id].find(it => typeof it === 'string' && it !== '');
  if (id === undefined) return plan.leaveOut(formatPlace(item), 'policy', 'it has no id');
  plan.add({ kind: 'policy', id: String(id), source: formatPlace(item), body: { ...body, id }, notes });
}

/** Custom resources of Kubernetes list the rights. */
function withRights({ access_rights_array, ...policy }: JsonObject): JsonObject {
  if (!Array.isArray(access_rights_array)) return policy;
  if (isObject(policy.access_rights)) return policy;
  const entries = access_rights_array
    .filter(isObject)
    .map(right => [String(right.api_id ?? right.name), right] as const);
  return { ...policy, access_rights: Object.fromEntries(entries) };
}

/** Password hashes: as passwords they would be valid for every reader of the export. */
const isHashedPassword = ({ password, hash_type, hash }: JsonObject) =>
  !isZeroValue(hash_type) ||
  !isZeroValue(hash) ||
  (typeof password === 'string' && /^\$(2[abxy]?|argon2\w*|5|6)\$/.test(password));

export function addTykKey(plan: PlanBuilder, item: ExportPlace, given: JsonObject): void {
  const source = formatPlace(item);
  const { key_id, key_hash, key: _key, api_model: _model, ...rest } = given;
  const id = findKeyId(item, key_id);
  const place = maskPlace(item, id);
  if (id === undefined) {
    const reason = isZeroValue(key_hash)
      ? 'its id is not in the export'
      : 'only its hash is in the export: create a new key';
    return plan.leaveOut(place, 'key', reason);
  }
  if (!isZeroValue(rest.oauth_client_id))
    return plan.leaveOut(place, 'key', 'access tokens are not moved: clients request new ones');
  const basic = objectOrEmpty(rest.basic_auth_data);
  if (!isZeroValue(basic.password) && isHashedPassword(basic))
    return plan.leaveOut(place, 'key', 'password hashes cannot be imported: create the user with a password');
  const { body, notes } = readBody(withoutLegacy(rest));
  const owner = isZeroValue(body.org_id) ? readKeyOrganisation(id) : undefined;
  plan.add({ kind: 'key', id, source, body: owner === undefined ? body : { ...body, org_id: owner }, notes });
}

/** Place without the key itself, which names its file or its entry of a map. */
const maskPlace = (item: ExportPlace, id: string | undefined) =>
  id === undefined ? formatPlace(item) : formatPlace(item).replaceAll(id, '…');

/** Rights of a key are in `access_rights`; the list beside it repeats them. */
const withoutLegacy = ({ access_rights_array, ...key }: JsonObject): JsonObject =>
  isObject(key.access_rights) || access_rights_array === undefined ? key : withRights({ ...key, access_rights_array });

/** Id in the object or the map, or the name of the file, as an export of the key store writes it. */
function findKeyId({ source, name }: ExportPlace, given: unknown): string | undefined {
  if (typeof given === 'string' && given !== '') return given;
  if (typeof given === 'number') return String(given);
  if (name !== '') return undefined;
  const [, prefixed, plain] =
    /^(?:(?:apikey|key)-(.+)|([A-Za-z0-9+/=_-]{16,}))\.(?:json|ya?ml)$/.exec(basename(source)) ?? [];
  return prefixed ?? plain;
}

export function addTykClient(plan: PlanBuilder, item: ExportPlace, given: JsonObject, folder: string): void {
  const { client_secret, api_id, ...rest } = given;
  const secret = rest.secret ?? client_secret;
  const source = formatPlace(item);
  if (typeof secret !== 'string' || secret === '')
    return plan.leaveOut(source, 'OAuth client', 'its secret is not in the export');
  const apiId = typeof api_id === 'string' && api_id !== '' ? api_id : readApiFolder(folder);
  const { body, notes } = readBody({ ...rest, secret, ...(apiId !== undefined && { api_id: apiId }) });
  const id = `${apiId ?? ''}/${String(body.client_id)}`;
  plan.add({ kind: 'OAuth client', id, source, body, notes });
}

/** Clients are exported by API: the folder has its id. */
const readApiFolder = (folder: string) =>
  folder === '.' || folder === '' || /^(oauth|clients|oauth[-_]clients)$/i.test(folder) ? undefined : folder;
