/** Limits of a key, a policy or one API of them. Below 0 is unlimited, 0 not set. */
export interface Limits {
  readonly rate?: number | undefined;
  readonly per?: number | undefined;
  readonly quota_max?: number | undefined;
  readonly quota_renewal_rate?: number | undefined;
  readonly throttle_interval?: number | undefined;
  readonly throttle_retry_limit?: number | undefined;
  readonly max_query_depth?: number | undefined;
  readonly smoothing?: Smoothing | null | undefined;
}

/** A type alias, because the shapes of the operations allow further members. */
type Smoothing = {
  readonly enabled?: boolean | undefined;
  readonly threshold?: number | undefined;
  readonly step?: number | undefined;
  readonly delay?: number | undefined;
};
