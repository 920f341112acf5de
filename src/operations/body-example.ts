import type { Json } from '#base/json.ts';

type JsonObject = { [name: string]: Json };

/** Example values by member name, where the schema has none. */
const valuesByName: JsonObject = {
  name: 'Orders',
  Name: 'Orders',
  title: 'Orders',
  Title: 'Orders',
  alias: 'shop',
  description: 'Orders of the shop',
  Description: 'Orders of the shop',
  owner_name: 'Acme',
  first_name: 'Ann',
  last_name: 'Lee',
  target_path: 'https://hooks.example/orders',
  redirect_uri: 'https://app.example/callback',
  url: 'https://api.example/orders/7',
  URL: 'https://hooks.example/orders',
  paths: '/orders',
  domains: 'api.example',
  secrets: 'orders-*',
  method: 'POST',
  Method: 'POST',
  Status: 'published',
  MetaData: '{}',
  version: '1.0.0',
  openapi: '3.0.3',
  username: 'ann@example.org',
  email: 'ann@example.org',
  Email: 'ann@example.org',
  email_address: 'ann@example.org',
  query: '@example.org',
  password: 'correct horse battery',
  new_password: 'correct horse battery',
  token: 'c2Vjb25kLWZhY3Rvcg',
  domain: 'portal.example',
  rules: 'package gw',
  access_rights: { orders: { api_id: 'orders', versions: ['Default'] } },
  rate: 100,
  per: 60,
};

/** Keys of maps by the name of the map. */
const keysByName: Readonly<Record<string, string>> = { user_permissions: 'apis', additional_permissions: 'api_editor' };

/** Ids are shown where they are required only. */
const idName = /^_?(?:c|db|org)?id$|_id$/i;

const valuesByFormat: JsonObject = {
  email: 'ann@example.org',
  uri: 'https://orders.example/',
  'date-time': '2026-01-31T09:00:00Z',
  date: '2026-01-31',
  uuid: '7f8e4a52-1d4c-4b7e-9c3a-2f6d8b0e1a35',
  ipv4: '192.0.2.1',
};

/** Optional members shown where none is required. */
const maxOptionalShown = 3;
const maxDepth = 12;

/** Builds an instance of a JSON Schema: required members, or the first optional ones, with example values. */
export function buildExample(schema: JsonObject, name = '', depth = 0): Json {
  const given = [schema.example, ...((schema.examples as Json[] | undefined) ?? []), schema.default, schema.const];
  const declared = [...given, ...((schema.enum as Json[] | undefined) ?? [])].find(value => value !== undefined);
  if (declared !== undefined) return declared;
  const named = valuesByName[name];
  if (typeof named === 'object') return named;
  if (depth > maxDepth) return {};
  const options = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as JsonObject[] | undefined;
  if (options) return buildExample(options.find(option => option.type !== 'null') ?? {}, name, depth + 1);
  const type = [schema.type].flat().find(each => each !== 'null');
  if (type === 'object') return buildObject(schema, name, depth);
  if (type === 'array') return schema.items ? [buildExample(schema.items as JsonObject, name, depth + 1)] : [];
  if (type === 'string') return buildText(schema, name);
  if (type === 'number' || type === 'integer') return buildNumber(schema, name);
  return type === 'boolean' ? true : {};
}

function buildObject(schema: JsonObject, name: string, depth: number): Json {
  const properties = Object.entries((schema.properties ?? {}) as { [name: string]: JsonObject });
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const writable = properties.filter(([member, rule]) => !rule.readOnly && !rule.deprecated && !idName.test(member));
  const shown =
    required.size > 0 ? properties.filter(([member]) => required.has(member)) : writable.slice(0, maxOptionalShown);
  const members = shown.map(([member, rule]) => [member, buildExample(rule, member, depth + 1)]);
  const { additionalProperties: others } = schema;
  if (properties.length > 0 || typeof others !== 'object' || others === null) return Object.fromEntries(members);
  const names = (schema.propertyNames ?? {}) as JsonObject;
  const key = (names.enum as string[] | undefined)?.[0] ?? keysByName[name] ?? 'orders';
  return { [key]: buildExample(others as JsonObject, key, depth + 1) };
}

function buildText({ format, minLength = 0, maxLength, pattern }: JsonObject, name: string): Json {
  const text = valuesByFormat[String(format)] ?? valuesByName[name] ?? 'orders';
  if (typeof text !== 'string') return 'orders';
  const fits = typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text);
  return (fits ? text : 'orders').padEnd(Number(minLength), '0').slice(0, Number(maxLength ?? text.length + 64));
}

function buildNumber({ minimum, maximum, exclusiveMinimum, multipleOf }: JsonObject, name: string): Json {
  const usual = Number(valuesByName[name] ?? 1);
  const lowest = Math.max(
    Number(minimum ?? usual),
    exclusiveMinimum === undefined ? usual : Number(exclusiveMinimum) + 1,
  );
  const value = Math.min(lowest, Number(maximum ?? lowest));
  return multipleOf === undefined ? value : Math.ceil(value / Number(multipleOf)) * Number(multipleOf);
}
