import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import type { AccessRule, KongApi } from './kong-plugins.ts';
import type { PlanBuilder } from './plan.ts';
import { toAccessRights } from './proxied-api.ts';

/** Consumers of Kong as keys: each credential is a key with the rights of the consumer. */

const readList = (value: unknown) => arrayOrEmpty(value).filter(isObject);
const toText = (value: unknown) => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');

const movedMembers = new Set(
  'username custom_id id tags created_at acls groups plugins keyauth_credentials basicauth_credentials'.split(' '),
);

export function addKongConsumers(
  plan: PlanBuilder,
  path: string,
  consumers: readonly JsonObject[],
  apis: readonly KongApi[],
): void {
  for (const consumer of consumers) addConsumer(plan, path, consumer, apis);
}

function addConsumer(plan: PlanBuilder, path: string, consumer: JsonObject, apis: readonly KongApi[]): void {
  const name = toText(consumer.username) || toText(consumer.custom_id) || toText(consumer.id);
  const source = `${path}: consumers.${name}`;
  const groups = readList(consumer.acls).map(({ group }) => toText(group));
  for (const [member, list] of Object.entries(consumer))
    if (!movedMembers.has(member) && arrayOrEmpty(list).length > 0)
      plan.leaveOut(source, member, 'credentials of this kind are not moved');
  const limits = readLimits(plan, source, readList(consumer.plugins));
  const build = (auth: AccessRule['auth']) => ({
    alias: name,
    access_rights: toAccessRights(apis.filter(api => isAllowed(api.access, auth, groups)).map(it => it.definition)),
    ...limits,
  });
  const notes: string[] = [];
  for (const [index, { key, ttl }] of readList(consumer.keyauth_credentials).entries()) {
    const place = `${source}.keyauth_credentials[${index}]`;
    if (toText(key) === '') plan.leaveOut(place, 'key', 'Kong generates it: it is not in the file');
    else if (ttl !== undefined && ttl !== null)
      plan.leaveOut(place, 'key', 'it expires, and the time of its creation is not in the file');
    else addKey(plan, { id: toText(key), source: place, body: build('key'), notes });
  }
  for (const [index, { username, password }] of readList(consumer.basicauth_credentials).entries()) {
    const place = `${source}.basicauth_credentials[${index}]`;
    if (toText(username) === '' || toText(password) === '') plan.leaveOut(place, 'key', 'it has no name or password');
    else
      addKey(plan, {
        id: toText(username),
        source: place,
        notes,
        body: { ...build('basic'), basic_auth_data: { password: toText(password) } },
      });
  }
}

interface PlannedKey {
  readonly id: string;
  readonly source: string;
  readonly body: JsonObject;
  readonly notes: readonly string[];
}

/** A key without rights would be valid for every API. */
function addKey(plan: PlanBuilder, key: PlannedKey): void {
  if (Object.keys(objectOrEmpty(key.body.access_rights)).length === 0)
    return plan.leaveOut(key.source, 'key', 'no API that is moved accepts it');
  plan.add({ kind: 'key', ...key });
}

const isAllowed = (rule: AccessRule, auth: AccessRule['auth'], groups: readonly string[]) =>
  rule.auth === auth &&
  (rule.allowedGroups === undefined || rule.allowedGroups.some(group => groups.includes(group))) &&
  !rule.deniedGroups.some(group => groups.includes(group));

const windows: readonly (readonly [string, number])[] = [
  ['second', 1],
  ['minute', 60],
  ['hour', 3600],
];

/** Rate limits of a consumer are those of its keys. */
function readLimits(plan: PlanBuilder, source: string, plugins: readonly JsonObject[]): JsonObject {
  let limits: JsonObject = {};
  for (const { name, config } of plugins) {
    const window = windows.find(([unit]) => typeof objectOrEmpty(config)[unit] === 'number');
    if (name === 'rate-limiting' && window) limits = { rate: objectOrEmpty(config)[window[0]], per: window[1] };
    else plan.leaveOut(source, `plugin ${toText(name)}`, 'it has no equivalent for a key');
  }
  return limits;
}
