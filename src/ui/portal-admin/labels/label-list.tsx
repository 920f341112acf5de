import { Plus, Tag } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { Column } from '../../kit/data-table.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, type AdminListProps } from '../lists/admin-list.tsx';
import { NameDialog } from '../lists/name-dialog.tsx';

const own = adminTexts.labels;

/** A category or a tag. */
export interface LabelItem {
  readonly ID: string | number;
  readonly Name: string;
}

interface LabelWrite<Given> {
  readonly isPending: boolean;
  readonly error: Error | null;
  mutateAsync(given: Given): Promise<unknown>;
}

export interface LabelListProps {
  readonly words: (typeof own)['categories' | 'tags'];
  readonly query: AdminListProps<LabelItem>['query'];
  readonly page: number;
  readonly create: LabelWrite<string>;
  readonly rename: LabelWrite<{ readonly id: string; readonly name: string }>;
  readonly remove: LabelWrite<string>;
}

const columns: readonly Column<LabelItem>[] = [
  { id: 'name', title: own.name, cell: ({ Name }) => <span className="font-medium break-words">{Name}</span> },
];

type Pending = { readonly label: LabelItem; readonly action: 'rename' | 'delete' } | 'create';

/** Labels have a name and nothing else: they are created, renamed and deleted in dialogs. */
export function LabelList({ words, query, page, create, rename, remove }: LabelListProps) {
  const [pending, setPending] = useState<Pending>();
  const toasts = useToasts();
  const close = () => setPending(undefined);
  return (
    <PageFrame
      title={words.title}
      about={words.about}
      actions={
        <Button kind="primary" icon={Plus} data-new onClick={() => setPending('create')}>
          {words.create}
        </Button>
      }
    >
      <AdminList
        label={words.title}
        query={query}
        page={page}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ Name }) => Name}
        actions={label => [
          { label: own.rename, onSelect: () => setPending({ label, action: 'rename' }) },
          'line',
          { label: own.delete, isDanger: true, onSelect: () => setPending({ label, action: 'delete' }) },
        ]}
        empty={{ icon: Tag, title: words.emptyTitle, about: words.emptyAbout }}
      />
      {pending === 'create' && (
        <NameDialog
          isOpen
          title={words.create}
          label={own.name}
          action={words.create}
          isBusy={create.isPending}
          error={create.error}
          onSave={name => create.mutateAsync(name)}
          onClose={close}
        />
      )}
      {pending && pending !== 'create' && (
        <LabelDialog
          {...pending}
          consequence={words.deleteConsequence}
          rename={rename}
          remove={remove}
          onRenamed={name => toasts.showSuccess(own.renamed(name))}
          onRemoved={name => toasts.showSuccess(own.deleted(name))}
          onError={error => toasts.showError(error.message)}
          onClose={close}
        />
      )}
    </PageFrame>
  );
}

interface LabelDialogProps extends Pick<LabelListProps, 'rename' | 'remove'> {
  readonly label: LabelItem;
  readonly action: 'rename' | 'delete';
  readonly consequence: string;
  onRenamed(name: string): void;
  onRemoved(name: string): void;
  onError(error: Error): void;
  onClose(): void;
}

function LabelDialog({ label: { ID, Name }, action, consequence, rename, remove, ...on }: LabelDialogProps) {
  if (action === 'rename')
    return (
      <NameDialog
        isOpen
        initial={Name}
        title={own.renameTitle(Name)}
        label={own.name}
        action={own.rename}
        isBusy={rename.isPending}
        error={rename.error}
        onSave={async name => {
          await rename.mutateAsync({ id: String(ID), name });
          on.onRenamed(name);
        }}
        onClose={on.onClose}
      />
    );
  return (
    <ConfirmDialog
      isOpen
      tier={2}
      title={`${own.deleteAction(Name)}?`}
      consequence={consequence}
      action={own.deleteAction(Name)}
      isBusy={remove.isPending}
      onConfirm={() =>
        void remove
          .mutateAsync(String(ID))
          .then(() => on.onRemoved(Name), on.onError)
          .finally(on.onClose)
      }
      onClose={on.onClose}
    />
  );
}
