import type { InvalidRequest } from '../http/request-head.ts';
import type { Peer } from './exchange.ts';

/** Request that was refused before it became an exchange. Method and target only where they could be parsed. */
export interface InvalidRequestReport extends InvalidRequest {
  readonly peer: Peer;
  readonly protocol: string;
  readonly method: string | undefined;
  readonly target: string | undefined;
}

export type ReportInvalidRequest = (request: InvalidRequestReport) => void;
