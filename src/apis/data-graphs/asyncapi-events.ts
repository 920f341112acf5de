import { toJsonPointer, unescapePointerToken } from '#base/json-pointer.ts';
import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '#base/json-tree.ts';
import type { Warnings } from '../convert/converted.ts';
import { type DocumentPart, resolveLocalReference } from './local-reference.ts';
import { createDocumentProblem } from './problems.ts';

/** A channel that clients receive messages of. */
export interface EventChannel {
  /** Of its operation, or of the channel: the words of a field. */
  readonly name: string;
  readonly topic: string;
  /** Names of its servers; empty for all. */
  readonly servers: readonly string[];
  /** Schemas are read where they are used: not resolved yet. */
  readonly messages: readonly { readonly value: unknown; readonly place: string }[];
  readonly about: string;
  /** JSON pointer. */
  readonly place: string;
}

const maxChannels = 1000;
const maxOperations = 1000;
const maxMessages = 100;
const maxDescriptionLength = 300;

/** Channels of AsyncAPI 2 that clients subscribe to, or of version 3 that the application sends to. */
export function listEventChannels(root: JsonObject, warnings: Warnings): EventChannel[] {
  const isOlder = textOrEmpty(root.asyncapi).startsWith('2.');
  const channels = listParts(root, 'channels', maxChannels);
  return isOlder
    ? channels.flatMap(it => readOlderChannel(root, it, warnings))
    : readChannels(root, channels, warnings);
}

interface NamedPart extends DocumentPart {
  readonly name: string;
}

function listParts(root: JsonObject, member: string, max: number): NamedPart[] {
  const entries = Object.entries(objectOrEmpty(root[member]));
  if (entries.length > max) throw createDocumentProblem(`/${member}`, `has more than ${max} members`);
  return entries.map(([name, value]) => ({
    name,
    ...resolveLocalReference(root, value, `/${member}${toJsonPointer([name])}`),
  }));
}

const describe = (...parts: readonly JsonObject[]): string =>
  parts
    .flatMap(it => [textOrEmpty(it.summary), textOrEmpty(it.description)])
    .find(it => it !== '')
    ?.slice(0, maxDescriptionLength) ?? '';

const reportWriter = (place: string, warnings: Warnings) =>
  warnings.add(`${place}: messages that clients send are left out`);

/** Version 2: `subscribe` is what clients do, and the name of a channel is its address. */
function readOlderChannel(root: JsonObject, { name, value, place }: NamedPart, warnings: Warnings): EventChannel[] {
  if (isObject(value.publish)) reportWriter(`${place}/publish`, warnings);
  if (!isObject(value.subscribe)) return [];
  const operation = resolveLocalReference(root, value.subscribe, `${place}/subscribe`);
  const at = `${operation.place}/message`;
  const message = isObject(operation.value.message)
    ? resolveLocalReference(root, operation.value.message, at)
    : undefined;
  const several = message && Array.isArray(message.value.oneOf) ? message.value.oneOf : undefined;
  const messages = several
    ? several.map((it, index) => ({ value: it as unknown, place: `${message!.place}/oneOf/${index}` }))
    : message
      ? [message]
      : [];
  return [
    {
      name: textOrEmpty(operation.value.operationId) || name,
      topic: readTopic(value) || name,
      servers: arrayOrEmpty(value.servers).map(textOrEmpty),
      messages: limitMessages(messages, at),
      about: describe(operation.value, value),
      place,
    },
  ];
}

/** The Kafka binding has the topic where it is not the address. */
const readTopic = ({ bindings }: JsonObject): string => textOrEmpty(objectOrEmpty(objectOrEmpty(bindings).kafka).topic);

/** Version 3: operations are those of the application, so its `send` is what clients receive. */
function readChannels(root: JsonObject, channels: readonly NamedPart[], warnings: Warnings): EventChannel[] {
  const byValue = new Map(channels.map(it => [it.value, it]));
  const seen = new Set<NamedPart>();
  return listParts(root, 'operations', maxOperations).flatMap(({ name, value, place }) => {
    if (value.action === 'receive') reportWriter(place, warnings);
    if (value.action !== 'send') return [];
    const channel = byValue.get(resolveLocalReference(root, value.channel, `${place}/channel`).value);
    if (!channel) throw createDocumentProblem(`${place}/channel`, 'must be a channel of the document');
    if (seen.has(channel)) {
      warnings.add(`${place}: left out, another operation sends to its channel`);
      return [];
    }
    seen.add(channel);
    return [
      {
        name,
        topic: readTopic(channel.value) || textOrEmpty(channel.value.address) || channel.name,
        servers: arrayOrEmpty(channel.value.servers).map((it, at) =>
          readServerName(it, `${channel.place}/servers/${at}`),
        ),
        messages: listMessages(value, place, channel),
        about: describe(value, channel.value),
        place: channel.place,
      },
    ];
  });
}

/** Messages of an operation: those that it lists, else all of its channel. */
function listMessages(operation: JsonObject, place: string, channel: NamedPart): EventChannel['messages'] {
  const listed = arrayOrEmpty(operation.messages).map((value, at) => ({ value, place: `${place}/messages/${at}` }));
  const own = Object.entries(objectOrEmpty(channel.value.messages)).map(([name, value]) => ({
    value,
    place: `${channel.place}/messages${toJsonPointer([name])}`,
  }));
  return limitMessages(listed.length > 0 ? listed : own, place);
}

function limitMessages(messages: EventChannel['messages'], place: string): EventChannel['messages'] {
  if (messages.length > maxMessages) throw createDocumentProblem(place, `has more than ${maxMessages} messages`);
  return messages;
}

function readServerName(value: unknown, place: string): string {
  const reference = textOrEmpty(objectOrEmpty(value).$ref);
  const [, name] = /^#\/servers\/([^/]{1,500})$/.exec(reference) ?? [];
  if (name === undefined) throw createDocumentProblem(place, 'must be a reference to a server of the document');
  return unescapePointerToken(name);
}
