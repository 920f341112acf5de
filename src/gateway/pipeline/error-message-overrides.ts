import type { Settings } from '#base/settings.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import { refusalResponse } from './refusals.ts';

const generator = 'gatewright';

/** Applies `gateway.error_messages` and `gateway.generator_header` to a refusal: status, message, `X-Generator`. */
export function createErrorMessageOverrides(settings: Settings): (call: Exchange, response: GatewayResponse) => void {
  const overrides = new Map(Object.entries(settings['gateway.error_messages']));
  const sendsGenerator = settings['gateway.generator_header'];
  return (call, response) => {
    const override = overrides.get(call.errorCode);
    if (override) {
      response.status = override.status ?? response.status;
      if (override.message !== undefined) {
        const replacement = refusalResponse(call, response.status, override.message);
        response.headers.set('Content-Type', replacement.headers.get('content-type')!);
        response.body = replacement.body;
        response.message = replacement.message;
      }
    }
    if (sendsGenerator) response.headers.set('X-Generator', generator);
  };
}
