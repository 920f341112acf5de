import { z } from 'zod';
import { durationMs, shorthandOf } from '../duration.ts';

/**
 * The classic form keeps handlers by event, each with a bag of settings; the OpenAPI form keeps one list with the
 * settings inline. The model has the list: one entry per event and handler.
 */
const handlerRule = z.object({
  enabled: z.boolean(),
  trigger: z.string(),
  /** `webhook`, `custom` (JavaScript), `log`, or the classic name of a handler only the classic form knows. */
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
  /** Settings neither form names. */
  rest: z.record(z.string(), z.unknown()),
});
export type EventHandler = z.output<typeof handlerRule>;
type Bag = Record<string, unknown>;

const typeOf: Record<string, string> = {
  eh_web_hook_handler: 'webhook',
  eh_dynamic_handler: 'custom',
  eh_log_handler: 'log',
};
const nameOf: Record<string, string> = Object.fromEntries(Object.entries(typeOf).map(([name, type]) => [type, name]));

const words = (value: unknown) => (typeof value === 'string' ? value : '');
const bag = (value: unknown): Bag => (typeof value === 'object' && value !== null ? (value as Bag) : {});
const without = (value: Bag, names: readonly string[]): Bag =>
  Object.fromEntries(Object.entries(value).filter(([name, given]) => !names.includes(name) && given !== null));
const said = (value: Bag): Bag =>
  Object.fromEntries(
    Object.entries(value).filter(
      ([, given]) => given !== '' && !(typeof given === 'object' && Object.keys(bag(given)).length === 0),
    ),
  );

const metaNames = ['disabled', 'id', 'name', 'method', 'target_path', 'template_path', 'header_map', 'event_timeout'];
const metaNamesOf: Record<string, readonly string[]> = {
  webhook: metaNames,
  custom: ['disabled', 'id', 'name', 'path'],
  log: ['disabled', 'prefix'],
};

function readClassic(wire: unknown): EventHandler[] {
  return Object.entries(bag(wire)).flatMap(([trigger, list]) =>
    (Array.isArray(list) ? list : []).map(entry => fromClassic(trigger, bag(entry))),
  );
}

function fromClassic(trigger: string, entry: Bag): EventHandler {
  const handlerName = words(entry.handler_name);
  const type = typeOf[handlerName] ?? handlerName;
  const meta = bag(entry.handler_meta);
  return {
    enabled: meta.disabled !== true,
    trigger,
    type,
    id: words(meta.id),
    name: type === 'custom' ? '' : words(meta.name),
    url: words(meta.target_path),
    method: words(meta.method),
    bodyTemplate: words(meta.template_path),
    headers: bag(meta.header_map) as Record<string, string>,
    cooldownSeconds: typeof meta.event_timeout === 'number' ? meta.event_timeout : 0,
    functionName: type === 'custom' ? words(meta.name) : '',
    path: type === 'custom' ? words(meta.path) : '',
    logPrefix: words(meta.prefix),
    rest: without(meta, metaNamesOf[type] ?? metaNames),
  };
}

function writeClassic(value: unknown): Bag {
  const events: Record<string, Bag[]> = {};
  for (const handler of value as EventHandler[]) {
    events[handler.trigger] ??= [];
    events[handler.trigger]!.push({
      handler_name: nameOf[handler.type] ?? handler.type,
      handler_meta: metaOf(handler),
    });
  }
  return events;
}

function metaOf(handler: EventHandler): Bag {
  const { id, name, url, method, bodyTemplate, headers, cooldownSeconds, functionName, path, logPrefix } = handler;
  const byType: Record<string, Bag> = {
    webhook: { id, name, method, target_path: url, template_path: bodyTemplate, header_map: headers },
    custom: { id, name: functionName || name, path },
    log: { prefix: logPrefix, id, name },
  };
  const timeout = handler.type === 'webhook' ? { event_timeout: cooldownSeconds } : {};
  return {
    ...handler.rest,
    ...said(byType[handler.type] ?? { id, name, method, target_path: url }),
    ...timeout,
    disabled: !handler.enabled,
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
  return (Array.isArray(wire) ? wire : []).map(bag).map(entry => ({
    enabled: entry.enabled === true,
    trigger: words(entry.trigger),
    type: words(entry.type),
    id: words(entry.id),
    name: entry.type === 'custom' && entry.functionName ? '' : words(entry.name),
    url: words(entry.url),
    method: words(entry.method),
    bodyTemplate: words(entry.bodyTemplate),
    headers: headersOf(entry.headers),
    cooldownSeconds: Math.floor((durationMs(words(entry.cooldownPeriod)) ?? 0) / 1000),
    functionName: words(entry.functionName),
    path: words(entry.path),
    logPrefix: words(entry.logPrefix),
    rest: without(entry, oasNames),
  }));
}

const headersOf = (value: unknown): Record<string, string> =>
  Object.fromEntries((Array.isArray(value) ? value : []).map(bag).map(pair => [words(pair.name), words(pair.value)]));

function writeOas(value: unknown): Bag[] {
  return (value as EventHandler[]).map(handler => {
    const { enabled, trigger, type, rest, cooldownSeconds, headers, name, functionName, ...others } = handler;
    const cooldown = type === 'webhook' ? { cooldownPeriod: shorthandOf(cooldownSeconds * 1000) } : {};
    const pairs = Object.entries(headers).map(([header, text]) => ({ name: header, value: text }));
    const known = said({ ...others, name: name || functionName, functionName, headers: pairs });
    return { enabled, trigger, type, ...known, ...cooldown, ...rest };
  });
}

const classicSchema = z
  .record(
    z.string(),
    z
      .array(
        z.looseObject({ handler_name: z.string().optional(), handler_meta: z.looseObject({}).nullable().optional() }),
      )
      .nullable(),
  )
  .nullable();

const durationRule = z
  .string()
  .refine(given => durationMs(given) !== undefined, { error: 'is not a duration such as PT1M30S or 1m30s' });
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
      cooldownPeriod: durationRule.optional(),
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
  classic: { path: 'events', schema: classicSchema, read: readClassic, write: writeClassic },
  oas: { path: 'eventHandlers', schema: oasSchema, read: readOas, write: writeOas },
  about: 'One entry for each event and what it sets off: a webhook, a script or a log line.',
};
