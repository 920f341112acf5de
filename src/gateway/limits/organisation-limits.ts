import { organisationOwner, quotaCounter, quotaWindow, rateCounter } from '#access/keys/counters.ts';
import type { Session } from '#access/keys/session.ts';
import type { CounterResult, Window } from '#storage/shared/shared.ts';
import type { Answer } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refusals, refuse } from '../pipeline/refusals.ts';
import type { Doing, Outcome, Step } from '../pipeline/step.ts';
import type { GatewayTools } from '../pipeline/step-services.ts';
import { skipsLimits } from './loops.ts';
import { type Monitored, quotaMonitor } from './monitor.ts';
import { rateCounting } from './rate.ts';

/**
 * Organisation rate limit and quota: what all calls to its APIs may use together. The rate of its grants is the operator's
 * and holds always; the limits of its key count beside it where the setting asks for them, so that the tighter one decides.
 */
export const organisationLimits: Step = {
  name: 'organisation-limits',
  make({ model, tools }) {
    const { orgId } = model.identity;
    const checkGrant = createGrantCheck(tools, orgId);
    const checkKey = tools.settings['limits.organisations'] ? createKeyCheck(tools, orgId) : undefined;
    if (!checkGrant) return checkKey && { request: checkKey };
    if (!checkKey) return { request: checkGrant };
    return {
      request(call) {
        const refused = checkGrant(call);
        if (refused instanceof Promise) return refused.then(it => it ?? checkKey(call));
        return refused ?? checkKey(call);
      },
    };
  },
};

type Check = (call: Exchange) => Doing<Outcome>;

function createKeyCheck(tools: GatewayTools, orgId: string): Check {
  const check = checking(tools, orgId);
  return call => {
    if (skipsLimits(call)) return undefined;
    const session = tools.organisations.find(orgId);
    if (session instanceof Promise) return session.then(it => it && check(call, it));
    return session && check(call, session);
  };
}

/** The rate of the grants has a counter of its own: what one of the two limits refuses, the other has not to know. */
const grantScope = 'grant';

function createGrantCheck(tools: GatewayTools, orgId: string): Check | undefined {
  const { rate, per } = tools.grants.of(orgId);
  if (rate === null) return undefined;
  const { clock } = tools;
  const rates = rateCounting(tools);
  const name = rateCounter(organisationOwner(orgId), grantScope);
  const window = rates.window(rate, per);
  const answer = (call: Exchange, { allowed }: CounterResult): Outcome =>
    allowed ? undefined : denyOrganisation(tools, orgId, call, 'organisation_rate_exceeded', rateMessage);
  return call => {
    if (skipsLimits(call)) return undefined;
    const taken = rates.take(name, window, clock.now());
    return taken instanceof Promise ? taken.then(it => answer(call, it)) : answer(call, taken);
  };
}

const rateMessage = 'Organisation rate limit has been exceeded';

function denyOrganisation(
  { fire }: GatewayTools,
  orgId: string,
  call: Exchange,
  code: RefusalCode,
  message: string,
): Answer {
  fire(refusals[code].event!, call, message, { key: orgId });
  return refuse(call, code);
}

interface Plan {
  readonly rate: Window | undefined;
  readonly quota: Window | undefined;
  readonly monitored: Monitored;
}

function checking(tools: GatewayTools, orgId: string) {
  const { counters, clock, settings } = tools;
  const rates = rateCounting(tools);
  const owner = organisationOwner(orgId);
  const rateName = rateCounter(owner);
  const quotaName = quotaCounter(owner);
  const monitor = settings['limits.monitor_organisations'] ? quotaMonitor(tools) : undefined;
  const plans = new WeakMap<Session, Plan>();

  function planOf(session: Session): Plan {
    const known = plans.get(session);
    if (known) return known;
    const { rate, quota } = session.limits;
    const plan: Plan = {
      rate: rate && rates.window(rate.rate, rate.perSeconds),
      quota: quota && quotaWindow(quota),
      monitored: { orgId, key: orgId, percents: session.quotaAlertPercents },
    };
    plans.set(session, plan);
    return plan;
  }

  const denied = (call: Exchange, code: RefusalCode, message: string) =>
    denyOrganisation(tools, orgId, call, code, message);

  function rated(call: Exchange, plan: Plan, taken: CounterResult | undefined): Doing<Outcome> {
    if (taken && !taken.allowed) return denied(call, 'organisation_rate_exceeded', rateMessage);
    if (!plan.quota) return undefined;
    const used = counters.take(quotaName, plan.quota, clock.now());
    return used instanceof Promise ? used.then(it => charged(call, plan, it)) : charged(call, plan, used);
  }

  function charged(call: Exchange, { quota, monitored }: Plan, taken: CounterResult): Outcome {
    if (!taken.allowed) return denied(call, 'organisation_quota_exceeded', 'Organisation quota has been exceeded');
    monitor?.(call, monitored, quota!, taken);
    return undefined;
  }

  return (call: Exchange, session: Session): Doing<Outcome> => {
    if (session.inactive) return refuse(call, 'organisation_inactive');
    const plan = planOf(session);
    const taken = plan.rate && rates.take(rateName, plan.rate, clock.now());
    return taken instanceof Promise ? taken.then(it => rated(call, plan, it)) : rated(call, plan, taken);
  };
}
