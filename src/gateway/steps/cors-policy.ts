import { tokenPattern } from '#base/http-syntax.ts';
import type { Model } from '#definition/model.ts';
import type { HeaderList } from '../http/headers.ts';
import { createResponse, type GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { StepServices } from '../pipeline/step-services.ts';

/** What one definition says to browsers. Nothing here keeps a call out: browsers do, by what they are told. */
export interface Cors {
  /** Adds to whatever answer the call gets what its page may do with it. */
  mark(call: Exchange): void;
  /** An OPTIONS call, answered in place of the upstream. */
  options(call: Exchange): GatewayResponse;
  /** Takes away what the upstream says of the same: two words would contradict each other, and this one counts. */
  alone(call: Exchange, headers: HeaderList): void;
}

type Rules = Model['cors'];

const usualMethods = ['GET', 'POST', 'HEAD'];
const usualHeaders = ['accept', 'content-type', 'x-requested-with'];
/** Said by every page that asks; no permission is needed for it. */
const alwaysHeader = 'origin';
const preflightVary = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

const allowOrigin = 'Access-Control-Allow-Origin';
const allowCredentials = 'Access-Control-Allow-Credentials';
const exposeHeaders = 'Access-Control-Expose-Headers';

/** Undefined where a definition leaves that to the upstream. */
export const corsOf = ({ model, services }: { model: Model; services: Pick<StepServices, 'log'> }): Cors | undefined =>
  model.cors.enabled
    ? corsFor(model.cors, facts => services.log.info({ api: model.identity.id, ...facts }, 'CORS'))
    : undefined;

/** `told` hears of every decision, where the definition asks for that. */
function corsFor(rules: Rules, told: (facts: Readonly<Record<string, unknown>>) => void): Cors {
  const { allowCredentials: credentials, exposedHeaders, maxAge } = rules;
  const origins = originTest(rules.allowedOrigins);
  const methods = nameTest(rules.allowedMethods.length > 0 ? rules.allowedMethods : usualMethods, upper);
  const names = nameTest(rules.allowedHeaders.length > 0 ? rules.allowedHeaders : usualHeaders, lower);
  const exposed = exposedHeaders.join(', ');
  const remembered = maxAge === 0 ? undefined : String(Math.max(0, maxAge));
  const permitted = (origin: string) => [
    allowOrigin,
    origins.isAny ? '*' : origin,
    ...(credentials ? [allowCredentials, 'true'] : []),
  ];
  // Where any origin may call, all of them are told the same.
  const toAny = [...permitted('*'), ...(exposed ? [exposeHeaders, exposed] : [])];

  function decided(origin: string | undefined, allowed: boolean, preflight: boolean): boolean {
    if (rules.debug) told({ origin: origin ?? '', allowed, preflight });
    return allowed;
  }

  /** What a preflight is told is all about the call it announces. */
  function announced(call: Exchange, method: string): string[] {
    const origin = call.headers.get('origin');
    const asked = call.headers.get('access-control-request-headers') ?? '';
    const allowed = origin !== undefined && origins.has(origin) && mayUse(methods, method) && asksFor(names, asked);
    if (!decided(origin, allowed, true)) return ['Vary', preflightVary];
    return [
      'Vary',
      preflightVary,
      ...permitted(origin!),
      'Access-Control-Allow-Methods',
      method,
      ...(asked === '' ? [] : ['Access-Control-Allow-Headers', asked]),
      ...(remembered === undefined ? [] : ['Access-Control-Max-Age', remembered]),
    ];
  }

  return {
    mark(call) {
      // A call that other APIs had first was marked by the one its page knows.
      if (call.extraResponseHeaders && isMarked(call.extraResponseHeaders)) return;
      call.extraResponseHeaders ??= [];
      call.extraResponseHeaders.push('Vary', 'Origin');
      const origin = call.headers.get('origin');
      if (origin === undefined) return;
      if (!decided(origin, origins.has(origin) && mayUse(methods, call.method), false)) return;
      if (origins.isAny) call.extraResponseHeaders.push(...toAny);
      else call.extraResponseHeaders.push(...permitted(origin), ...(exposed ? [exposeHeaders, exposed] : []));
    },
    options(call) {
      const method = call.headers.get('access-control-request-method');
      if (method === undefined) return createResponse(200);
      call.extraResponseHeaders = [...withoutMark(call.extraResponseHeaders ?? []), ...announced(call, method)];
      return createResponse(204);
    },
    alone(call, headers) {
      headers.remove('access-control-allow-origin');
      headers.remove('access-control-allow-credentials');
      const ours = call.extraResponseHeaders ?? [];
      for (let at = 0; at < ours.length; at += 2) if (isCors(ours[at]!)) headers.set(ours[at]!, ours[at + 1]!);
    },
  };
}

const isCors = (name: string) => name.startsWith('Access-Control-');
/** That answers differ by origin is said of every call that was looked at. */
const isMark = (name: string, value: string) => name === 'Vary' && value === 'Origin';

function isMarked(flat: readonly string[]): boolean {
  for (let at = 0; at < flat.length; at += 2) if (isMark(flat[at]!, flat[at + 1]!)) return true;
  return false;
}

function withoutMark(flat: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < flat.length; at += 2)
    if (!isCors(flat[at]!) && !isMark(flat[at]!, flat[at + 1]!)) kept.push(flat[at]!, flat[at + 1]!);
  return kept;
}

const upper = (text: string) => text.toUpperCase();
const lower = (text: string) => text.toLowerCase();

/** Undefined: any. */
type Names = ReadonlySet<string> | undefined;
const nameTest = (list: readonly string[], spelt: (text: string) => string): Names =>
  list.includes('*') ? undefined : new Set(list.map(text => spelt(text.trim())));

/** Asking is always allowed: an OPTIONS call changes nothing. */
const mayUse = (methods: Names, method: string) =>
  methods === undefined ? tokenPattern.test(method) : method === 'OPTIONS' || methods.has(method);

function asksFor(names: Names, asked: string): boolean {
  if (names === undefined || asked === '') return true;
  return asked.split(',').every(part => {
    const name = part.trim().toLowerCase();
    return name === '' || name === alwaysHeader || names.has(name);
  });
}

interface Origins {
  readonly isAny: boolean;
  has(origin: string): boolean;
}

/** One `*` in an origin stands for any text there. */
function originTest(list: readonly string[]): Origins {
  const given = list.map(text => text.trim().toLowerCase());
  if (given.length === 0 || given.includes('*')) return { isAny: true, has: () => true };
  const exact = new Set(given.filter(text => !text.includes('*')));
  const open = given
    .filter(text => text.includes('*'))
    .map(text => ({ start: text.slice(0, text.indexOf('*')), end: text.slice(text.indexOf('*') + 1) }));
  return {
    isAny: false,
    has(origin) {
      const text = origin.toLowerCase();
      if (exact.has(text)) return true;
      return open.some(
        ({ start, end }) =>
          text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end) && isOrigin(text),
      );
    },
  };
}

/** What fits around a `*` must still be an origin, so that nobody's path or user name ends like a trusted host. */
const isOrigin = (text: string) => /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\\\s]+$/.test(text);
