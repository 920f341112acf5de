import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

export const requestStates = ['pending', 'approved', 'rejected'] as const;
export type RequestState = (typeof requestStates)[number];
const tones: Readonly<Record<RequestState, Tone>> = { pending: 'warning', approved: 'success', rejected: 'danger' };

export const RequestStatePill = ({ state }: { state: RequestState }) => (
  <StatusPill tone={tones[state]}>{adminTexts.requests.states[state]}</StatusPill>
);
