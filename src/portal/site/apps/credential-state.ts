import { dayMs } from '#analytics/time-buckets.ts';
import type { StoredCredential } from '../../credentials/schema.ts';
import { html, type Markup } from '../markup.ts';

/** Days before its expiry from which a credential is said to expire. */
const expiringDays = 14;

/** States of a credential, the worst one first. */
export const credentialStates = ['expired', 'expiring', 'active'] as const;
export type CredentialState = (typeof credentialStates)[number];

export function getCredentialState({ Expires }: Pick<StoredCredential, 'Expires'>, nowMs: number): CredentialState {
  if (Expires <= 0) return 'active';
  if (Expires <= nowMs) return 'expired';
  return Expires - nowMs <= expiringDays * dayMs ? 'expiring' : 'active';
}

/** State of a credential in words. */
export function renderCredentialState(credential: Pick<StoredCredential, 'Expires'>, nowMs: number): Markup {
  const state = getCredentialState(credential, nowMs);
  if (state === 'expired') return html`<span class="badge danger">Expired</span>`;
  if (state === 'active') return html`<span class="badge success">Active</span>`;
  const days = Math.ceil((credential.Expires - nowMs) / dayMs);
  return html`<span class="badge warning">Expires in ${days === 1 ? '1 day' : `${days} days`}</span>`;
}
