import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { texts } from '../../texts/texts.ts';

const tones: Readonly<Record<string, Tone>> = { active: 'success', draft: 'warning', deny: 'danger' };

export const PolicyStatePill = ({ state = 'active' }: { state?: string | undefined }) => (
  <StatusPill tone={tones[state] ?? 'neutral'}>{texts.policies.states[state] ?? state}</StatusPill>
);
