import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { texts } from '../../texts/texts.ts';

const tones = { waiting: 'warning', delivered: 'success', dead: 'danger' } as const satisfies Record<string, Tone>;

export const DeliveryStatePill = ({ state }: { state: keyof typeof tones }) => (
  <StatusPill tone={tones[state]}>{texts.deliveries.states[state]}</StatusPill>
);
