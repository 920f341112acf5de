import { Play, Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { StatusPill } from '../../../kit/badge.tsx';
import { Button, IconButton } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { TextField } from '../../../kit/field.tsx';
import { triedRequestTexts } from '../../../texts/en/tried-requests.ts';
import type { ExampleFault } from './example-bounds.ts';
import type { ExampleOutcome, TriedExample, useExampleRun, useExamples } from './use-examples.ts';

const own = triedRequestTexts.examples;
const faultTexts = { ...own.tooLong, full: own.full };
const maxNameChars = 100;

interface ExampleCardProps {
  readonly stored: ReturnType<typeof useExamples>;
  readonly runner: ReturnType<typeof useExampleRun>;
  /** Why the request of the form cannot be saved under a name. */
  findFault(name: string): ExampleFault | undefined;
  /** Saves the request of the form. */
  onSave(name: string): void;
  onChoose(example: TriedExample): void;
}

/** Named requests of the user: each fills the form, and all of them are sent with the chosen credential. */
export const ExampleCard = ({ stored, runner, findFault, onSave, onChoose }: ExampleCardProps) => (
  <Card title={own.title}>
    <div className="flex flex-col gap-3">
      <p className="text-small text-dim">{own.about}</p>
      {stored.examples.length > 0 && (
        <>
          <ul aria-label={own.title} className="flex max-h-72 flex-col gap-1 overflow-y-auto">
            {stored.examples.map(example => (
              <li key={example.name} className="flex flex-wrap items-center gap-2">
                <Button kind="quiet" onClick={() => onChoose(example)}>
                  <span className="break-words whitespace-normal">{example.name}</span>
                </Button>
                <Outcome outcome={runner.outcomes.get(example.name)} />
                <span className="ml-auto">
                  <IconButton
                    icon={Trash2}
                    label={own.remove(example.name)}
                    onClick={() => stored.remove(example.name)}
                  />
                </span>
              </li>
            ))}
          </ul>
          <Button
            icon={Play}
            className="self-start"
            isBusy={runner.isRunning}
            onClick={() => runner.run(stored.examples)}
          >
            {own.runAll(stored.examples.length)}
          </Button>
        </>
      )}
      {stored.isLoaded && <SaveExample findFault={findFault} onSave={onSave} />}
    </div>
  </Card>
);

function Outcome({ outcome }: { outcome: ExampleOutcome | undefined }) {
  if (!outcome) return null;
  if (outcome.status === undefined) return <StatusPill tone="danger">{outcome.error ?? ''}</StatusPill>;
  return <StatusPill tone={outcome.status < 400 ? 'success' : 'danger'}>{String(outcome.status)}</StatusPill>;
}

function SaveExample({ findFault, onSave }: Pick<ExampleCardProps, 'findFault' | 'onSave'>) {
  const [typed, setTyped] = useState('');
  const name = typed.trim();
  const fault = name === '' ? undefined : findFault(name);
  const isRefused = name === '' || fault !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isRefused) return;
    onSave(name);
    setTyped('');
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <div className="grow">
        <TextField
          label={own.name}
          maxLength={maxNameChars}
          error={fault && faultTexts[fault]}
          value={typed}
          onChange={event => setTyped(event.target.value)}
        />
      </div>
      <Button type="submit" disabled={isRefused}>
        {own.save}
      </Button>
    </form>
  );
}
