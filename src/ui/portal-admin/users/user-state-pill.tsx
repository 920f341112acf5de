import { StatusPill, type Tone } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { adminTexts } from '../../texts/admin-texts.ts';

type UserState = ResultOf<'GET /portal-api/users'>[number]['State'];
const tones: Readonly<Record<UserState, Tone>> = {
  waiting: 'warning',
  deactivated: 'neutral',
  invited: 'info',
  'reset due': 'warning',
  active: 'success',
};

export const UserStatePill = ({ state }: { state: UserState }) => (
  <StatusPill tone={tones[state]}>{adminTexts.users.states[state]}</StatusPill>
);
