import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.requests;

export const requestStates = ['pending', 'approved', 'rejected'] as const;
export type RequestState = (typeof requestStates)[number];
const tones: Readonly<Record<RequestState, Tone>> = { pending: 'warning', approved: 'success', rejected: 'danger' };

interface RequestStatePillProps {
  readonly request: { readonly Status: RequestState; readonly Revoked?: boolean };
}

/** An approved request whose credentials were revoked gives no access. */
export const RequestStatePill = ({ request: { Status, Revoked } }: RequestStatePillProps) =>
  Revoked ? (
    <StatusPill tone="neutral">{own.revoked}</StatusPill>
  ) : (
    <StatusPill tone={tones[Status]}>{own.states[Status]}</StatusPill>
  );
