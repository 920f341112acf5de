import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { SelectField, Switch, TextAreaField, TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';

const own = adminTexts.changelog;
type Entry = ResultOf<'GET /portal-api/products/{product_id}/changelog'>[number];
type EntryWrite = ArgumentsOf<'POST /portal-api/products/{product_id}/changelog'>['body'];
type Draft = Pick<Entry, 'Version' | 'Kind' | 'Headline' | 'Text' | 'ReleasedAt'>;

export const changelogReads = [
  'GET /portal-api/products/{product_id}/changelog',
  'GET /portal-api/products/{product_id}/changelog-proposals',
] as const;
export type Proposal = ResultOf<'GET /portal-api/products/{product_id}/changelog-proposals'>[number];
const publishOperation = 'POST /portal-api/products/{product_id}/changelog-proposals/{proposal_id}/publish';
const emptyEntry: Draft = { Version: '', Kind: 'added', Headline: '', Text: '', ReleasedAt: '' };

interface ChangelogDialogProps {
  readonly productId: string;
  /** Absent for a new one. */
  readonly entry: Entry | undefined;
  /** Becomes the new entry. */
  readonly proposal?: Proposal;
  onClose(): void;
}

/** A new entry of a changelog, or a change of one, whose time of release stays. */
export function ChangelogDialog({ productId, entry, proposal, onClose }: ChangelogDialogProps) {
  const [draft, setDraft] = useState<Draft>(entry ?? (proposal ? { ...proposal, ReleasedAt: '' } : emptyEntry));
  const [notifies, setNotifies] = useState(true);
  const create = useWrite('POST /portal-api/products/{product_id}/changelog', changelogReads);
  const change = useWrite('PUT /portal-api/products/{product_id}/changelog/{entry_id}', changelogReads);
  const publish = useWrite(publishOperation, changelogReads);
  const bind = (name: keyof Draft) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
  });
  const submit = () => {
    const { Version, Kind, Headline, Text, ReleasedAt } = draft;
    const body = { Version, Kind, Headline, Text };
    if (entry)
      return change.mutate(
        { given: { params: { product_id: productId, entry_id: String(entry.ID) }, body } },
        { onSuccess: onClose },
      );
    const added = { ...body, Notify: notifies, ...(ReleasedAt.trim() !== '' && { ReleasedAt }) } as EntryWrite;
    if (proposal)
      return publish.mutate(
        { given: { params: { product_id: productId, proposal_id: String(proposal.ID) }, body: added } },
        { onSuccess: onClose },
      );
    create.mutate({ given: { params: { product_id: productId }, body: added } }, { onSuccess: onClose });
  };
  const title = entry ? own.editTitle : proposal ? own.proposals.publishTitle : own.add;
  const action = entry ? own.save : proposal ? own.proposals.publishAction : own.add;
  return (
    <Dialog isOpen title={title} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault();
          submit();
        }}
      >
        <ErrorText error={create.error ?? change.error ?? publish.error} />
        <SelectField
          label={own.kind}
          options={Object.entries(own.kinds).map(([value, label]) => ({ value, label }))}
          {...bind('Kind')}
        />
        <TextField label={own.headline} required {...bind('Headline')} />
        <TextField label={own.version} {...bind('Version')} />
        <TextAreaField label={own.text} help={own.textHelp} {...bind('Text')} />
        {!entry && <TextField label={own.released} help={own.releasedHelp} {...bind('ReleasedAt')} />}
        {!entry && (
          <Switch label={own.notify} checked={notifies} onChange={event => setNotifies(event.target.checked)} />
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={create.isPending || change.isPending || publish.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
