import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuseAccess } from '../pipeline/refusals.ts';
import type { Step } from '../pipeline/step.ts';
import { classicMocks } from './mock-response.ts';

/** Which endpoints are open to everybody, closed, or reached from inside only. */
export const endpointAccess: Step = {
  name: 'endpoint-access',
  build(given) {
    const { model, version, services } = given;
    const { ignoreAuthentication, block, allow, internal } = version.endpoints;
    const context = { model, version, settings: services.settings };
    const open = endpointMatcher(ignoreAuthentication, context);
    const closed = endpointMatcher(block, context);
    const allowed = endpointMatcher(allow, context);
    const inside = endpointMatcher(internal, context);
    const mocks = classicMocks(given);
    const mocksFirst = services.settings['gateway.classic_mocks_first'];
    const answersPreflights = model.cors.enabled && !model.cors.optionsPassthrough;
    if (!open && !closed && !allowed && !inside && !answersPreflights && !(mocks && mocksFirst)) return undefined;

    const forbidden = (call: Exchange) => refuseAccess(services, call, 'endpoint_forbidden');

    return {
      request(call) {
        if (answersPreflights && isPreflight(call)) {
          call.skipsAuth = true;
          return undefined;
        }
        const isInternal = inside?.find(call) !== undefined;
        if (isInternal && call.loopCount === 0) return forbidden(call);
        // A mock stands outside the lists below; who may have it is asked later, unless the setting says otherwise.
        const mock = mocks?.find(call);
        if (mock && mocksFirst) {
          call.isRecorded = false;
          return mock.reply(call);
        }
        if (open?.find(call)) {
          call.skipsAuth = true;
          return undefined;
        }
        if (mock) return undefined;
        if (closed?.find(call)) return forbidden(call);
        return !allowed || isInternal || allowed.find(call) ? undefined : forbidden(call);
      },
    };
  },
};

const isPreflight = (call: Exchange) => call.method === 'OPTIONS' && call.headers.has('access-control-request-method');
