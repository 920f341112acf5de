import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { MethodBadge } from '../../../kit/badge.tsx';
import { Checkbox } from '../../../kit/field.tsx';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { Skeleton } from '../../../kit/states.tsx';
import { proposedEndpointTexts } from '../../../texts/en/proposed-endpoints.ts';
import { type ProposedEndpoint, proposedDays, proposeEndpoints } from './propose-endpoints.ts';

const own = proposedEndpointTexts;

interface ProposeDialogProps {
  readonly apiId: string;
  onAdd(endpoints: readonly ProposedEndpoint[]): void;
  onClose(): void;
}

const idOf = ({ method, path }: ProposedEndpoint) => `${method} ${path}`;

/** Endpoints from the paths that clients called: the user chooses which ones to add. */
export function ProposeDialog({ apiId, onAdd, onClose }: ProposeDialogProps) {
  const [dropped, setDropped] = useState<ReadonlySet<string>>(new Set());
  const { data, error } = useQuery({
    queryKey: ['proposed endpoints', apiId],
    queryFn: () => proposeEndpoints(apiId),
    gcTime: 0,
    retry: false,
  });
  const chosen = (data ?? []).filter(it => !dropped.has(idOf(it)));
  const toggle = (id: string, isChosen: boolean) =>
    setDropped(before => new Set(isChosen ? [...before].filter(it => it !== id) : [...before, id]));
  return (
    <FormDialog
      title={own.title}
      about={own.about(proposedDays)}
      action={own.action(chosen.length)}
      error={error}
      canSubmit={chosen.length > 0}
      onSubmit={() => onAdd(chosen)}
      onClose={onClose}
    >
      {!data && !error && <Skeleton lines={4} />}
      {data?.length === 0 && <p className="text-dim">{own.empty}</p>}
      <div className="flex flex-col gap-2">
        {data?.map(it => (
          <Checkbox
            key={idOf(it)}
            checked={!dropped.has(idOf(it))}
            onChange={event => toggle(idOf(it), event.target.checked)}
            label={
              <span className="inline-flex items-center gap-2">
                <MethodBadge method={it.method} /> <code className="font-mono break-all">{it.path}</code>
              </span>
            }
          />
        ))}
      </div>
    </FormDialog>
  );
}
