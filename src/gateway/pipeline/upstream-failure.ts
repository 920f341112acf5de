/** Reasons for which an upstream request fails; also the `reason` label of `gw_upstream_errors_total`. */
export type UpstreamFailureReason =
  /** Refused, or no route to the host. */
  | 'connection_refused'
  | 'name_not_resolved'
  | 'tls_failed'
  | 'connect_timed_out'
  | 'response_timed_out'
  /** Closed before the response was complete. */
  | 'connection_reset'
  /** Outside the networks of the organisation, or always refused. */
  | 'address_refused'
  /** Not HTTP, or beyond a limit of response heads and bodies. */
  | 'invalid_response'
  /** The queue in front of the upstream is full, or no connection was free in time. */
  | 'too_busy'
  /** Every target is down, or service discovery returned none. */
  | 'no_target'
  | 'unknown';

/** Failure of an upstream request, for operators: clients get the refusal alone. */
export interface UpstreamFailure {
  readonly reason: UpstreamFailureReason;
  /** One line, without secrets. */
  readonly detail: string;
}

/** `reason: detail`, as records, explanations and logs have it. */
export const formatUpstreamFailure = ({ reason, detail }: UpstreamFailure): string => `${reason}: ${detail}`;

export const noTargetFailure: UpstreamFailure = {
  reason: 'no_target',
  detail: 'no target is up, or service discovery returned none',
};
