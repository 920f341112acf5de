import { z } from 'zod';
import { closestMatch } from '#base/closest-match.ts';
import { tokenPattern } from '#base/http-syntax.ts';
import { checkMembers, formatMemberPath, formatUnknownMember } from '#base/members.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import { type KafkaSource, kafkaConfig, toKafkaSource } from './kafka-source.ts';

/** A server, or another API of the gateway, that has values of fields. */
export interface DataSource {
  readonly kind: 'REST' | 'GraphQL' | 'Kafka';
  /** For messages to clients: neither the address nor the kind is theirs to know. */
  readonly name: string;
  /** Member path of its configuration, for messages to authors. */
  readonly place: string;
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly query: readonly { readonly name: string; readonly value: string }[];
  readonly body: string;
  /** Operation that a GraphQL source always gets; empty: one built from the selected fields. */
  readonly operation: string;
  /** Variables of that operation: JSON, as text or as an object. */
  readonly variables: unknown;
  /** Object types of responses by status, for fields of abstract types. */
  readonly typeNames: ReadonlyMap<number, string>;
  readonly defaultTypeName: string;
  /** Protocol of subscriptions at a GraphQL source; empty: the WebSocket protocol that the server chooses. */
  readonly subscriptionType: '' | 'graphql-ws' | 'graphql-transport-ws' | 'sse';
  readonly sseUsePost: boolean;
  /** Of a source of this kind; it has no URL. */
  readonly kafka?: KafkaSource;
}

const textMap = z.record(z.string(), z.string()).default({});
const subscriptionTypes = z.enum(['', 'graphql-ws', 'graphql-transport-ws', 'sse']).default('');
const headerItems = z.array(z.object({ key: z.string(), value: z.string().default('') })).default([]);

const restConfig = z.object({
  url: z.string(),
  method: z.string().default('GET'),
  headers: textMap,
  query: z.array(z.object({ name: z.string(), value: z.string().default('') })).default([]),
  body: z.string().default(''),
});

const graphqlConfig = z.object({
  url: z.string(),
  method: z.string().default('POST'),
  headers: textMap,
  subscription_type: subscriptionTypes,
  sse_use_post: z.boolean().default(false),
  has_operation: z.boolean().default(false),
  operation: z.string().default(''),
  variables: z.unknown().optional(),
});

/** Notation of the first engine. */
const httpJsonConfig = z.object({
  url: z.string(),
  method: z.string().default('GET'),
  body: z.string().default(''),
  headers: headerItems,
  default_type_name: z.string().default(''),
  status_code_type_name_mappings: z
    .array(z.object({ status_code: z.int().min(100).max(599), type_name: z.string().default('') }))
    .default([]),
});

const olderGraphqlConfig = z.object({ url: z.string(), method: z.string().default('POST'), headers: headerItems });

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const plainSource = {
  query: [],
  body: '',
  operation: '',
  variables: undefined,
  typeNames: new Map<number, string>(),
  defaultTypeName: '',
  subscriptionType: '',
  sseUsePost: false,
} as const;

type Named = Pick<DataSource, 'name' | 'place'>;
type Read = (named: Named, config: unknown, errors: ValidationError[]) => DataSource | undefined;

const toPairs = (items: readonly { readonly key: string; readonly value: string }[]) =>
  items.map(({ key, value }) => [key, value] as const);

const readRest: Read = (named, config, errors) => {
  const read = parseConfig(restConfig, named, config, errors);
  if (!read) return undefined;
  return { ...plainSource, ...named, ...read, kind: 'REST', headers: Object.entries(read.headers) };
};

const readGraphql: Read = (named, config, errors) => {
  const read = parseConfig(graphqlConfig, named, config, errors);
  if (!read) return undefined;
  const { url, method, headers, has_operation: isFixed, operation, variables } = read;
  if (isFixed && operation.trim() === '')
    errors.push({ path: `${named.place}.operation`, message: 'is required with has_operation' });
  return {
    ...plainSource,
    ...named,
    ...{ kind: 'GraphQL', url, method },
    headers: Object.entries(headers),
    ...(isFixed && { operation, variables }),
    subscriptionType: read.subscription_type,
    sseUsePost: read.sse_use_post,
  };
};

const readHttpJson: Read = (named, config, errors) => {
  const read = parseConfig(httpJsonConfig, named, config, errors);
  if (!read) return undefined;
  const { url, method, body, headers, default_type_name, status_code_type_name_mappings } = read;
  return {
    ...plainSource,
    ...named,
    kind: 'REST',
    ...{ url, method, body },
    headers: toPairs(headers),
    typeNames: new Map(status_code_type_name_mappings.map(it => [it.status_code, it.type_name])),
    defaultTypeName: default_type_name,
  };
};

const readOlderGraphql: Read = (named, config, errors) => {
  const read = parseConfig(olderGraphqlConfig, named, config, errors);
  return read && { ...plainSource, ...named, ...read, kind: 'GraphQL', headers: toPairs(read.headers) };
};

const readKafka: Read = (named, config, errors) => {
  const read = parseConfig(kafkaConfig, named, config, errors);
  if (!read) return undefined;
  const kafka = toKafkaSource(read, named.place, errors);
  return { ...plainSource, ...named, kind: 'Kafka', url: '', method: '', headers: [], kafka };
};

/** Readers by the kind in a definition; names of the first engine in any case, as their exports have them. */
const readers: ReadonlyMap<string, Read> = new Map([
  ['REST', readRest],
  ['GraphQL', readGraphql],
  ['Kafka', readKafka],
  ['HTTPJSONDataSource', readHttpJson],
  ['GwRESTDataSource', readHttpJson],
  ['GraphQLDataSource', readOlderGraphql],
  ['GwGraphQLDataSource', readOlderGraphql],
]);
const readersByLowerKind = new Map([...readers].map(([kind, read]) => [kind.toLowerCase(), read]));

export interface WrittenSource {
  readonly kind: string;
  readonly kindPath: string;
  readonly name: string;
  readonly internal: boolean;
  readonly config: unknown;
  readonly place: string;
}

/** Reads the configuration of a source by its kind; adds what is wrong with it to `errors`. */
export function readDataSource(written: WrittenSource, errors: ValidationError[]): DataSource | undefined {
  const { kind, kindPath: path, name, internal, config, place } = written;
  const read = readersByLowerKind.get(kind.toLowerCase());
  if (!read) {
    const meant = closestMatch(kind, readers.keys());
    const hint = meant === undefined ? 'REST, GraphQL or Kafka is expected' : `did you mean ${meant}?`;
    errors.push({ path, message: `${JSON.stringify(kind)} is no kind of data source: ${hint}` });
    return undefined;
  }
  const source = read({ name, place }, config, errors);
  if (source?.kind === 'Kafka' && internal)
    errors.push({ path: place, message: 'a Kafka source is no other API: internal must be false' });
  else if (source && source.kind !== 'Kafka') checkSource(source, internal, errors);
  return source;
}

function parseConfig<S extends z.ZodObject>(
  schema: S,
  { place }: Named,
  config: unknown,
  errors: ValidationError[],
): z.output<S> | undefined {
  const { value, unknown } = checkMembers(schema, config);
  for (const member of unknown) errors.push({ path: `${place}.${member.path}`, message: formatUnknownMember(member) });
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return parsed.data;
  for (const { path, message } of parsed.error.issues)
    errors.push({ path: [place, formatMemberPath(path)].filter(it => it !== '').join('.'), message });
  return undefined;
}

function checkSource({ kind, url, method, headers, place }: DataSource, internal: boolean, errors: ValidationError[]) {
  const report = (member: string, message: string) => errors.push({ path: `${place}.${member}`, message });
  const allowed = kind === 'REST' ? methods : ['POST'];
  if (!allowed.includes(method.toUpperCase())) report('method', `must be ${allowed.join(', ')}`);
  const [, scheme = '', authority = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i.exec(url) ?? [];
  if (!['http', 'https', 'gw'].includes(scheme.toLowerCase()) || authority === '')
    report('url', 'must be an address with http, https or gw');
  else if (authority.includes('{{') || authority.includes('$gw_'))
    report('url', 'must have a fixed host: no part of a request may choose it');
  else if (authority.includes('@')) report('url', 'must not have a user name or password: a header has it');
  else if (internal && scheme.toLowerCase() !== 'gw')
    report('url', 'must be gw:// and the name of an API: the source is internal');
  for (const [name] of headers)
    if (!tokenPattern.test(name)) report('headers', `${JSON.stringify(name)} is not a header name`);
}
