import { organisationOwner, quotaCounter, quotaWindow, rateCounter } from '#access/keys/counters.ts';
import type { Session } from '#access/keys/session.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { CounterResult, Window } from '#storage/shared/shared.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { skipsLimits } from '../pipeline/loops.ts';
import { type LimitCheck, limitMessages } from '../pipeline/message-limits.ts';
import { refusals, refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { Step } from '../pipeline/step.ts';
import { countOnce } from './count-once.ts';
import { createQuotaMonitor, type MonitoredQuota } from './quota-monitor.ts';
import { createRateCounter } from './rate-counter.ts';
import type { LimitServices } from './services.ts';

type Services = Pick<LimitServices, 'clock' | 'counters' | 'emitEvent' | 'grants' | 'organisationLimits' | 'settings'>;

/**
 * Organisation rate limit and quota, over all requests to its APIs. The rate of its grants is the operator's and applies
 * always; the limits of its key apply as well where `limits.organisations` is on, so the tighter one decides.
 */
export const organisationLimitsStep: Step<Services> = {
  name: 'organisation-limits',
  build({ model, services }) {
    const { orgId } = model.identity;
    const checkGrant = createGrantCheck(services, orgId);
    const checkKey = services.settings['limits.organisations'] ? createKeyCheck(services, orgId) : undefined;
    if (!checkGrant) return checkKey && { request: limitMessages(checkKey) };
    if (!checkKey) return { request: limitMessages(checkGrant) };
    return {
      request: limitMessages(call => {
        const refused = checkGrant(call);
        if (refused instanceof Promise) return refused.then(it => it ?? checkKey(call));
        return refused ?? checkKey(call);
      }),
    };
  },
};

function createKeyCheck(services: Services, orgId: string): LimitCheck {
  const check = createSessionCheck(services, orgId);
  return call => {
    if (skipsLimits(call)) return undefined;
    const session = services.organisationLimits.find(orgId);
    if (session instanceof Promise) return session.then(it => it && check(call, it));
    return session && check(call, session);
  };
}

/** Counter scope of the grants' rate: a request refused by one limit must not change the state of the other. */
const grantScope = 'grant';

function createGrantCheck(services: Services, orgId: string): LimitCheck | undefined {
  const { rate, per } = services.grants.of(orgId);
  if (rate === null) return undefined;
  const { clock } = services;
  const rates = createRateCounter(services);
  const name = rateCounter(organisationOwner(orgId), grantScope);
  const window = rates.window(rate, per);
  const evaluate = (call: Exchange, { allowed }: CounterResult): StepResult =>
    allowed ? undefined : rejectOrganisation(services, orgId, call, 'organisation_rate_exceeded', rateMessage);
  return call => {
    if (skipsLimits(call) || !countOnce(call, name)) return undefined;
    const taken = rates.take(name, window, clock.now());
    return taken instanceof Promise ? taken.then(it => evaluate(call, it)) : evaluate(call, taken);
  };
}

const rateMessage = 'Organisation rate limit has been exceeded';

function rejectOrganisation(
  { emitEvent }: Pick<Services, 'emitEvent'>,
  orgId: string,
  call: Exchange,
  code: RefusalCode,
  message: string,
): GatewayResponse {
  emitEvent(refusals[code].event!, call, message, { key: orgId });
  return refuse(call, code);
}

interface OrganisationLimitPlan {
  readonly rate: Window | undefined;
  readonly quota: Window | undefined;
  readonly monitored: MonitoredQuota;
}

function createSessionCheck(services: Services, orgId: string) {
  const { counters, clock, settings } = services;
  const rates = createRateCounter(services);
  const owner = organisationOwner(orgId);
  const rateName = rateCounter(owner);
  const quotaName = quotaCounter(owner);
  const monitor = settings['limits.monitor_organisations'] ? createQuotaMonitor(services) : undefined;
  const plans = new WeakMap<Session, OrganisationLimitPlan>();

  function getPlan(session: Session): OrganisationLimitPlan {
    const known = plans.get(session);
    if (known) return known;
    const { rate, quota } = session.limits;
    const plan: OrganisationLimitPlan = {
      rate: rate && rates.window(rate.rate, rate.perSeconds),
      quota: quota && quotaWindow(quota),
      monitored: { orgId, key: orgId, percents: session.quotaAlertPercents },
    };
    plans.set(session, plan);
    return plan;
  }

  const reject = (call: Exchange, code: RefusalCode, message: string) =>
    rejectOrganisation(services, orgId, call, code, message);

  function evaluateRate(
    call: Exchange,
    plan: OrganisationLimitPlan,
    taken: CounterResult | undefined,
  ): MaybePromise<StepResult> {
    if (taken && !taken.allowed) return reject(call, 'organisation_rate_exceeded', rateMessage);
    if (!plan.quota || !countOnce(call, quotaName)) return undefined;
    const used = counters.take(quotaName, plan.quota, clock.now());
    return used instanceof Promise ? used.then(it => evaluateQuota(call, plan, it)) : evaluateQuota(call, plan, used);
  }

  function evaluateQuota(
    call: Exchange,
    { quota, monitored }: OrganisationLimitPlan,
    taken: CounterResult,
  ): StepResult {
    if (!taken.allowed) return reject(call, 'organisation_quota_exceeded', 'Organisation quota has been exceeded');
    monitor?.(call, monitored, quota!, taken);
    return undefined;
  }

  return (call: Exchange, session: Session): MaybePromise<StepResult> => {
    if (session.inactive) return refuse(call, 'organisation_inactive');
    const plan = getPlan(session);
    const isRated = plan.rate && countOnce(call, rateName);
    const taken = isRated ? rates.take(rateName, plan.rate!, clock.now()) : undefined;
    return taken instanceof Promise ? taken.then(it => evaluateRate(call, plan, it)) : evaluateRate(call, plan, taken);
  };
}
