import { Ban, CircleAlert, CircleCheck, CircleDashed, Info, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export type Tone = 'neutral' | 'success' | 'warning' | 'danger' | 'info' | 'violet';

export const toneClass: Readonly<Record<Tone, string>> = {
  neutral: 'bg-hover text-ink border-line',
  success: 'bg-success-soft text-success border-success-line',
  warning: 'bg-warning-soft text-warning border-warning-line',
  danger: 'bg-danger-soft text-danger border-danger-line',
  info: 'bg-info-soft text-info border-info-line',
  violet: 'bg-violet-soft text-violet border-violet-line',
};

/** A word about an object: its format, a category. */
export const Badge = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span
    className={classNames(
      'inline-block max-w-56 truncate rounded-full border px-2 align-middle text-small',
      toneClass[tone],
    )}
  >
    {children}
  </span>
);

const stateIcons: Readonly<Record<Tone, LucideIcon>> = {
  neutral: CircleDashed,
  success: CircleCheck,
  warning: CircleAlert,
  danger: Ban,
  info: Info,
  violet: Info,
};

/** State of an object: an icon and a word, never the colour alone. */
export function StatusPill({ tone, children }: { tone: Tone; children: ReactNode }) {
  const Icon = stateIcons[tone];
  return (
    <span
      className={classNames(
        'inline-flex items-center gap-1 rounded-full border px-2 align-middle text-small whitespace-nowrap',
        toneClass[tone],
      )}
    >
      <Icon size={12} strokeWidth={2} aria-hidden />
      {children}
    </span>
  );
}

const methodTones: Readonly<Record<string, Tone>> = {
  GET: 'info',
  POST: 'success',
  PUT: 'warning',
  PATCH: 'violet',
  DELETE: 'danger',
};

export const MethodBadge = ({ method }: { method: string }) => (
  <span
    className={classNames(
      'inline-block w-16 rounded-control border text-center align-middle font-mono text-small',
      toneClass[methodTones[method] ?? 'neutral'],
    )}
  >
    {method}
  </span>
);
