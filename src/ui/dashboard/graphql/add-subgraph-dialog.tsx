import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextAreaField, TextField } from '../../kit/field.tsx';
import { focusFirstFault } from '../../kit/focus-fault.ts';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import { texts } from '../../texts/texts.ts';
import type { FormObject } from '../apis/form/json-members.ts';

const own = graphqlTexts.supergraph;

interface AddSubgraphDialogProps {
  onAdd(subgraph: FormObject): void;
  onClose(): void;
}

interface NewSubgraph {
  readonly name: string;
  readonly url: string;
  readonly sdl: string;
}

type Faults = Partial<Record<'name' | 'url' | 'sdl', string>>;

/** A further subgraph, by name, address and schema. The server checks the composition while it is edited. */
export function AddSubgraphDialog({ onAdd, onClose }: AddSubgraphDialogProps) {
  const formId = useId();
  const [value, setValue] = useState<NewSubgraph>({ name: '', url: '', sdl: '' });
  const [faults, setFaults] = useState<Faults>({});
  const set = (some: Partial<NewSubgraph>) => setValue(before => ({ ...before, ...some }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const found: Faults = {
      ...(/^[A-Za-z][\w-]*$/.test(value.name) ? {} : { name: own.nameInvalid }),
      ...(/^(https?|gw):\/\/[^/]/.test(value.url) ? {} : { url: graphqlTexts.source.urlInvalid }),
      ...(value.sdl.trim() === '' ? { sdl: own.sdlMissing } : {}),
    };
    setFaults(found);
    if (Object.keys(found).length > 0) return focusFirstFault(event.currentTarget);
    onAdd({ ...value, headers: {} });
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={own.addTitle}
      footer={
        <>
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" type="submit" form={formId}>
            {own.add}
          </Button>
        </>
      }
    >
      <form id={formId} noValidate onSubmit={submit} className="flex flex-col gap-4">
        <SubgraphFields value={value} set={set} faults={faults} />
      </form>
    </Dialog>
  );
}

interface SubgraphFieldsProps {
  readonly value: NewSubgraph;
  set(some: Partial<NewSubgraph>): void;
  readonly faults: Faults;
}

const SubgraphFields = ({ value, set, faults }: SubgraphFieldsProps) => (
  <>
    <TextField
      label={own.name}
      required
      isMono
      error={faults.name}
      value={value.name}
      onChange={event => set({ name: event.target.value })}
    />
    <TextField
      label={own.url}
      required
      isMono
      help={own.urlHelp}
      error={faults.url}
      value={value.url}
      onChange={event => set({ url: event.target.value })}
    />
    <TextAreaField
      label={own.sdl}
      required
      rows={8}
      spellCheck={false}
      className="font-mono"
      help={own.sdlHelp}
      error={faults.sdl}
      value={value.sdl}
      onChange={event => set({ sdl: event.target.value })}
    />
  </>
);
