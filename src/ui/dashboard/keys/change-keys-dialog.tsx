import { type ReactNode, useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { nowMs } from '../../kit/browser-clock.ts';
import { SelectField, TextField } from '../../kit/field.tsx';
import { FormDialog } from '../../kit/form-dialog.tsx';
import { fromLocalTime } from '../../kit/local-time.ts';
import type { PickItem } from '../../kit/pick-list.tsx';
import { keyBulkTexts as own } from '../../texts/en/key-bulk.ts';
import { PolicyPicker } from '../pickers/policy-picker.tsx';
import { isFailedOutcome, type KeyOutcome, type SentKeyChanges, useKeyChanges } from './use-key-changes.ts';

export interface ChangeKeysProps {
  readonly hashes: readonly string[];
  nameOf(hash: string): string;
  /** With the hashes of the keys that have not changed. */
  onClose(left: readonly string[]): void;
}

interface ChangeFormProps extends ChangeKeysProps {
  readonly title: string;
  readonly about: string;
  toAction(count: number): string;
  /** Undefined while a field is empty or wrong. */
  toChanges(): SentKeyChanges | undefined;
  readonly canSubmit: boolean;
  readonly children: ReactNode;
}

/** Form, progress and result of each key in one dialog; failed keys are tried again with the same button. */
function ChangeForm({ hashes, nameOf, onClose, title, about, children, ...form }: ChangeFormProps) {
  const { run, outcomes, total, isRunning, error } = useKeyChanges();
  const done = new Set(outcomes.filter(it => !isFailedOutcome(it)).map(({ id }) => id));
  const [finished, setFinished] = useState<ReadonlySet<string>>(new Set());
  const left = hashes.filter(hash => !done.has(hash) && !finished.has(hash));
  const submit = () => {
    const changes = form.toChanges();
    if (!changes) return;
    setFinished(new Set(hashes.filter(hash => !left.includes(hash))));
    run(left, changes);
  };
  const hasResult = outcomes.length > 0 && !isRunning;
  const action = hasResult ? (left.length > 0 ? own.retry(left.length) : undefined) : form.toAction(hashes.length);
  return (
    <FormDialog
      title={title}
      about={about}
      action={action}
      {...(hasResult ? { closeText: own.close } : {})}
      error={error}
      isBusy={isRunning}
      canSubmit={form.canSubmit}
      onSubmit={submit}
      onClose={() => onClose(left)}
    >
      <fieldset className="flex min-w-0 flex-col gap-4" disabled={isRunning}>
        {children}
      </fieldset>
      {total > 0 && <Progress done={outcomes.length} total={total} />}
      {outcomes.length > 0 && <Outcomes outcomes={outcomes} nameOf={nameOf} />}
    </FormDialog>
  );
}

const Progress = ({ done, total }: { done: number; total: number }) => (
  <div className="flex items-center gap-3">
    <progress className="h-1.5 grow accent-accent" aria-label={own.progress} max={total} value={done} />
    <span role="status" className="text-small text-dim tabular-nums">
      {own.doneOf(done, total)}
    </span>
  </div>
);

/** Failed ones first. */
const Outcomes = ({ outcomes, nameOf }: { outcomes: readonly KeyOutcome[]; nameOf(hash: string): string }) => (
  <ul aria-label={own.results} className="flex max-h-60 flex-col gap-1 overflow-y-auto">
    {outcomes
      .toSorted((one, other) => Number(isFailedOutcome(other)) - Number(isFailedOutcome(one)))
      .map(outcome => (
        <li key={outcome.id} className="flex flex-wrap items-center gap-2">
          <StatusPill tone={isFailedOutcome(outcome) ? 'danger' : 'success'}>
            {isFailedOutcome(outcome) ? own.failed : own.changed}
          </StatusPill>
          <span className="font-medium break-all">{nameOf(outcome.id)}</span>
          <span className="text-small text-dim">{outcome.message}</span>
        </li>
      ))}
  </ul>
);

const toOptions = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/** Adds policies to keys, or removes them. */
export function KeyPoliciesDialog(props: ChangeKeysProps) {
  const [mode, setMode] = useState<keyof typeof own.modes>('add');
  const [policies, setPolicies] = useState<readonly PickItem[]>([]);
  const ids = policies.map(({ id }) => id);
  return (
    <ChangeForm
      {...props}
      title={own.policiesTitle(props.hashes.length)}
      about={own.policiesAbout}
      toAction={own.policiesAction[mode]}
      toChanges={() => (mode === 'add' ? { add_policies: ids } : { remove_policies: ids })}
      canSubmit={ids.length > 0}
    >
      <SelectField
        label={own.change}
        value={mode}
        onChange={event => setMode(event.target.value as typeof mode)}
        options={toOptions(own.modes)}
      />
      <PolicyPicker chosen={policies} onChange={setPolicies} />
    </ChangeForm>
  );
}

const daySeconds = 86_400;

/** Unix time of a choice; 0 is never, undefined not yet a time. */
function toTime(choice: string, time: string): number | undefined {
  if (choice === 'never') return 0;
  if (choice === 'time') return time === '' ? undefined : fromLocalTime(time);
  return Math.floor(nowMs() / 1000) + Number(choice) * daySeconds;
}

/** Moves the expiry of keys to a later time. */
export function ExtendKeysDialog(props: ChangeKeysProps) {
  const [choice, setChoice] = useState('90');
  const [time, setTime] = useState('');
  return (
    <ChangeForm
      {...props}
      title={own.expiryTitle(props.hashes.length)}
      about={own.expiryAbout}
      toAction={own.expiryAction}
      toChanges={() => {
        const extend_to = toTime(choice, time);
        return extend_to === undefined ? undefined : { extend_to };
      }}
      canSubmit={choice !== 'time' || time !== ''}
    >
      <SelectField
        label={own.until}
        value={choice}
        onChange={event => setChoice(event.target.value)}
        options={toOptions(own.untilChoices)}
      />
      {choice === 'time' && (
        <TextField
          label={own.time}
          type="datetime-local"
          required
          help={own.timeHelp}
          value={time}
          onChange={event => setTime(event.target.value)}
        />
      )}
    </ChangeForm>
  );
}
