import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { createTextProblem } from './problems.ts';

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
/** Bounds what the variables of a URL expand to. */
const maxVariableLength = 500;
const maxUrlLength = 2000;

/** Channels of an AsyncAPI document of version 2 or 3, in one shape. */
export function readAsyncChannels(document: JsonObject): AsyncChannel[] {
  const version = toText(document.asyncapi);
  if (!/^[23]\./.test(version))
    throw createTextProblem(`AsyncAPI ${version.slice(0, 20)} is not supported: use AsyncAPI 2 or 3`);
  const servers = Object.entries(objectOrEmpty(document.servers)).map(([name, server]) => readServer(name, server));
  const channels = Object.entries(objectOrEmpty(document.channels));
  if (channels.length > maxChannels) throw createTextProblem(`it has more than ${maxChannels} channels`);
  return version.startsWith('2.')
    ? channels.map(([name, channel]) => readOlderChannel(name, objectOrEmpty(channel), servers))
    : channels.map(([name, channel]) => readChannel(name, objectOrEmpty(channel), servers, document));
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
  const url = address.length > maxUrlLength ? '' : resolve(address);
  const [, host = '', path = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/]*)(\/.*)?$/is.exec(url) ?? [];
  const hasSecurity = arrayOrEmpty(server.security).length > 0;
  return { name, protocol: toText(server.protocol).toLowerCase(), host, path, hasSecurity };
}

/** Version 2: `subscribe` and `publish` are what clients do. */
function readOlderChannel(address: string, channel: JsonObject, servers: readonly AsyncServer[]): AsyncChannel {
  const { subscribe, publish } = channel;
  const named = arrayOrEmpty(channel.servers);
  return {
    address,
    isSubscribed: isObject(subscribe),
    isPublished: isObject(publish),
    servers: named.length === 0 ? servers : servers.filter(({ name }) => named.includes(name)),
    summary:
      [channel.description, objectOrEmpty(subscribe).summary, objectOrEmpty(publish).summary]
        .map(toText)
        .find(Boolean) ?? '',
  };
}

/** Version 3: operations are those of the application, so its `send` is what clients receive. */
function readChannel(
  name: string,
  channel: JsonObject,
  servers: readonly AsyncServer[],
  document: JsonObject,
): AsyncChannel {
  const actions = Object.values(objectOrEmpty(document.operations))
    .map(objectOrEmpty)
    .filter(operation => readReference(operation.channel) === name)
    .map(({ action }) => action);
  const named = arrayOrEmpty(channel.servers).map(readReference);
  return {
    address: toText(channel.address) || name,
    isSubscribed: actions.includes('send'),
    isPublished: actions.includes('receive'),
    servers: named.length === 0 ? servers : servers.filter(server => named.includes(server.name)),
    summary: toText(channel.summary) || toText(channel.description),
  };
}

/** Last segment of a reference inside the document. */
const readReference = (value: unknown): string => {
  const last = toText(objectOrEmpty(value).$ref).split('/').at(-1) ?? '';
  return last.replaceAll('~1', '/').replaceAll('~0', '~');
};
