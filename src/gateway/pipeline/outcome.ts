import type { Exchange } from './exchange.ts';
import { refusals } from './refusals.ts';

/** Outcome of an exchange, the same in record, metrics, access log and spans. */

export const readFinalStatus = ({ response, status }: Pick<Exchange, 'response' | 'status'>): number =>
  response?.status ?? (status || refusals.client_disconnected.status);

/** Refusal code; empty for a complete response. */
export const readFinalRefusal = (
  { errorCode, isClientDisconnected }: Pick<Exchange, 'errorCode' | 'isClientDisconnected'>,
  isComplete: boolean,
): string => errorCode || (isComplete ? '' : isClientDisconnected ? 'client_disconnected' : 'upstream_failed');
