import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../../kit/button.tsx';
import { Dialog } from '../../../kit/dialog.tsx';
import { LinesField } from '../../../kit/lines-field.tsx';
import { useWrite } from '../../../kit/queries.ts';
import { ErrorText } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { apiListTexts } from '../../../texts/en/api-list.ts';
import { texts } from '../../../texts/texts.ts';
import type { ApiOutline } from '../api-outline.ts';

const own = apiListTexts.categories;
const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/categories'] as const;

/** Categories of an API in the OpenAPI format, which stand beside its document. */
export function CategoriesDialog({ api, onClose }: { api: ApiOutline; onClose(): void }) {
  const form = useId();
  const toasts = useToasts();
  const [categories, setCategories] = useState(api.categories);
  const { mutate, error, isPending } = useWrite('PUT /api/apis/oas/{apiId}/categories', refreshed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const onSuccess = () => {
      toasts.showSuccess(own.saved(api.name || api.id));
      onClose();
    };
    mutate({ given: { params: { apiId: api.id }, body: { categories: [...categories] } } }, { onSuccess });
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={own.title(api.name || api.id)}
      about={own.about}
      footer={
        <>
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" type="submit" form={form} isBusy={isPending}>
            {own.action}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-4">
        <ErrorText error={error} />
        <LinesField label={own.label} help={own.help} values={categories} onChange={setCategories} />
      </form>
    </Dialog>
  );
}
