import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { SelectField, TextAreaField, TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';

const own = adminTexts.guides;
type Guide = ResultOf<'GET /portal-api/products/{product_id}/docs'>[number];
type GuideWrite = ArgumentsOf<'POST /portal-api/products/{product_id}/docs'>['body'];

export const guideReads = ['GET /portal-api/products/{product_id}/docs'] as const;

interface GuideDialogProps {
  readonly productId: string;
  /** Absent for a new one. */
  readonly guide: Guide | undefined;
  onClose(): void;
}

/** A new guide of a product is Markdown; one in HTML stays so. */
export function GuideDialog({ productId: product_id, guide, onClose }: GuideDialogProps) {
  const isMarkdown = guide?.MarkdownEnabled ?? true;
  const [draft, setDraft] = useState({
    Title: guide?.Title ?? '',
    Path: guide?.Path ?? '',
    Status: guide?.Status ?? 'published',
    Text: (isMarkdown ? guide?.MarkdownContent : guide?.Content) ?? '',
  });
  const create = useWrite('POST /portal-api/products/{product_id}/docs', guideReads);
  const change = useWrite('PUT /portal-api/products/{product_id}/docs/{doc_id}', guideReads);
  const bind = (name: keyof typeof draft) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
  });
  const submit = () => {
    const { Text, ...rest } = draft;
    const content = isMarkdown ? { MarkdownEnabled: true, MarkdownContent: Text, Content: Text } : { Content: Text };
    const body = { ...rest, ...content } as GuideWrite;
    if (!guide) return create.mutate({ given: { params: { product_id }, body } }, { onSuccess: onClose });
    change.mutate({ given: { params: { product_id, doc_id: String(guide.ID) }, body } }, { onSuccess: onClose });
  };
  return (
    <Dialog isOpen title={guide ? own.editTitle : own.add} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault();
          submit();
        }}
      >
        <ErrorText error={create.error ?? change.error} />
        <TextField label={own.guideTitle} required {...bind('Title')} />
        <TextField label={own.path} help={own.pathHelp} required isMono {...bind('Path')} />
        <SelectField
          label={own.state}
          options={Object.entries(adminTexts.posts.states).map(([value, label]) => ({ value, label }))}
          {...bind('Status')}
        />
        <TextAreaField label={isMarkdown ? own.markdown : own.html} rows={12} required {...bind('Text')} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={create.isPending || change.isPending}>
            {guide ? own.save : own.add}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
