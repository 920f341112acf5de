import { unescapePointerToken } from '#base/json-pointer.ts';
import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { createTextProblem, createUnsupportedVersion } from './problems.ts';

const toText = (value: unknown) => (typeof value === 'string' ? value : '');

export interface AsyncServer {
  readonly name: string;
  readonly protocol: string;
  /** Host and port, without a scheme. */
  readonly host: string;
  readonly path: string;
  readonly hasSecurity: boolean;
}

/** Channel as clients of the gateway use it. */
export interface AsyncChannel {
  readonly address: string;
  /** Clients receive the messages of the channel. */
  readonly isSubscribed: boolean;
  /** Clients send messages to the channel. */
  readonly isPublished: boolean;
  readonly servers: readonly AsyncServer[];
  readonly summary: string;
}

const maxChannels = 1000;
const maxServers = 100;
/** Characters of an address, and of the name of a channel or a server. */
const maxNameLength = 500;
/** Bounds what the variables of a URL expand to. */
const maxVariableLength = 500;
const maxUrlLength = 2000;

/** Channels of an AsyncAPI document of version 2 or 3, in one shape. */
export function readAsyncChannels(document: JsonObject): AsyncChannel[] {
  const version = toText(document.asyncapi);
  if (!/^[23]\./.test(version)) throw createUnsupportedVersion('AsyncAPI', version, 'AsyncAPI 2 or 3');
  const servers = readEntries(document.servers, 'servers', maxServers).map(([name, server]) =>
    readServer(name, server),
  );
  const channels = readEntries(document.channels, 'channels', maxChannels);
  if (version.startsWith('2.'))
    return channels.map(([name, channel]) => readOlderChannel(name, objectOrEmpty(channel), servers));
  const actions = indexActions(document.operations);
  return channels.map(([name, channel]) => readChannel(name, objectOrEmpty(channel), servers, actions.get(name)));
}

/** Members of an object, their number and the lengths of their names bounded. */
function readEntries(value: unknown, noun: string, max: number): [string, unknown][] {
  const entries = Object.entries(objectOrEmpty(value));
  if (entries.length > max) throw createTextProblem(`it has more than ${max} ${noun}`);
  for (const [name] of entries) checkLength(name, noun);
  return entries;
}

function checkLength(text: string, noun: string): void {
  if (text.length > maxNameLength)
    throw createTextProblem(`names and addresses of ${noun} must have at most ${maxNameLength} characters`);
}

function readServer(name: string, given: unknown): AsyncServer {
  const server = objectOrEmpty(given);
  const variables = objectOrEmpty(server.variables);
  const resolve = (text: string) =>
    text.replaceAll(/\{([^{}]{1,100})\}/g, (whole, variable: string) => {
      const { default: value } = objectOrEmpty(variables[variable]);
      return toText(value).slice(0, maxVariableLength) || whole;
    });
  const address = toText(server.url) || toText(server.host) + toText(server.pathname);
  const resolved = address.length > maxUrlLength ? '' : resolve(address);
  const url = resolved.length > maxUrlLength ? '' : resolved;
  const [, host = '', path = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/]*)(\/.*)?$/is.exec(url) ?? [];
  const hasSecurity = arrayOrEmpty(server.security).length > 0;
  return { name, protocol: toText(server.protocol).toLowerCase(), host, path, hasSecurity };
}

/** Version 2: `subscribe` and `publish` are what clients do. */
function readOlderChannel(address: string, channel: JsonObject, servers: readonly AsyncServer[]): AsyncChannel {
  const { subscribe, publish } = channel;
  return {
    address,
    isSubscribed: isObject(subscribe),
    isPublished: isObject(publish),
    servers: selectServers(servers, arrayOrEmpty(channel.servers)),
    summary:
      [channel.description, objectOrEmpty(subscribe).summary, objectOrEmpty(publish).summary]
        .map(toText)
        .find(Boolean) ?? '',
  };
}

/** Servers that a channel names; all of them where it names none. */
function selectServers(servers: readonly AsyncServer[], names: readonly unknown[]): readonly AsyncServer[] {
  const named = new Set(names);
  return named.size === 0 ? servers : servers.filter(({ name }) => named.has(name));
}

/** Actions of the operations by the name of their channel. */
function indexActions(operations: unknown): ReadonlyMap<string, ReadonlySet<unknown>> {
  const actions = new Map<string, Set<unknown>>();
  for (const operation of Object.values(objectOrEmpty(operations)).map(objectOrEmpty)) {
    const name = readReference(operation.channel);
    const known = actions.get(name) ?? new Set();
    actions.set(name, known.add(operation.action));
  }
  return actions;
}

/** Version 3: operations are those of the application, so its `send` is what clients receive. */
function readChannel(
  name: string,
  channel: JsonObject,
  servers: readonly AsyncServer[],
  actions: ReadonlySet<unknown> | undefined,
): AsyncChannel {
  const address = toText(channel.address) || name;
  checkLength(address, 'channels');
  return {
    address,
    isSubscribed: actions?.has('send') === true,
    isPublished: actions?.has('receive') === true,
    servers: selectServers(servers, arrayOrEmpty(channel.servers).map(readReference)),
    summary: toText(channel.summary) || toText(channel.description),
  };
}

/** Last segment of a reference inside the document. */
const readReference = (value: unknown): string => {
  const reference = toText(objectOrEmpty(value).$ref);
  return unescapePointerToken(reference.slice(reference.lastIndexOf('/') + 1));
};
