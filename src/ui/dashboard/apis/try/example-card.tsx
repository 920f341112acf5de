import { Play, Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { StatusPill } from '../../../kit/badge.tsx';
import { Button, IconButton } from '../../../kit/button.tsx';
import { Card } from '../../../kit/card.tsx';
import { TextField } from '../../../kit/field.tsx';
import { triedRequestTexts } from '../../../texts/en/tried-requests.ts';
import type { ExampleOutcome, TriedExample, useExampleRun, useExamples } from './use-examples.ts';

const own = triedRequestTexts.examples;
const maxNameChars = 100;

interface ExampleCardProps {
  readonly stored: ReturnType<typeof useExamples>;
  readonly runner: ReturnType<typeof useExampleRun>;
  /** Saves the request of the form. */
  onSave(name: string): void;
  onChoose(example: TriedExample): void;
}

/** Named requests of the user: each fills the form, and all of them are sent with the chosen credential. */
export const ExampleCard = ({ stored, runner, onSave, onChoose }: ExampleCardProps) => (
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
      {stored.isFull ? <p className="text-small text-dim">{own.full}</p> : <SaveExample onSave={onSave} />}
    </div>
  </Card>
);

function Outcome({ outcome }: { outcome: ExampleOutcome | undefined }) {
  if (!outcome) return null;
  if (outcome.status === undefined) return <StatusPill tone="danger">{outcome.error ?? ''}</StatusPill>;
  return <StatusPill tone={outcome.status < 400 ? 'success' : 'danger'}>{String(outcome.status)}</StatusPill>;
}

function SaveExample({ onSave }: Pick<ExampleCardProps, 'onSave'>) {
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return;
    onSave(name.trim());
    setName('');
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2">
      <div className="grow">
        <TextField
          label={own.name}
          maxLength={maxNameChars}
          value={name}
          onChange={event => setName(event.target.value)}
        />
      </div>
      <Button type="submit" disabled={name.trim() === ''}>
        {own.save}
      </Button>
    </form>
  );
}
