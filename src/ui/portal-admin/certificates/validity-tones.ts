import type { Tone } from '../../kit/badge.tsx';

/** Tone of the validity of a client certificate. */
export const validityTones = {
  valid: 'success',
  expiring: 'warning',
  expired: 'danger',
  'not valid yet': 'warning',
} as const satisfies Readonly<Record<string, Tone>>;
