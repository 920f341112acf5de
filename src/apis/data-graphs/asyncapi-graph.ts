import { isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import { createWarnings, type Warnings } from '../convert/converted.ts';
import { readBrokers } from './asyncapi-brokers.ts';
import { type EventChannel, listEventChannels } from './asyncapi-events.ts';
import { createGraphNames, type GraphNames, toGraphqlName } from './graph-names.ts';
import { createGraphTypes, type GraphTypes } from './graph-types.ts';
import { resolveLocalReference } from './local-reference.ts';
import type { ImportedGraph } from './openapi-graph.ts';
import { createDocumentProblem, problem } from './problems.ts';

/** State of one import. */
interface Import {
  readonly root: JsonObject;
  readonly brokers: ReadonlyMap<string, readonly string[]>;
  readonly types: GraphTypes;
  readonly names: GraphNames;
  readonly warnings: Warnings;
}

interface EventField {
  readonly name: string;
  readonly sdl: string;
  readonly source: JsonObject;
}

const topicPattern = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/;
const jsonFormat = /^application\/(?:vnd\.aai\.asyncapi|schema\+json|schema\+yaml|vnd\.oai\.openapi|json)/i;
const jsonContent = /^(?:application|text)\/(?:[\w.-]+\+)?json\b/i;
/** GraphQL requires a query type; a document of events has no reads. */
const queryType = 'type Query {\n  "The graph has subscriptions alone."\n  _empty: Boolean\n}';

/** Converts AsyncAPI 2 or 3: each channel that clients receive messages of is a field of Subscription. */
export function convertEventsToGraph(root: JsonObject): ImportedGraph {
  const version = textOrEmpty(root.asyncapi);
  if (!/^[23]\./.test(version)) throw createDocumentProblem('/asyncapi', 'must be a version of AsyncAPI 2 or 3');
  const warnings = createWarnings();
  const types = createGraphTypes(root, warnings);
  const importing: Import = { root, brokers: readBrokers(root, warnings), types, names: createGraphNames(), warnings };
  const fields = listEventChannels(root, warnings).flatMap(channel => importChannel(importing, channel));
  if (fields.length === 0)
    throw problem.document_unsupported({
      detail: { reason: 'has no channel of a Kafka server whose messages clients receive' },
    });
  const subscription = `type Subscription {\n${fields.map(({ sdl }) => sdl).join('\n')}\n}`;
  return {
    title: textOrEmpty(objectOrEmpty(root.info).title).trim() || 'Data graph',
    schema: [queryType, subscription, types.print()].filter(it => it !== '').join('\n\n'),
    dataSources: fields.map(({ source }) => source),
    fieldConfigs: [
      ...fields.map(({ name }) => ({
        type_name: 'Subscription',
        field_name: name,
        disable_default_mapping: true,
        path: [],
      })),
      ...types.mappings.map(it => ({ ...it })),
    ],
    warnings: warnings.list(),
  };
}

function importChannel(importing: Import, channel: EventChannel): EventField[] {
  const { brokers, names, warnings } = importing;
  const { place, topic } = channel;
  const leaveOut = (reason: string): EventField[] => {
    warnings.add(`${place}: left out, ${reason}`);
    return [];
  };
  if (/[{}]/.test(topic)) return leaveOut('its address has parameters');
  const addresses = listAddresses(channel, brokers);
  if (addresses.length === 0) return leaveOut('it has no Kafka server');
  if (!topicPattern.test(topic)) throw createDocumentProblem(place, 'its address is not the name of a topic');
  const message = readMessage(importing, channel);
  if (!message.isJson) return leaveOut('its messages are not JSON');
  const name = names.take(toGraphqlName(channel.name));
  const type = importing.types.toType(message.schema, message.place, `${name} message`, 'output');
  const description = channel.about === '' ? '' : `  ${JSON.stringify(channel.about.toWellFormed())}\n`;
  const source = {
    kind: 'Kafka',
    name,
    internal: false,
    root_fields: [{ type: 'Subscription', fields: [name] }],
    config: { broker_addresses: addresses, topics: [topic], start_consuming_latest: true },
  };
  return [{ name, sdl: `${description}  ${name}: ${type}`, source }];
}

/** Brokers of the first server that has some: each may be another cluster. */
function listAddresses({ servers, place }: EventChannel, brokers: Import['brokers']): readonly string[] {
  if (servers.length === 0) return [...brokers.values()].find(it => it.length > 0) ?? [];
  for (const name of servers)
    if (!brokers.has(name)) throw createDocumentProblem(`${place}/servers`, `there is no server ${name.slice(0, 100)}`);
  return servers.map(name => brokers.get(name)!).find(it => it.length > 0) ?? [];
}

interface EventMessage {
  readonly schema: unknown;
  readonly place: string;
  readonly isJson: boolean;
}

/** The message of a channel. Several have no type of GraphQL together. */
function readMessage({ root, warnings }: Import, { messages, place }: EventChannel): EventMessage {
  const parts = messages.map(it => resolveLocalReference(root, it.value, it.place));
  const isJson = parts.every(({ value }) => {
    const type = textOrEmpty(value.contentType) || textOrEmpty(root.defaultContentType);
    return type === '' || jsonContent.test(type);
  });
  const [only, ...others] = parts;
  if (!only || others.length > 0) {
    if (only) warnings.add(`${place}: several messages: their type is JSON`);
    return { schema: undefined, place, isJson };
  }
  const { value, place: at } = only;
  const payload = isObject(value.payload) ? resolveLocalReference(root, value.payload, `${at}/payload`) : undefined;
  const isWrapped = payload?.value.schemaFormat !== undefined;
  const format = textOrEmpty(isWrapped ? payload?.value.schemaFormat : value.schemaFormat);
  if (format !== '' && !jsonFormat.test(format)) {
    warnings.add(`${at}: schemas of ${format.slice(0, 100)} are not read: its type is JSON`);
    return { schema: undefined, place: at, isJson };
  }
  if (isWrapped) return { schema: payload!.value.schema, place: `${payload!.place}/schema`, isJson };
  return { schema: value.payload, place: `${at}/payload`, isJson };
}
