import type { AccessEnd, KeyWatch } from '../auth/key-watch.ts';
import { type GatewayResponse, isStreaming } from '../http/response.ts';
import type { Exchange, StepHooks } from '../pipeline/exchange.ts';

export interface StreamWatchOptions {
  readonly apiId: string;
  readonly orgId: string;
  readonly keyWatch: KeyWatch;
}

/** Server-sent events, and multipart responses of incremental delivery. */
const isSubscription = (response: GatewayResponse): boolean =>
  isStreaming(response) || /^multipart\/mixed/i.test(response.headers.get('content-type') ?? '');

/** Key revocation for subscriptions over HTTP: a streamed response ends with the key, or when its rights change. */
export function createStreamWatch({ apiId, orgId, keyWatch }: StreamWatchOptions) {
  const open = new WeakMap<Exchange, () => void>();
  return {
    response(call: Exchange, response: GatewayResponse): void {
      const { session, skipsAuth, keyId, authMethod } = call;
      if (!session || skipsAuth || call.upgrade !== '' || !isSubscription(response)) return;
      const onAccessEnded = (reason: AccessEnd) => {
        call.sessionEndCode = reason === 'revoked' ? 'key_inactive' : 'access_changed';
        call.errorCode = call.sessionEndCode;
        call.onDisconnect?.();
      };
      open.set(call, keyWatch.watch({ orgId, keyId, session, authMethod, apiId, onAccessEnded }));
    },
    onFinish(call: Exchange): void {
      open.get(call)?.();
    },
  } satisfies StepHooks;
}
