import type { FormObject } from './json-members.ts';

/** JSON Schema of a member, as far as forms read it. */
export interface FormSchema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly FormSchema[];
  readonly enum?: readonly (string | number)[];
  readonly properties?: Readonly<Record<string, FormSchema>>;
  readonly items?: FormSchema;
  readonly additionalProperties?: boolean | FormSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

export type FieldKind = 'switch' | 'number' | 'choice' | 'text' | 'lines' | 'numbers' | 'rows' | 'object' | 'json';

/** Members that have no field: kept as they are, edited as code. */
const hiddenMembers = new Set(['x-gw-classic', 'AuthSources', 'dbId', 'orgId', 'slug']);

/** The schema without its null branch: an empty field removes the member. */
export function unwrapSchema(schema: FormSchema): FormSchema {
  const { anyOf, ...rest } = schema;
  const branches = (anyOf ?? []).filter(it => it.type !== 'null');
  if (branches.length === 0) return schema;
  return { ...unwrapSchema(branches.at(-1)!), ...rest };
}

export function findFieldKind(schema: FormSchema): FieldKind {
  const { type, enum: values, items, properties } = unwrapSchema(schema);
  const types = [type ?? []].flat().filter(it => it !== 'null');
  if (values) return 'choice';
  if (types.includes('boolean')) return 'switch';
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (types.includes('string')) return 'text';
  if (types.includes('object')) return properties && listMembers(properties).length > 0 ? 'object' : 'json';
  if (!types.includes('array') || !items) return 'json';
  const item = findFieldKind(items);
  if (item === 'text' || item === 'choice') return 'lines';
  return item === 'number' ? 'numbers' : item === 'object' ? 'rows' : 'json';
}

const listMembers = (properties: Readonly<Record<string, FormSchema>>) =>
  Object.keys(properties).filter(name => !hiddenMembers.has(name));

/** Members of an object that have a field. */
export const listFormFields = (schema: FormSchema): readonly (readonly [name: string, schema: FormSchema])[] => {
  const { properties = {} } = unwrapSchema(schema);
  return listMembers(properties).map(name => [name, properties[name]!] as const);
};

/** Schema at a path of member names and positions in lists; undefined where the schema does not have it. */
export function findSchema(schema: FormSchema, path: readonly (string | number)[]): FormSchema | undefined {
  let found: FormSchema | undefined = schema;
  for (const name of path) {
    const { properties, additionalProperties, items }: FormSchema = unwrapSchema(found);
    const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    found = typeof name === 'number' ? items : (properties?.[name] ?? others);
    if (!found) return undefined;
  }
  return found;
}

const shortNames: Readonly<Record<string, string>> = {
  url: 'URL',
  id: 'Id',
  cors: 'CORS',
  tls: 'TLS',
  jwks: 'JWKS',
  jwt: 'JWT',
  http: 'HTTP',
  ttl: 'TTL',
  ip: 'IP',
  hmac: 'HMAC',
  oidc: 'OpenID Connect',
  oauth: 'OAuth 2.0',
  uris: 'URIs',
  ca: 'CA',
};

/** Label of a member without a text of its own: `allowedOrigins` becomes *Allowed origins*. */
export function toFieldLabel(name: string): string {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_-]+/);
  const text = words.map(word => shortNames[word] ?? word).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Number of members with a value, at any depth of objects. */
export const countValues = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? value === undefined || value === null || value === '' || value === false
      ? 0
      : 1
    : Array.isArray(value)
      ? Math.min(value.length, 1)
      : Object.values(value as FormObject).reduce<number>((sum, it) => sum + countValues(it), 0);
