import { z } from 'zod';
import { isZeroValue, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { legacyMembers } from '#base/members.ts';
import { formatShorthand, parseDurationMs } from '../duration.ts';
import { durationText } from '../field-codecs.ts';
import { legacyHandlerMembers } from '../legacy-members.ts';

/**
 * Event handlers. The classic format has handlers by event, each with a settings object; the OpenAPI format one list
 * with inline settings. The model has the list: one entry per event and handler.
 */
const handlerRule = z.object({
  enabled: z.boolean(),
  trigger: z.string(),
  /** `webhook`, `custom` (JavaScript), `log`, or the name of a handler that only the classic format has. */
  type: z.string(),
  id: z.string(),
  name: z.string(),
  url: z.string(),
  method: z.string(),
  bodyTemplate: z.string(),
  headers: z.record(z.string(), z.string()),
  cooldownSeconds: z.number(),
  functionName: z.string(),
  path: z.string(),
  logPrefix: z.string(),
  /** Settings that neither format declares. */
  rest: z.record(z.string(), z.unknown()),
});
export type EventHandler = z.output<typeof handlerRule>;

const typeOf = new Map([
  ['eh_web_hook_handler', 'webhook'],
  ['eh_dynamic_handler', 'custom'],
  ['eh_log_handler', 'log'],
]);
const nameOf = new Map([...typeOf].map(([name, type]) => [type, name]));

const textOrEmpty = (value: unknown) => (typeof value === 'string' ? value : '');
const omitNames = (value: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([name, member]) => !names.includes(name) && member !== null));
const omitEmpty = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== '' && !(typeof member === 'object' && isZeroValue(member))),
  );

function readClassic(wire: unknown): EventHandler[] {
  return Object.entries(objectOrEmpty(wire)).flatMap(([trigger, list]) =>
    (Array.isArray(list) ? list : []).map(entry => fromClassic(trigger, objectOrEmpty(entry))),
  );
}

/** Handlers from `hook_references` beside a definition: stored webhooks, resolved when they are called. */
export const fromHookReferences = (references: readonly unknown[]): EventHandler[] =>
  references.map(objectOrEmpty).map(({ event_name, event_timeout, hook }) => {
    const { id, webhook_id, ...inline } = objectOrEmpty(hook);
    const hookId = textOrEmpty(id) || textOrEmpty(webhook_id);
    const meta = { ...(hookId ? { id: hookId } : inline), event_timeout: event_timeout ?? inline.event_timeout };
    return fromClassic(textOrEmpty(event_name), { handler_name: 'eh_web_hook_handler', handler_meta: meta });
  });

function fromClassic(trigger: string, entry: JsonObject): EventHandler {
  const handlerName = textOrEmpty(entry.handler_name);
  const type = typeOf.get(handlerName) ?? handlerName;
  const meta = objectOrEmpty(entry.handler_meta);
  // A script is named by its function.
  const script = type === 'custom';
  return {
    enabled: meta.disabled !== true,
    trigger,
    type,
    id: textOrEmpty(meta.id),
    name: script ? '' : textOrEmpty(meta.name),
    url: textOrEmpty(meta.target_path),
    method: textOrEmpty(meta.method),
    bodyTemplate: textOrEmpty(meta.template_path),
    headers: objectOrEmpty(meta.header_map) as Record<string, string>,
    cooldownSeconds: Math.max(0, Number(meta.event_timeout ?? 0) || 0),
    functionName: textOrEmpty(script ? meta.name : meta.function_name),
    path: textOrEmpty(meta.path),
    logPrefix: textOrEmpty(meta.prefix),
    rest: omitNames(meta, Object.keys(metaMembers)),
  };
}

function writeClassic(value: unknown): JsonObject {
  const events = Map.groupBy(value as EventHandler[], ({ trigger }) => trigger);
  return Object.fromEntries(
    [...events].map(([trigger, handlers]) => [
      trigger,
      handlers.map(handler => ({
        handler_name: nameOf.get(handler.type) ?? handler.type,
        handler_meta: toHandlerMeta(handler),
      })),
    ]),
  );
}

function toHandlerMeta({ type, enabled, rest, functionName, cooldownSeconds, ...handler }: EventHandler): JsonObject {
  const script = type === 'custom';
  return {
    ...rest,
    ...omitEmpty({
      id: handler.id,
      name: script ? functionName || handler.name : handler.name,
      method: handler.method,
      target_path: handler.url,
      template_path: handler.bodyTemplate,
      header_map: handler.headers,
      function_name: script ? '' : functionName,
      path: handler.path,
      prefix: handler.logPrefix,
    }),
    ...(cooldownSeconds > 0 || type === 'webhook' ? { event_timeout: cooldownSeconds } : {}),
    ...(enabled ? {} : { disabled: true }),
  };
}

const oasNames = [
  'enabled',
  'trigger',
  'type',
  'id',
  'name',
  'url',
  'method',
  'bodyTemplate',
  'headers',
  'cooldownPeriod',
  'functionName',
  'path',
  'logPrefix',
];

function readOas(wire: unknown): EventHandler[] {
  return (Array.isArray(wire) ? wire : []).map(objectOrEmpty).map(entry => ({
    enabled: entry.enabled === true,
    trigger: textOrEmpty(entry.trigger),
    type: textOrEmpty(entry.type),
    id: textOrEmpty(entry.id),
    name: entry.type === 'custom' && entry.functionName ? '' : textOrEmpty(entry.name),
    url: textOrEmpty(entry.url),
    method: textOrEmpty(entry.method),
    bodyTemplate: textOrEmpty(entry.bodyTemplate),
    headers: headersOf(entry.headers),
    cooldownSeconds: Math.floor((parseDurationMs(textOrEmpty(entry.cooldownPeriod)) ?? 0) / 1000),
    functionName: textOrEmpty(entry.functionName),
    path: textOrEmpty(entry.path),
    logPrefix: textOrEmpty(entry.logPrefix),
    rest: omitNames(entry, oasNames),
  }));
}

const headersOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    (Array.isArray(value) ? value : [])
      .map(objectOrEmpty)
      .map(pair => [textOrEmpty(pair.name), textOrEmpty(pair.value)]),
  );

function writeOas(value: unknown): JsonObject[] {
  return (value as EventHandler[]).map(handler => {
    const { enabled, trigger, type, rest, cooldownSeconds, headers, name, functionName, ...others } = handler;
    const cooldown =
      cooldownSeconds > 0 || type === 'webhook' ? { cooldownPeriod: formatShorthand(cooldownSeconds * 1000) } : {};
    const pairs = Object.entries(headers).map(([header, text]) => ({ name: header, value: text }));
    const settings = omitEmpty({
      ...others,
      name: type === 'custom' ? name || functionName : name,
      functionName,
      headers: pairs,
    });
    return { enabled, trigger, type, ...settings, ...cooldown, ...rest };
  });
}

const metaText = z.string().optional();
const metaMembers = {
  disabled: z.boolean().optional(),
  id: metaText,
  name: metaText,
  method: metaText,
  target_path: metaText,
  template_path: metaText,
  header_map: z.record(z.string(), z.string()).nullable().optional(),
  event_timeout: z.number().optional(),
  function_name: metaText,
  path: metaText,
  prefix: metaText,
};
const handlerMeta = legacyMembers(z.looseObject(metaMembers), legacyHandlerMembers);

const classicSchema = z
  .record(
    z.string(),
    z
      .array(z.looseObject({ handler_name: z.string().optional(), handler_meta: handlerMeta.nullable().optional() }))
      .nullable(),
  )
  .nullable();

const oasSchema = z
  .array(
    z.looseObject({
      enabled: z.boolean().optional(),
      trigger: z.string().optional(),
      type: z.string().optional(),
      id: z.string().optional(),
      name: z.string().optional(),
      url: z.string().optional(),
      method: z.string().optional(),
      bodyTemplate: z.string().optional(),
      cooldownPeriod: durationText.optional(),
      headers: z
        .array(z.looseObject({ name: z.string(), value: z.string() }))
        .nullable()
        .optional(),
      functionName: z.string().optional(),
      path: z.string().optional(),
      logPrefix: z.string().optional(),
    }),
  )
  .nullable();

export const eventHandlerList = {
  rule: z.array(handlerRule).default([]),
  interpolation: ['url', 'headers'],
  secret: 'named' as const,
  classic: { path: 'events', schema: classicSchema, decode: readClassic, encode: writeClassic },
  oas: { path: 'eventHandlers', schema: oasSchema, decode: readOas, encode: writeOas },
  about: 'Event handlers: for each event a webhook, a script or a log line.',
};
