import { type FormObject, isJsonObject, readFieldValue, toJsonObject, withMember } from '../apis/form/json-members.ts';
import type { GraphField } from './graph-fields.ts';

type FieldName = Pick<GraphField, 'type' | 'name'>;

/** How the value of a field is found in the response of its source. */
export type SourceMapping = 'member' | 'whole' | 'path';

/** Path of a text with its members separated by dots; `before` where it is the same, since its names may have dots. */
export const parseSourcePath = (text: string, before: readonly string[]): readonly string[] =>
  text === before.join('.') ? before : text.split('.').filter(name => name !== '');

/** A data source as the form edits it. */
export interface SourceDraft {
  readonly kind: 'REST' | 'GraphQL';
  readonly name: string;
  readonly url: string;
  readonly method: string;
  /** Template of the request body of a REST source; empty for none. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly mapping: SourceMapping;
  readonly path: readonly string[];
}

const sourcesPath = ['graphql', 'engine', 'data_sources'];
const mappingsPath = ['graphql', 'engine', 'field_configs'];

const readList = (definition: unknown, path: readonly string[]): readonly FormObject[] => {
  const value = readFieldValue(definition, path);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
};
const listRoots = (source: FormObject): readonly FormObject[] =>
  Array.isArray(source.root_fields) ? source.root_fields.filter(isJsonObject) : [];
const listNames = (root: FormObject): readonly string[] => (Array.isArray(root.fields) ? root.fields.map(String) : []);
const hasField = (source: FormObject, { type, name }: FieldName) =>
  listRoots(source).some(root => root.type === type && listNames(root).includes(name));

export const listDataSources = (definition: unknown): readonly FormObject[] => readList(definition, sourcesPath);
export const countSourceFields = (source: FormObject): number =>
  listRoots(source).reduce((sum, root) => sum + listNames(root).length, 0);

/** False for a source of another kind, such as Kafka: the form would replace it by one of its own kinds. */
export const hasSourceForm = ({ kind }: FormObject): boolean => kind === 'REST' || kind === 'GraphQL';

export const findFieldSource = (definition: unknown, field: FieldName): FormObject | undefined =>
  listDataSources(definition).find(source => hasField(source, field));

const isMappingOf =
  ({ type, name }: FieldName) =>
  (it: FormObject) =>
    it.type_name === type && it.field_name === name;

function readMapping(definition: unknown, field: FieldName): Pick<SourceDraft, 'mapping' | 'path'> {
  const found = readList(definition, mappingsPath).find(isMappingOf(field));
  const path = Array.isArray(found?.path) ? found.path.map(String) : [];
  return { mapping: path.length > 0 ? 'path' : found?.disable_default_mapping === true ? 'whole' : 'member', path };
}

/** The form of a source, with the mapping of one of its fields. */
export function toSourceDraft(definition: unknown, field: FieldName, source: FormObject | undefined): SourceDraft {
  const config = toJsonObject(source?.config);
  const headers = Object.entries(toJsonObject(config.headers)).map(([name, value]) => [name, String(value)] as const);
  return {
    kind: source?.kind === 'GraphQL' ? 'GraphQL' : 'REST',
    name: String(source?.name ?? field.name),
    url: String(config.url ?? ''),
    method: String(config.method ?? 'GET'),
    body: typeof config.body === 'string' ? config.body : '',
    headers: Object.fromEntries(headers),
    ...readMapping(definition, field),
  };
}

function withoutField(source: FormObject, { type, name }: FieldName): FormObject {
  const roots = listRoots(source)
    .map(root => (root.type === type ? { ...root, fields: listNames(root).filter(it => it !== name) } : root))
    .filter(root => listNames(root).length > 0);
  return { ...source, root_fields: roots };
}

/** Removes the source of a field and its mapping; a source without fields is removed too. */
export function unbindField(definition: unknown, field: FieldName): unknown {
  const sources = listDataSources(definition)
    .map(source => (hasField(source, field) ? withoutField(source, field) : source))
    .filter(source => countSourceFields(source) > 0);
  const mappings = readList(definition, mappingsPath).filter(it => !isMappingOf(field)(it));
  return withMember(withMember(definition, sourcesPath, sources), mappingsPath, mappings);
}

const addRoot = (source: FormObject, { type, name }: FieldName): FormObject => {
  const roots = listRoots(source);
  const root = roots.find(it => it.type === type);
  if (!root) return { ...source, root_fields: [...roots, { type, fields: [name] }] };
  const grown = { ...root, fields: [...listNames(root), name] };
  return { ...source, root_fields: roots.map(it => (it === root ? grown : it)) };
};

/** Members of the configuration that the form does not have stay as they are. */
function withConfig(source: FormObject, { kind, url, method, body, headers }: SourceDraft): FormObject {
  const before = source.kind === kind ? toJsonObject(source.config) : {};
  const config = {
    ...before,
    url,
    ...(kind === 'REST' ? { method } : {}),
    ...(kind === 'REST' && (body !== '' || before.body !== undefined) ? { body } : {}),
    ...(Object.keys(headers).length > 0 || before.headers !== undefined ? { headers } : {}),
  };
  return { ...source, kind, config };
}

function toMapping({ type, name }: FieldName, { mapping, path }: SourceDraft): readonly FormObject[] {
  if (mapping === 'member') return [];
  const isWhole = mapping === 'whole';
  return [{ type_name: type, field_name: name, disable_default_mapping: isWhole, path: isWhole ? [] : path }];
}

/** Gives a field its source: an existing one of that name, which changes for all its fields, or a new one. */
export function bindField(definition: unknown, field: FieldName, draft: SourceDraft): unknown {
  const known = listDataSources(definition).find(({ name }) => name === draft.name);
  const bare = unbindField(definition, field);
  const isKept = listDataSources(bare).some(({ name }) => name === draft.name);
  const start = known ? withoutField(known, field) : { name: draft.name, internal: false, root_fields: [] };
  const source = addRoot(withConfig(start, draft), field);
  const others = listDataSources(bare);
  const sources = isKept ? others.map(it => (it.name === draft.name ? source : it)) : [...others, source];
  const mappings = [...readList(bare, mappingsPath), ...toMapping(field, draft)];
  return withMember(withMember(bare, sourcesPath, sources), mappingsPath, mappings);
}
