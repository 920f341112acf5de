import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../../kit/button.tsx';
import { Dialog } from '../../../kit/dialog.tsx';
import { SelectField, TextField } from '../../../kit/field.tsx';
import { endpointTexts } from '../../../texts/en/endpoints.ts';
import { texts } from '../../../texts/texts.ts';
import type { ApiEndpoint } from './endpoints.ts';

const own = endpointTexts;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

interface AddEndpointProps {
  readonly isOpen: boolean;
  readonly endpoints: readonly ApiEndpoint[];
  onAdd(method: string, path: string): void;
  onClose(): void;
}

export function AddEndpointDialog({ isOpen, endpoints, onAdd, onClose }: AddEndpointProps) {
  const form = useId();
  const [method, setMethod] = useState('GET');
  const [path, setPath] = useState('/');
  const [error, setError] = useState<string>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isTaken = endpoints.some(it => it.method === method && it.path === path);
    const fault = isTaken ? own.taken(method, path) : path.startsWith('/') ? undefined : own.pathInvalid;
    setError(fault);
    if (fault) return;
    onAdd(method, path);
    setPath('/');
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={own.addTitle}
      footer={
        <>
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" type="submit" form={form}>
            {own.addAction}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        <SelectField
          label={own.method}
          value={method}
          onChange={event => setMethod(event.target.value)}
          options={methods.map(value => ({ value, label: value }))}
        />
        <TextField
          label={own.path}
          isMono
          required
          help={own.pathHelp}
          error={error}
          value={path}
          onChange={event => setPath(event.target.value)}
        />
      </form>
    </Dialog>
  );
}
