import { tokenPattern } from '#base/http-syntax.ts';
import type { Model } from '#definition/model.ts';
import type { HeaderList } from '../http/headers.ts';
import { createOriginTest } from '../http/origin-test.ts';
import { createResponse, type GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { StepServices } from './step-services.ts';

/** CORS policy of a definition. It rejects no request: browsers enforce it. */
export interface CorsPolicy {
  /** Adds CORS headers to every response of the request. */
  addHeaders(call: Exchange): void;
  /** Responds to an OPTIONS request in place of the upstream. */
  respondToOptions(call: Exchange): GatewayResponse;
  /** Replaces CORS headers of the upstream: two policies would contradict each other. */
  removeUpstreamHeaders(call: Exchange, headers: HeaderList): void;
}

type CorsRules = Model['cors'];

const defaultMethods = ['GET', 'POST', 'HEAD'];
const defaultHeaders = ['accept', 'content-type', 'x-requested-with'];
/** Sent by every cross-origin request; needs no permission. */
const alwaysAllowedHeader = 'origin';
const preflightVary = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

const allowOrigin = 'Access-Control-Allow-Origin';
const allowCredentials = 'Access-Control-Allow-Credentials';

/** Undefined where the definition leaves CORS to the upstream. */
export const createCorsPolicy = ({
  model,
  services,
}: {
  model: Pick<Model, 'cors' | 'identity'>;
  services: Pick<StepServices, 'log'>;
}): CorsPolicy | undefined =>
  model.cors.enabled
    ? compileCorsPolicy(model.cors, facts => services.log.info({ api: model.identity.id, ...facts }, 'CORS'))
    : undefined;

/** `logDecision` gets every decision, with `debug` on. */
function compileCorsPolicy(
  rules: CorsRules,
  logDecision: (facts: Readonly<Record<string, unknown>>) => void,
): CorsPolicy {
  const { origins, methods, names, maxAgeValue, allowHeaders, exposeHeaders } = compileRules(rules);
  // With any origin allowed, all origins get the same headers.
  const anyOriginHeaders = [...allowHeaders('*'), ...exposeHeaders];

  const decide = (origin: string | undefined, allowed: boolean, preflight: boolean): boolean => {
    if (rules.debug) logDecision({ origin: origin ?? '', allowed, preflight });
    return allowed;
  };

  /** Preflight response headers, for the request it announces. */
  function preflightHeaders(call: Exchange, method: string): string[] {
    const origin = call.headers.get('origin');
    const requestedHeaders = call.headers.get('access-control-request-headers') ?? '';
    const allowed =
      origin !== undefined &&
      origins.has(origin) &&
      allowsMethod(methods, method) &&
      allowsHeaders(names, requestedHeaders);
    if (!decide(origin, allowed, true)) return ['Vary', preflightVary];
    return [
      'Vary',
      preflightVary,
      ...allowHeaders(origin!),
      'Access-Control-Allow-Methods',
      method,
      ...(requestedHeaders === '' ? [] : ['Access-Control-Allow-Headers', requestedHeaders]),
      ...(maxAgeValue === undefined ? [] : ['Access-Control-Max-Age', maxAgeValue]),
    ];
  }

  return {
    addHeaders(call) {
      // A looped request has the headers of the first API, the one that the page called.
      if (call.extraResponseHeaders && hasOriginVary(call.extraResponseHeaders)) return;
      call.extraResponseHeaders ??= [];
      call.extraResponseHeaders.push('Vary', 'Origin');
      const origin = call.headers.get('origin');
      if (origin === undefined) return;
      if (!decide(origin, origins.has(origin) && allowsMethod(methods, call.method), false)) return;
      if (origins.isAny) call.extraResponseHeaders.push(...anyOriginHeaders);
      else call.extraResponseHeaders.push(...allowHeaders(origin), ...exposeHeaders);
    },
    respondToOptions(call) {
      const method = call.headers.get('access-control-request-method');
      if (method === undefined) return createResponse(200);
      call.extraResponseHeaders = [
        ...withoutCorsHeaders(call.extraResponseHeaders ?? []),
        ...preflightHeaders(call, method),
      ];
      return createResponse(204);
    },
    removeUpstreamHeaders,
  };
}

function compileRules({ allowCredentials: credentials, exposedHeaders, maxAge, ...lists }: CorsRules) {
  const { allowedOrigins, allowedMethods, allowedHeaders } = lists;
  const origins = createOriginTest(allowedOrigins);
  const exposed = exposedHeaders.join(', ');
  return {
    origins,
    methods: toNameSet(allowedMethods.length > 0 ? allowedMethods : defaultMethods, toUpper),
    names: toNameSet(allowedHeaders.length > 0 ? allowedHeaders : defaultHeaders, toLower),
    maxAgeValue: maxAge === 0 ? undefined : String(Math.max(0, maxAge)),
    allowHeaders: (origin: string) => [
      allowOrigin,
      origins.isAny ? '*' : origin,
      ...(credentials ? [allowCredentials, 'true'] : []),
    ],
    exposeHeaders: exposed ? ['Access-Control-Expose-Headers', exposed] : [],
  };
}

function removeUpstreamHeaders(call: Exchange, headers: HeaderList): void {
  headers.remove('access-control-allow-origin');
  headers.remove('access-control-allow-credentials');
  const added = call.extraResponseHeaders ?? [];
  for (let i = 0; i < added.length; i += 2) if (isCorsHeader(added[i]!)) headers.set(added[i]!, added[i + 1]!);
}

const isCorsHeader = (name: string) => name.startsWith('Access-Control-');
/** `Vary: Origin` is on every response of a CORS API; it marks a processed request. */
const isOriginVary = (name: string, value: string) => name === 'Vary' && value === 'Origin';

function hasOriginVary(flat: readonly string[]): boolean {
  for (let i = 0; i < flat.length; i += 2) if (isOriginVary(flat[i]!, flat[i + 1]!)) return true;
  return false;
}

function withoutCorsHeaders(flat: readonly string[]): string[] {
  const others: string[] = [];
  for (let i = 0; i < flat.length; i += 2)
    if (!isCorsHeader(flat[i]!) && !isOriginVary(flat[i]!, flat[i + 1]!)) others.push(flat[i]!, flat[i + 1]!);
  return others;
}

const toUpper = (text: string) => text.toUpperCase();
const toLower = (text: string) => text.toLowerCase();

/** Undefined: any name. */
type NameSet = ReadonlySet<string> | undefined;
const toNameSet = (list: readonly string[], fold: (text: string) => string): NameSet =>
  list.includes('*') ? undefined : new Set(list.map(text => fold(text.trim())));

/** OPTIONS is always allowed: it is a safe method. */
const allowsMethod = (methods: NameSet, method: string) =>
  methods === undefined ? tokenPattern.test(method) : method === 'OPTIONS' || methods.has(method);

function allowsHeaders(names: NameSet, requested: string): boolean {
  if (names === undefined || requested === '') return true;
  return requested.split(',').every(part => {
    const name = part.trim().toLowerCase();
    return name === '' || name === alwaysAllowedHeader || names.has(name);
  });
}
