import type { Settings } from '#base/settings.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import { refusalResponse } from './refusals.ts';
import type { RefusalCode } from './refusals-table.ts';

const generator = 'gatewright';

/** Statuses of `gateway.upstream_error_status: legacy`. */
const legacyStatuses = {
  upstream_failed: 500,
  upstream_dns_failed: 500,
  upstream_token_missing: 500,
} as const satisfies Partial<Record<RefusalCode, number>>;

type MessageOverrides = Settings['gateway.error_messages'];

/** Own overrides of the operator win over legacy statuses. */
function listOverrides(settings: Settings): MessageOverrides {
  const own = settings['gateway.error_messages'];
  if (settings['gateway.upstream_error_status'] !== 'legacy') return own;
  const legacy = Object.entries(legacyStatuses).map(([code, status]) => [code, { status, ...own[code] }] as const);
  return { ...own, ...Object.fromEntries(legacy) };
}

/**
 * Applies `gateway.error_messages`, `gateway.upstream_error_status` and `gateway.generator_header` to a refusal: status,
 * message, `X-Generator`.
 */
export function createErrorMessageOverrides(settings: Settings): (call: Exchange, response: GatewayResponse) => void {
  const overrides = new Map(Object.entries(listOverrides(settings)));
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
