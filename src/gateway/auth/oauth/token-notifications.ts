import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { ProviderSettings } from './schema.ts';

/** Notification of a new token, sent to the URL of the API. */
export interface TokenNotification {
  readonly auth_code: string;
  readonly new_oauth_token: string;
  readonly refresh_token: string;
  readonly old_refresh_token: string;
  readonly notification_type: 'new' | 'refresh';
}

export interface TokenNotifierOptions {
  readonly outbound: OutboundClient;
  readonly log: Log;
  readonly retryDelayMs: number;
}

const maxAttempts = 3;
const requestTimeoutMs = 10_000;
const maxResponseBytes = 64 * 1024;
/** Further notifications are dropped. */
const maxPendingNotifications = 1000;

export function createTokenNotifier(options: TokenNotifierOptions) {
  const { log, retryDelayMs } = options;
  const waiting = new Set<NodeJS.Timeout>();
  let pending = 0;
  let closed = false;

  const waitForRetry = () =>
    new Promise<void>(resolve => {
      const timer = setTimeout(() => {
        waiting.delete(timer);
        resolve();
      }, retryDelayMs);
      timer.unref();
      waiting.add(timer);
    });

  async function deliver(provider: ProviderSettings, body: string): Promise<void> {
    for (let attempt = 1; !closed; attempt++) {
      if (await post(options, provider, body)) return;
      if (attempt === maxAttempts) break;
      await waitForRetry();
    }
    log.error({ attempts: maxAttempts }, 'token notification dropped');
  }

  return {
    /** Returns at once. */
    send(provider: ProviderSettings, notice: TokenNotification): void {
      if (provider.notifyUrl === '' || closed) return;
      if (pending >= maxPendingNotifications)
        return log.error({ api: provider.apiId }, 'too many pending token notifications, one dropped');
      pending++;
      void deliver(provider, JSON.stringify(notice)).finally(() => {
        pending--;
      });
    },
    close(): void {
      closed = true;
      for (const timer of waiting) clearTimeout(timer);
      waiting.clear();
    },
  };
}

/** True where the receiver accepted the notification. */
async function post(
  { outbound, log }: TokenNotifierOptions,
  { notifyUrl: url, notifySecret: secret, orgId }: ProviderSettings,
  body: string,
): Promise<boolean> {
  try {
    const { status } = await outbound.fetch({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gw-shared-secret': secret },
      body,
      audience: 'operator',
      orgId,
      timeoutMs: requestTimeoutMs,
      maxBytes: maxResponseBytes,
    });
    if (status === 200) return true;
    log.warn({ status }, 'token notification rejected');
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'token notification failed');
  }
  return false;
}
