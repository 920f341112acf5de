import type { ReactNode } from 'react';
import { CallError } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { SaveBar } from '../../kit/save-bar.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { type Draft, useDraft } from '../../kit/use-draft.ts';
import { type FieldSpec, RecordField } from './record-field.tsx';

/** Members of an object of the portal by name. */
export type RecordValue = Readonly<Record<string, unknown>>;

export interface FormSection {
  readonly title: string;
  readonly fields: readonly FieldSpec[];
}

export interface RecordFormProps {
  /** The object as it was read, or the defaults of a new one. */
  readonly stored: RecordValue;
  readonly sections: readonly FormSection[];
  /** Verb and object. */
  readonly action: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  /** Called with the whole draft and with the members that differ from what is stored. */
  onSave(draft: RecordValue, changes: RecordValue, accept: () => void): Promise<unknown>;
  /** Parts that no plain field can draw; they share the draft. */
  renderMore?(draft: Draft<RecordValue>): ReactNode;
  /** A new object can be saved without edits. */
  readonly isNew?: boolean;
  readonly hasTabs?: boolean;
}

/** Form of an object: cards of fields and one save bar. Faults of the server stand at their fields. */
export function RecordForm({ stored, sections, action, isBusy, error, onSave, renderMore, ...rest }: RecordFormProps) {
  const draft = useDraft(stored, undefined, { hasTabs: rest.hasTabs ?? false });
  const { value, base, isDirty, change, discard, accept } = draft;
  const faults = readFaults(error, new Set(sections.flatMap(({ fields }) => fields.map(({ name }) => name))));
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault();
        // The form shows a refusal, which is `error`.
        onSave(value, pickChanges(base, value), accept).catch(() => undefined);
      }}
    >
      {faults.other && <ErrorText error={faults.other} />}
      {sections.map(({ title, fields }) => (
        <Card key={title} title={title}>
          <div className="flex max-w-3xl flex-col gap-4">
            {fields
              .filter(({ isShown }) => isShown?.(value) ?? true)
              .map(field => (
                <RecordField
                  key={field.name}
                  field={field}
                  value={value[field.name]}
                  error={faults.byName.get(field.name)}
                  onChange={next => change({ [field.name]: next })}
                />
              ))}
          </div>
        </Card>
      ))}
      {renderMore?.(draft)}
      <SaveBar isDirty={isDirty} isNew={rest.isNew ?? false} isBusy={isBusy} action={action} onDiscard={discard} />
    </form>
  );
}

const pickChanges = (stored: RecordValue, value: RecordValue): RecordValue =>
  Object.fromEntries(
    Object.entries(value).filter(([name, member]) => JSON.stringify(member) !== JSON.stringify(stored[name])),
  );

/** Faults of a refused write, `member: what`, by the field that shows the member. */
function readFaults(error: Error | null, names: ReadonlySet<string>) {
  const byName = new Map<string, string>();
  if (!error) return { byName, other: undefined };
  const listed = error instanceof CallError && Array.isArray(error.body.errors) ? error.body.errors : [error.message];
  const others: string[] = [];
  for (const fault of listed.map(String)) {
    const [, name = '', what = ''] = /^([\w.]+): (.*)$/s.exec(fault) ?? [];
    if (names.has(name)) byName.set(name, what);
    else others.push(fault);
  }
  return { byName, other: others.length > 0 ? new Error(others.join('; ')) : undefined };
}
