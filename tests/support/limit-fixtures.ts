import { keyOwner } from '#access/keys/counters.ts';
import type { Key } from '#access/keys/schema.ts';
import { compileKeySession, type Session } from '#access/keys/session.ts';
import { applyPolicies } from '#access/policies/apply-policies.ts';
import type { Policy } from '#access/policies/schema.ts';
import { createLog } from '#base/log.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { classicToModel, type Model, oasToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { noBody } from '#gateway/http/body.ts';
import { HeaderList } from '#gateway/http/headers.ts';
import { createResponse, type GatewayResponse } from '#gateway/http/response.ts';
import { apiLimitsStep } from '#gateway/limits/api-limits.ts';
import { keyLimitsStep } from '#gateway/limits/key-limits.ts';
import { organisationLimitsStep } from '#gateway/limits/organisation-limits.ts';
import { rateLimitHeadersStep } from '#gateway/limits/rate-limit-headers.ts';
import type { StepResult } from '#gateway/pipeline/exchange.ts';
import { Exchange } from '#gateway/pipeline/exchange.ts';
import { rateLimitsEndpointStep } from '#gateway/steps/rate-limits-endpoint.ts';
import type { StepServices } from '#gateway/steps/step-services.ts';
import { type Grants, operatorGrants } from '#people/organisations/grants.ts';
import type { Counters } from '#storage/shared/shared.ts';
import { createThreadsShared } from '#storage/shared/threads.ts';

/** The steps that limit, with real counters and a clock that stands still until a test moves it. */

export const orgId = 'a'.repeat(24);

export interface EmittedEvent {
  readonly event: string;
  readonly message: string;
  readonly [detail: string]: unknown;
}

export interface BenchOptions {
  settings?: Partial<Record<SettingName, string>>;
  /** The key of the organisation's limits. */
  organisation?: Key;
  /** What the operator grants the organisation. */
  grants?: Partial<Grants>;
  /** Around the counters of this process, for engines that take their time. */
  counters?: (local: Counters) => Counters;
}

const shared = createThreadsShared({ fixedWindows: 16_384, slidingWindows: 1024 });
const settled = createThreadsShared({ buffer: shared.buffer });
const log = createLog({ level: 'silent', format: 'json', write: () => undefined });
let benches = 0;

/** Ends what the benches of this file share. */
export async function closeBenches(): Promise<void> {
  await settled.close();
  await shared.close();
}

export function limitsBench({ settings = {}, organisation, grants = {}, counters = it => it }: BenchOptions = {}) {
  const clock = { ms: 1_800_000_000_000, now: () => clock.ms };
  const emitted: EmittedEvent[] = [];
  const bench = `${++benches}`;
  const own = (name: string) => `${bench} ${name}`;
  const { take, peek, slide, reset } = settled.counters;
  const local: Counters = {
    take: (name, ...more) => take(own(name), ...more),
    peek: (name, ...more) => peek(own(name), ...more),
    slide: (name, ...more) => slide(own(name), ...more),
    reset: name => reset(own(name)),
  };
  const services = {
    settings: readSettings({ flags: settings }),
    clock,
    log,
    counters: counters(local),
    organisationLimits: { find: () => organisation && compileKeySession(organisation), changed: () => undefined },
    grants: { of: () => ({ ...operatorGrants, ...grants }) },
    emitEvent: (event: string, _call: Exchange, message: string, more = {}) =>
      void emitted.push({ event, message, ...more }),
  } as unknown as StepServices;
  return {
    clock,
    emitted,
    services,
    events: () => emitted.splice(0).map(it => it.event),
    /** An API with the limits of the definition, called with a session. */
    api: (definition: Record<string, unknown> = {}) =>
      apiOn(services, classicToModel({ api_id: 'api', org_id: orgId, ...definition } as ClassicDefinition)),
    /** The same from an OpenAPI document. */
    oas: (document: Parameters<typeof oasToModel>[0]) => apiOn(services, oasToModel(document)),
  };
}

const steps = [organisationLimitsStep, rateLimitsEndpointStep, keyLimitsStep, apiLimitsStep, rateLimitHeadersStep];

export interface Called {
  readonly path?: string;
  readonly method?: string;
  readonly keyId?: string;
  /** Done to the call before it is walked. */
  readonly with?: (call: Exchange) => void;
}

function apiOn(services: StepServices, model: Model) {
  const [version] = model.versions;
  const made = steps.flatMap(step => step.build({ model, version: version!, services }) ?? []);

  async function walk(call: Exchange): Promise<GatewayResponse> {
    for (const { request } of made) {
      const outcome: MaybePromise<StepResult> = request?.(call);
      const given = await outcome;
      if (given?.isGatewayError) return given;
      if (given) return runResponsePhase(call, given);
    }
    return runResponsePhase(call, createResponse(200, { 'x-ratelimit-limit': 'of the upstream' }));
  }

  async function runResponsePhase(call: Exchange, given: GatewayResponse): Promise<GatewayResponse> {
    for (const { response } of made) await response?.(call, given);
    return given;
  }

  return {
    call: (session: Session | undefined, called: Called = {}) => walk(callOf(services, session, called)),
    /** The statuses of so many calls, one after the other. */
    async statuses(session: Session | undefined, times: number, called: Called = {}): Promise<number[]> {
      const found: number[] = [];
      for (let n = 0; n < times; n++) found.push((await walk(callOf(services, session, called))).status);
      return found;
    },
    exchange: (session: Session | undefined, called: Called = {}) => callOf(services, session, called),
    walk,
  };
}

function callOf({ clock }: StepServices, session: Session | undefined, called: Called): Exchange {
  const { path = '/', method = 'GET', keyId = 'key' } = called;
  const call = new Exchange({
    method,
    target: path,
    path,
    query: '',
    host: '',
    headers: new HeaderList(),
    body: noBody(),
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined },
    clientAddress: '127.0.0.1',
    receivedAtMs: clock.now(),
    startedAt: 0,
  });
  call.innerPath = path;
  call.session = session;
  if (session) {
    call.keyId = keyId;
    call.counterOwner = keyOwner(keyId);
    call.keyHash = `hash of ${keyId}`;
  }
  called.with?.(call);
  return call;
}

/** A compiled key, by default with access to the API `api`. */
export function keySession(key: Key, policies: readonly Policy[] = []): Session {
  const sent: Key = { org_id: orgId, access_rights: { api: {} }, ...key };
  const applied = applyPolicies(sent, new Map(policies.map(policy => [policy.id!, policy])), { orgId });
  if (!applied.ok) throw new Error(applied.message);
  return applied.session;
}
