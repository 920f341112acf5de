import { basename, dirname } from 'node:path';
import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import type { Document } from '../documents.ts';
import { type ExportedItem, formatPlace } from './place.ts';
import { createMigrationPlan, type MigrationPlan, type PlanBuilder } from './plan.ts';
import { parseExport, readExports } from './read-exports.ts';
import { addTykClient, addTykKey, addTykPolicy, isTykClient, isTykKey, isTykPolicy } from './tyk-access.ts';
import { addTykApi } from './tyk-apis.ts';

/** Exports of Tyk: definitions in both forms, policies, keys, OAuth clients and certificates, in any of their wrappers. */

const pattern = /\.(json|ya?ml|pem|crt|cer)$/i;
/** By the name of the file: definitions may hold PEM texts too. */
const certificateFile = /\.(pem|crt|cer)$/i;

export function readTykExports(path: string): MigrationPlan {
  const plan = createMigrationPlan();
  const classics: ExportedItem[] = [];
  for (const file of readExports(path, pattern, plan)) {
    if (certificateFile.test(file.path)) addCertificate(plan, file.path, file.text);
    else
      for (const [index, value] of (parseExport(file, plan) ?? []).entries())
        addValue({ plan, classics }, { value, source: file.path, name: index === 0 ? '' : `document ${index + 1}` });
  }
  addClassics(plan, classics);
  return plan.build();
}

interface TykReader {
  readonly plan: PlanBuilder;
  /** Classic definitions: added last, since those of APIs in the OpenAPI form have a document of their own. */
  readonly classics: ExportedItem[];
}

function addCertificate(plan: PlanBuilder, path: string, text: string): void {
  if (!/-----BEGIN [A-Z0-9 ]+-----/.test(text)) return plan.leaveOut(path, 'file', 'it has no PEM text');
  plan.add({ kind: 'certificate', id: path, source: path, body: text, notes: [] });
}

/** Wrappers: the member with the list, as lists of the product's interfaces return them. */
const listMembers = ['apis', 'Data', 'policies', 'keys', 'apps', 'clients', 'organisations', 'data'];

function addValue(reader: TykReader, item: ExportedItem): void {
  const { value } = item;
  if (Array.isArray(value)) return addEach(reader, item, value);
  if (!isObject(value)) return reader.plan.leaveOut(formatPlace(item), 'value', 'it is no object');
  if (isIndexFile(value)) return;
  if (isCustomResource(value)) return addValue(reader, { ...item, value: unwrapResource(value) });
  if (isObject(value.api_definition)) return addWrapped(reader, item, value);
  if (hasExtension(value)) return addTykApi(reader.plan, item, value);
  const list = listMembers.find(member => Array.isArray(value[member]));
  if (list && !isObject(value.proxy) && !isObject(value.access_rights))
    return addEach(reader, item, arrayOrEmpty(value[list]));
  if (isObject(value.proxy)) return void reader.classics.push(item);
  addAccess(reader, item, value);
}

const addEach = (reader: TykReader, item: ExportedItem, values: readonly unknown[]): void => {
  for (const [index, value] of values.entries())
    if (value !== null) addValue(reader, { ...item, value, name: `${item.name}[${index}]` });
};

/** Index of a directory: names files, and holds no object of its own. */
const isIndexFile = (value: JsonObject) => Array.isArray(value.files) && typeof value.type === 'string';
const isCustomResource = (value: JsonObject) =>
  typeof value.apiVersion === 'string' && value.apiVersion.startsWith('tyk.tyk.io/') && isObject(value.spec);
/** Custom resources of Kubernetes: the definition or policy is the spec, named by its metadata. */
const unwrapResource = ({ spec, metadata }: JsonObject): JsonObject => {
  const { name } = objectOrEmpty(metadata);
  return { ...(typeof name === 'string' && { name }), ...objectOrEmpty(spec) };
};
const hasExtension = (value: JsonObject) => Object.keys(value).some(name => /^x-(tyk|gw)-api-gateway$/.test(name));

/** Wrapper of the dashboard: the definition, and the document where there is one. */
function addWrapped(reader: TykReader, item: ExportedItem, value: JsonObject): void {
  if (isObject(value.oas) && hasExtension(value.oas)) return addTykApi(reader.plan, item, value.oas);
  reader.classics.push({ ...item, value: value.api_definition });
}

function addAccess(reader: TykReader, item: ExportedItem, value: JsonObject): void {
  const { plan } = reader;
  if (isObject(value.data) && isTykKey(value.data)) {
    const { key_id, key_hash } = value;
    return addTykKey(plan, item, {
      ...value.data,
      ...(key_id !== undefined && { key_id }),
      ...(key_hash !== undefined && { key_hash }),
    });
  }
  if (isTykPolicy(value)) return addTykPolicy(plan, item, value);
  if (isTykKey(value)) return addTykKey(plan, item, value);
  if (isTykClient(value)) return addTykClient(plan, item, value, basename(dirname(item.source)));
  if (typeof value.owner_name === 'string') return nameOrganisation(plan, value);
  const entries = Object.entries(value);
  const isMap = entries.length > 0 && entries.every(([, inside]) => isObject(inside) && isMappedObject(inside));
  if (!isMap) return plan.leaveOut(formatPlace(item), 'document', describeUnknown(value));
  for (const [name, inside] of entries) addMapped(reader, { ...item, name }, inside as JsonObject);
}

const isMappedObject = (value: JsonObject) => isTykPolicy(value) || isTykKey(value);

/** Map by id: the policies of a gateway without a dashboard, or keys. */
function addMapped({ plan }: TykReader, item: ExportedItem, value: JsonObject): void {
  if (isTykPolicy(value)) addTykPolicy(plan, item, { id: item.name, ...value });
  else addTykKey(plan, item, { key_id: item.name, ...value });
}

function nameOrganisation(plan: PlanBuilder, { id, owner_name }: JsonObject): void {
  if (typeof id === 'string' && id !== '') plan.nameOrganisation(id, String(owner_name));
}

/** Documents of known kinds that are not moved, each with the reason. */
function describeUnknown(value: JsonObject): string {
  if ('email_address' in value) return 'users are not moved: password hashes cannot be imported; create new ones';
  if ('target_path' in value) return 'create webhooks with POST /api/hooks: they get a new id';
  if (Array.isArray(value.certs)) return 'a list of certificates has no certificates: export them as PEM';
  return 'it is no definition, policy, key, OAuth client or organisation';
}

/** Classic definitions. One that was derived from an OpenAPI document of the export is left to that document. */
function addClassics(plan: PlanBuilder, classics: readonly ExportedItem[]): void {
  const documents = new Set(
    plan.build().objects.flatMap(({ kind, id, body }) => (kind === 'API' && isOpenApi(body) ? [id] : [])),
  );
  for (const item of classics) {
    const { api_id, is_oas } = objectOrEmpty(item.value);
    if (is_oas === true && documents.has(String(api_id))) continue;
    addTykApi(plan, item, objectOrEmpty(item.value));
  }
}

const isOpenApi = (body: Document | string) => typeof body !== 'string' && 'x-gw-api-gateway' in body;
