import type { AccessRight, AllowedUrl, Key } from '#access/keys/schema.ts';
import type { Right, Session } from '#access/keys/session.ts';
import type { ProtobufReader } from '#base/protobuf/protobuf-reader.ts';
import type { ProtobufWriter } from '#base/protobuf/protobuf-writer.ts';
import type { Exchange } from '../../pipeline/exchange.ts';
import { createTextMap, readEntry, type TextMap, writeMap, writeNonEmpty } from './field-maps.ts';

/** Field numbers of `coprocess.SessionState`. */
const fields = {
  last_check: 1,
  allowance: 2,
  rate: 3,
  per: 4,
  expires: 5,
  quota_max: 6,
  quota_renews: 7,
  quota_remaining: 8,
  quota_renewal_rate: 9,
  access_rights: 10,
  org_id: 11,
  oauth_client_id: 12,
  oauth_keys: 13,
  basic_auth_data: 14,
  jwt_data: 15,
  hmac_enabled: 16,
  hmac_secret: 17,
  is_inactive: 18,
  apply_policy_id: 19,
  data_expires: 20,
  monitor: 21,
  enable_detailed_recording: 22,
  metadata: 23,
  tags: 24,
  alias: 25,
  last_updated: 26,
  id_extractor_deadline: 27,
  session_lifetime: 28,
  apply_policies: 29,
  certificate: 30,
  max_query_depth: 31,
  key_id: 32,
  post_expiry_action: 33,
  post_expiry_grace_period: 34,
} as const;

const accessFields = { api_name: 1, api_id: 2, versions: 3, allowed_urls: 4 } as const;

/** Metadata as texts: other values are JSON. */
export function toTextMap(metaData: Readonly<Record<string, unknown>>): TextMap {
  const texts = createTextMap();
  for (const [name, value] of Object.entries(metaData))
    texts[name] = typeof value === 'string' ? value : JSON.stringify(value);
  return texts;
}

/**
 * Session of a request. Secrets of the key stay in the gateway: `hmac_secret`, `basic_auth_data`, `jwt_data` and
 * `oauth_keys` are empty. Members that the gateway does not hold per request (`last_check`, `allowance`,
 * `apply_policy_id`, `data_expires`) are 0 or empty.
 */
export function writeSession(
  writer: ProtobufWriter,
  field: number,
  call: Exchange,
  session: Session,
  meta: TextMap,
): void {
  const start = writer.beginMessage(field);
  writeLimits(writer, call, session);
  for (const [apiId, right] of session.rights) writeRight(writer, apiId, right);
  writeNonEmpty(writer, fields.org_id, session.orgId);
  writeNonEmpty(writer, fields.oauth_client_id, session.oauthClientId ?? '');
  if (session.hmacSecret !== undefined) writer.writeUnsigned(fields.hmac_enabled, 1);
  if (session.inactive) writer.writeUnsigned(fields.is_inactive, 1);
  if (session.quotaAlertPercents.length > 0) {
    const monitor = writer.beginMessage(fields.monitor);
    writer.writePackedDouble(1, session.quotaAlertPercents);
    writer.endMessage(monitor);
  }
  if (session.detailedRecording) writer.writeUnsigned(fields.enable_detailed_recording, 1);
  writeMap(writer, fields.metadata, meta);
  for (const tag of session.tags) writer.writeString(fields.tags, tag);
  writeNonEmpty(writer, fields.alias, session.alias);
  writeNonEmpty(writer, fields.last_updated, session.lastUpdated);
  writeInteger(writer, fields.id_extractor_deadline, session.pluginDeadline);
  writeInteger(writer, fields.session_lifetime, session.lifetimeSeconds ?? 0);
  for (const id of session.policyIds) writer.writeString(fields.apply_policies, id);
  writeNonEmpty(writer, fields.certificate, session.certificate ?? '');
  writeNonEmpty(writer, fields.key_id, call.keyId);
  writeNonEmpty(writer, fields.post_expiry_action, session.afterExpiry?.action ?? '');
  writeInteger(writer, fields.post_expiry_grace_period, session.afterExpiry?.graceSeconds ?? 0);
  writer.endMessage(start);
}

function writeInteger(writer: ProtobufWriter, field: number, value: number): void {
  if (value !== 0) writer.writeSigned(field, Math.trunc(value));
}

function writeLimits(writer: ProtobufWriter, { quota }: Exchange, { limits, expires }: Session): void {
  if (limits.rate) {
    writer.writeDouble(fields.rate, limits.rate.rate);
    writer.writeDouble(fields.per, limits.rate.perSeconds);
  }
  writeInteger(writer, fields.expires, expires ?? 0);
  writeInteger(writer, fields.quota_max, limits.quota?.max ?? 0);
  writeInteger(writer, fields.quota_renewal_rate, limits.quota?.renewalSeconds ?? 0);
  writeInteger(writer, fields.max_query_depth, limits.queryDepth ?? 0);
  if (!quota) return;
  writeInteger(writer, fields.quota_renews, quota.resetsAtMs / 1000);
  writeInteger(writer, fields.quota_remaining, quota.remaining);
}

function writeRight(writer: ProtobufWriter, apiId: string, { written, versions, allowedUrls }: Right): void {
  const entry = writer.beginMessage(fields.access_rights);
  writer.writeString(1, apiId);
  const right = writer.beginMessage(2);
  writeNonEmpty(writer, accessFields.api_name, written.api_name ?? '');
  writeNonEmpty(writer, accessFields.api_id, written.api_id ?? apiId);
  for (const version of versions) writer.writeString(accessFields.versions, version);
  for (const { url, methods } of allowedUrls) {
    const allowed = writer.beginMessage(accessFields.allowed_urls);
    writeNonEmpty(writer, 1, url);
    for (const method of methods) writer.writeString(2, method);
    writer.endMessage(allowed);
  }
  writer.endMessage(right);
  writer.endMessage(entry);
}

type Members = { -readonly [Name in keyof Key]: Key[Name] } & Record<string, unknown>;
type Read = (reader: ProtobufReader, key: Members) => void;

const signed =
  (name: string): Read =>
  (reader, key) => {
    key[name] = reader.readSigned();
  };
const double =
  (name: string): Read =>
  (reader, key) => {
    key[name] = reader.readDouble();
  };
const flag =
  (name: string): Read =>
  (reader, key) => {
    key[name] = reader.readFlag();
  };
const text =
  (name: string): Read =>
  (reader, key) => {
    key[name] = reader.readString();
  };
const texts =
  (name: string): Read =>
  (reader, key) => {
    key[name] ??= [];
    (key[name] as string[]).push(reader.readString());
  };
const map =
  (name: string): Read =>
  (reader, key) => {
    key[name] ??= createTextMap();
    readEntry(reader, key[name] as TextMap);
  };

/** Readers by field number; members of a key have the same names but for two. */
const readers: ReadonlyMap<number, Read> = new Map<number, Read>([
  [fields.last_check, signed('last_check')],
  [fields.allowance, double('allowance')],
  [fields.rate, double('rate')],
  [fields.per, double('per')],
  [fields.expires, signed('expires')],
  [fields.quota_max, signed('quota_max')],
  [fields.quota_renews, signed('quota_renews')],
  [fields.quota_remaining, signed('quota_remaining')],
  [fields.quota_renewal_rate, signed('quota_renewal_rate')],
  [fields.access_rights, readAccessRight],
  [fields.org_id, text('org_id')],
  [fields.oauth_client_id, text('oauth_client_id')],
  [fields.oauth_keys, map('oauth_keys')],
  [fields.basic_auth_data, readBasicAuth],
  [fields.jwt_data, readJwtData],
  [fields.hmac_enabled, flag('hmac_enabled')],
  [fields.hmac_secret, text('hmac_string')],
  [fields.is_inactive, flag('is_inactive')],
  [fields.apply_policy_id, text('apply_policy_id')],
  [fields.data_expires, signed('data_expires')],
  [fields.monitor, readMonitor],
  [fields.enable_detailed_recording, flag('enable_detailed_recording')],
  [fields.metadata, map('meta_data')],
  [fields.tags, texts('tags')],
  [fields.alias, text('alias')],
  [fields.last_updated, text('last_updated')],
  [fields.id_extractor_deadline, signed('id_extractor_deadline')],
  [fields.session_lifetime, signed('session_lifetime')],
  [fields.apply_policies, texts('apply_policies')],
  [fields.certificate, text('certificate')],
  [fields.max_query_depth, signed('max_query_depth')],
  [fields.key_id, text('key_id')],
  [fields.post_expiry_action, text('post_expiry_action')],
  [fields.post_expiry_grace_period, signed('post_expiry_grace_period')],
]);

/** Session that a server returned, as members of a key. */
export function readSession(reader: ProtobufReader): Record<string, unknown> {
  const key: Members = {};
  for (let field = reader.readField(); field !== 0; field = reader.readField()) {
    const read = readers.get(field);
    if (read) read(reader, key);
    else reader.skip();
  }
  return key;
}

function readAccessRight(reader: ProtobufReader, key: Members): void {
  const entry = reader.readMessage();
  let apiId = '';
  let right: AccessRight = {};
  for (let field = entry.readField(); field !== 0; field = entry.readField()) {
    if (field === 1) apiId = entry.readString();
    else if (field === 2) right = readRight(entry.readMessage());
    else entry.skip();
  }
  key.access_rights ??= Object.create(null) as Record<string, AccessRight>;
  key.access_rights[apiId] = right;
}

function readRight(reader: ProtobufReader): AccessRight {
  const right: Record<string, unknown> = {};
  const versions: string[] = [];
  const allowedUrls: AllowedUrl[] = [];
  for (let field = reader.readField(); field !== 0; field = reader.readField()) {
    if (field === accessFields.api_name) right.api_name = reader.readString();
    else if (field === accessFields.api_id) right.api_id = reader.readString();
    else if (field === accessFields.versions) versions.push(reader.readString());
    else if (field === accessFields.allowed_urls) allowedUrls.push(readAllowedUrl(reader.readMessage()));
    else reader.skip();
  }
  return { ...right, versions, allowed_urls: allowedUrls };
}

function readAllowedUrl(reader: ProtobufReader): AllowedUrl {
  let url = '';
  const methods: string[] = [];
  for (let field = reader.readField(); field !== 0; field = reader.readField()) {
    if (field === 1) url = reader.readString();
    else if (field === 2) methods.push(reader.readString());
    else reader.skip();
  }
  return { url, methods };
}

/** `hash` is an enum: 0 for a password in clear, 1 for bcrypt. */
function readBasicAuth(reader: ProtobufReader, key: Members): void {
  const nested = reader.readMessage();
  const data = { user: '', password: '', hash_type: '' };
  for (let field = nested.readField(); field !== 0; field = nested.readField()) {
    if (field === 1) data.password = nested.readString();
    else if (field === 2) data.hash_type = nested.readUnsigned() === 1 ? 'bcrypt' : '';
    else nested.skip();
  }
  key.basic_auth_data = data;
}

function readJwtData(reader: ProtobufReader, key: Members): void {
  const nested = reader.readMessage();
  let secret = '';
  for (let field = nested.readField(); field !== 0; field = nested.readField()) {
    if (field === 1) secret = nested.readString();
    else nested.skip();
  }
  key.jwt_data = { secret };
}

function readMonitor(reader: ProtobufReader, key: Members): void {
  const nested = reader.readMessage();
  const limits: number[] = [];
  for (let field = nested.readField(); field !== 0; field = nested.readField()) {
    if (field === 1) nested.readDoubles(limits);
    else nested.skip();
  }
  key.monitor = { trigger_limits: limits };
}
