import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export type StepState = 'done' | 'current' | 'waiting';

export interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly state: StepState;
  /** Result of a finished step. */
  readonly summary?: ReactNode;
  readonly children?: ReactNode;
}

export const StepList = ({ label, children }: { label: string; children: ReactNode }) => (
  <ol aria-label={label} className="flex flex-col gap-3">
    {children}
  </ol>
);

/** One step of a sequence: its content while it is the current one, else its result. */
export const FlowStep = ({ number, title, state, summary, children }: StepProps) => (
  <li
    aria-current={state === 'current' ? 'step' : undefined}
    className={classNames('rounded-card border border-line bg-surface p-4', state === 'waiting' && 'bg-transparent!')}
  >
    <div className="flex items-start gap-3">
      <StepMark number={number} state={state} />
      <div className="flex min-w-0 grow flex-col gap-3">
        <h2 className={classNames('text-large', state === 'waiting' && 'font-normal! text-dim')}>{title}</h2>
        {state === 'done' && summary && <div className="min-w-0 break-words text-dim">{summary}</div>}
        {state === 'current' && children}
      </div>
    </div>
  </li>
);

const marks: Readonly<Record<StepState, string>> = {
  done: 'border-success-line bg-success-soft text-success',
  current: 'border-transparent bg-accent text-on-accent',
  waiting: 'border-edge text-dim',
};

const StepMark = ({ number, state }: Pick<StepProps, 'number' | 'state'>) => (
  <span
    aria-hidden
    className={classNames(
      'flex size-6 shrink-0 items-center justify-center rounded-full border text-small font-medium',
      marks[state],
    )}
  >
    {state === 'done' ? <Check size={14} strokeWidth={2} /> : number}
  </span>
);
