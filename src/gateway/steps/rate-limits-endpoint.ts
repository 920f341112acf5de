import { quotaCounter, quotaWindow } from '#access/keys/counters.ts';
import type { Session } from '#access/keys/session.ts';
import type { CounterResult } from '#storage/shared/shared.ts';
import { createJsonResponse } from '../http/response.ts';
import { resolveCounterOwner } from '../limits/counter-owner.ts';
import { toResetUnixSeconds } from '../limits/rate-limit-headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

const path = '/gw/rate-limits';

type Services = Pick<PipelineServices, 'clock' | 'counters'>;

const reads = { also: { api: ['authMethods'] } } as const satisfies StepReads;

/** `GET {listen_path}/gw/rate-limits/` returns the limits of the key without counting. */
export const rateLimitsEndpointStep: Step<Services, typeof reads> = {
  name: 'rate-limits-endpoint',
  reads,
  build({ model, services }) {
    if (model.authMethods.length === 0) return undefined;

    function buildResponse(call: Exchange, session: Session) {
      const { quota } = session.limits;
      if (!quota) return toLimitsResponse(session, undefined);
      const name = quotaCounter(resolveCounterOwner(call, session));
      const taken = services.counters.peek(name, quotaWindow(quota), services.clock.now());
      return taken instanceof Promise
        ? taken.then(it => toLimitsResponse(session, it))
        : toLimitsResponse(session, taken);
    }

    return {
      request(call) {
        if (call.method !== 'GET' || !call.innerPath.startsWith(path) || !call.session) return undefined;
        const isExact = call.innerPath === path || call.innerPath === `${path}/`;
        return isExact ? buildResponse(call, call.session) : undefined;
      },
    };
  },
};

const toLimitsResponse = ({ limits: { quota, rate } }: Session, taken: CounterResult | undefined) =>
  createJsonResponse(200, {
    quota: {
      quota_max: quota?.max ?? 0,
      quota_remaining: taken?.remaining ?? 0,
      quota_renews: taken ? toResetUnixSeconds(taken) : 0,
    },
    rate_limit: { requests: rate?.rate ?? 0, per_unit: rate?.perSeconds ?? 0 },
  });
