import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Exchange, StepResult } from './exchange.ts';

/** Limit that counts a request: undefined where it is allowed, else the refusal. */
export type LimitCheck = (call: Exchange) => MaybePromise<StepResult>;

/** Limit of requests, and of each operation in the WebSocket that an upgrade request opens. */
export const limitMessages =
  (check: LimitCheck): LimitCheck =>
  call => {
    if (call.upgrade !== '') {
      call.messageLimits ??= [];
      call.messageLimits.push(check);
    }
    return check(call);
  };

/** Refusal of one operation in a WebSocket. */
export interface MessageRefusal {
  readonly code: string;
  readonly message: string;
}

/**
 * Counts one operation in a WebSocket against the limits of its upgrade request, in the order of their steps. Operations
 * of one socket come here one after the other.
 */
export function takeMessageLimits(call: Exchange): MaybePromise<MessageRefusal | undefined> {
  // A refused operation is no error of the upgrade request, which is recorded when the socket ends.
  const { errorCode, messageLimits } = call;
  if (!messageLimits) return undefined;
  const finish = (refused: StepResult): MessageRefusal | undefined => {
    const code = call.errorCode;
    call.errorCode = errorCode;
    return refused && { code, message: refused.message };
  };
  for (const [place, check] of messageLimits.entries()) {
    const refused = check(call);
    if (refused instanceof Promise)
      return refused.then(async it => {
        let result = it;
        for (const next of messageLimits.slice(place + 1)) result ??= await next(call);
        return finish(result);
      });
    if (refused) return finish(refused);
  }
  return undefined;
}
