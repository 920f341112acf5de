import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { trimTrailingSlashes } from '#base/trim-slashes.ts';
import { extensionName, streamingName } from '#definition/document-members.ts';
import { type AsyncChannel, type AsyncServer, readAsyncChannels } from './asyncapi-channels.ts';
import { type Converted, createWarnings, type Warnings } from './converted.ts';
import { createTextProblem } from './problems.ts';
import { trimCharacters } from './trim-characters.ts';

/** Stream components of a protocol: the one that reads a channel, and the one that writes to it. */
interface ProtocolComponents {
  input(server: AsyncServer, address: string): JsonObject;
  output(server: AsyncServer, address: string): JsonObject;
}

const secureProtocols = ['kafka-secure', 'mqtts', 'secure-mqtt', 'amqps'];
const isSecure = ({ protocol }: AsyncServer) => secureProtocols.includes(protocol);
const tlsOf = (server: AsyncServer) => (isSecure(server) ? { tls: { enabled: true } } : {});
const toUrl = (scheme: string, { host, path }: AsyncServer) => `${scheme}://${host}${path}`;

const kafka: ProtocolComponents = {
  input: (server, topic) => ({
    kafka: { addresses: [server.host], topics: [topic], consumer_group: 'gateway', ...tlsOf(server) },
  }),
  output: (server, topic) => ({ kafka: { addresses: [server.host], topic, ...tlsOf(server) } }),
};
const toMqttUrl = (server: AsyncServer) => toUrl(isSecure(server) ? 'ssl' : 'tcp', server);
const mqtt: ProtocolComponents = {
  input: (server, topic) => ({ mqtt: { urls: [toMqttUrl(server)], topics: [topic] } }),
  output: (server, topic) => ({ mqtt: { urls: [toMqttUrl(server)], topic } }),
};
const toAmqpUrl = (server: AsyncServer) => toUrl(isSecure(server) ? 'amqps' : 'amqp', server);
const amqp: ProtocolComponents = {
  input: (server, queue) => ({ amqp_0_9: { urls: [toAmqpUrl(server)], queue } }),
  output: (server, key) => ({ amqp_0_9: { urls: [toAmqpUrl(server)], exchange: '', key } }),
};
const amqp1: ProtocolComponents = {
  input: (server, source_address) => ({ amqp_1: { urls: [toAmqpUrl(server)], source_address } }),
  output: (server, target_address) => ({ amqp_1: { urls: [toAmqpUrl(server)], target_address } }),
};
const nats: ProtocolComponents = {
  input: (server, subject) => ({ nats: { urls: [toUrl('nats', server)], subject } }),
  output: (server, subject) => ({ nats: { urls: [toUrl('nats', server)], subject } }),
};
const redis: ProtocolComponents = {
  input: (server, channel) => ({ redis_pubsub: { url: toUrl('redis', server), channels: [channel] } }),
  output: (server, channel) => ({ redis_pubsub: { url: toUrl('redis', server), channel } }),
};
const joinUrl = (server: AsyncServer, address: string) =>
  `${trimTrailingSlashes(toUrl(server.protocol, server))}/${address.replace(/^\/+/, '')}`;
const http: ProtocolComponents = {
  input: (server, address) => ({
    http_client: { url: joinUrl(server, address), verb: 'GET', stream: { enabled: true } },
  }),
  output: (server, address) => ({ http_client: { url: joinUrl(server, address), verb: 'POST' } }),
};
const websocket: ProtocolComponents = {
  input: (server, address) => ({ websocket: { url: joinUrl(server, address) } }),
  output: (server, address) => ({ websocket: { url: joinUrl(server, address) } }),
};

const protocols: ReadonlyMap<string, ProtocolComponents> = new Map([
  ...['kafka', 'kafka-secure'].map(name => [name, kafka] as const),
  ...['mqtt', 'mqtts', 'mqtt5', 'secure-mqtt'].map(name => [name, mqtt] as const),
  ...['amqp', 'amqps'].map(name => [name, amqp] as const),
  ['amqp1', amqp1],
  ['nats', nats],
  ['redis', redis],
  ...['http', 'https'].map(name => [name, http] as const),
  ...['ws', 'wss'].map(name => [name, websocket] as const),
]);

interface StreamsDocument {
  readonly streams: JsonObject;
  readonly paths: Record<string, JsonObject>;
}

/** Converts AsyncAPI to a streams API: each channel becomes a stream between its broker and HTTP clients. */
export function convertAsyncApi(document: JsonObject): Converted {
  const warnings = createWarnings();
  const info = objectOrEmpty(document.info);
  const title = typeof info.title === 'string' && info.title.trim() !== '' ? info.title : 'Streams';
  const version = typeof info.version === 'string' ? info.version : '1.0.0';
  const built: StreamsDocument = { streams: {}, paths: {} };
  for (const channel of readAsyncChannels(document)) addChannel(built, channel, warnings);
  if (Object.keys(built.streams).length === 0)
    throw createTextProblem(['no channel can be converted', ...warnings.list()].join('; '));
  warnings.add('the gateway does not serve streams yet: the API is stored, and its requests are refused with 503');
  warnings.add('schemas of messages are not enforced');
  const slug = trimCharacters(title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), '-') || 'streams';
  const converted = {
    openapi: '3.0.3',
    info: { title, version },
    paths: built.paths,
    [extensionName]: {
      info: { name: title, state: { active: true } },
      server: { listenPath: { value: `/${slug}/`, strip: true } },
    },
    [streamingName]: { streams: built.streams },
  };
  return { kind: 'streams', document: converted, warnings: warnings.list() };
}

function addChannel(built: StreamsDocument, channel: AsyncChannel, warnings: Warnings): void {
  const { address, isSubscribed, isPublished } = channel;
  if (/[{}]/.test(address)) return warnings.add(`the channel ${address} is left out: it has parameters`);
  const server = channel.servers.find(({ protocol, host }) => protocols.has(protocol) && host !== '');
  if (!server) {
    const given = channel.servers.map(({ protocol }) => protocol).join(', ') || 'none';
    return warnings.add(`the channel ${address} is left out: no server has a supported protocol (${given})`);
  }
  if (channel.servers.length > 1) warnings.add(`of several servers, ${server.name} is used`);
  if (server.hasSecurity)
    warnings.add(`credentials of the server ${server.name} are not converted: add them to its streams`);
  if (!isSubscribed && !isPublished) warnings.add(`the channel ${address} is left out: no operation uses it`);
  const components = protocols.get(server.protocol)!;
  if (isSubscribed)
    addStream(built, channel, 'get', path => ({
      input: components.input(server, address),
      output: { http_server: toReadPaths(path) },
    }));
  if (isPublished)
    addStream(built, channel, 'post', path => ({
      input: { http_server: toWritePaths(path) },
      output: components.output(server, address),
    }));
}

/** All paths explicitly: the defaults of the engine differ from those of the gateway. */
const toReadPaths = (path: string) => ({
  path,
  stream_path: `${path}/stream`,
  ws_path: `${path}/ws`,
  allowed_verbs: ['GET'],
});
const toWritePaths = (path: string) => ({ path, ws_path: `${path}/ws`, allowed_verbs: ['POST'] });

function addStream(
  { streams, paths }: StreamsDocument,
  { address, summary }: AsyncChannel,
  method: 'get' | 'post',
  build: (path: string) => JsonObject,
): void {
  const readable = trimCharacters(address.replaceAll(/[^A-Za-z0-9/_.-]+/g, '-'), '/-') || 'channel';
  const wanted = `/${readable}`;
  const path = takeName(method === 'post' && wanted in paths ? `${wanted}/publish` : wanted, name => name in paths);
  const name = takeName(
    `${readable.replaceAll(/[/.]+/g, '-')}-${method === 'get' ? 'out' : 'in'}`,
    it => it in streams,
  );
  streams[name] = build(path);
  const description = method === 'get' ? 'A message of the channel' : 'The message is sent';
  paths[path] = { [method]: { ...(summary && { summary }), responses: { 200: { description } } } };
}

function takeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted;
  for (let number = 2; isTaken(name); number += 1) name = `${wanted}-${number}`;
  return name;
}
