import { useState } from 'react';
import { FormDialog } from '../../../kit/form-dialog.tsx';
import { LinesField } from '../../../kit/lines-field.tsx';
import { useWrite } from '../../../kit/queries.ts';
import { useToasts } from '../../../kit/toast.tsx';
import { apiListTexts } from '../../../texts/en/api-list.ts';
import type { ApiOutline } from '../api-outline.ts';

const own = apiListTexts.categories;
const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/categories'] as const;

/** Categories of an API in the OpenAPI format, which stand beside its document. */
export function CategoriesDialog({ api, onClose }: { api: ApiOutline; onClose(): void }) {
  const toasts = useToasts();
  const [categories, setCategories] = useState(api.categories);
  const { mutate, error, isPending } = useWrite('PUT /api/apis/oas/{apiId}/categories', refreshed);
  const submit = () => {
    const onSuccess = () => {
      toasts.showSuccess(own.saved(api.name || api.id));
      onClose();
    };
    mutate({ given: { params: { apiId: api.id }, body: { categories: [...categories] } } }, { onSuccess });
  };
  return (
    <FormDialog
      title={own.title(api.name || api.id)}
      about={own.about}
      action={own.action}
      error={error}
      isBusy={isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <LinesField label={own.label} help={own.help} values={categories} onChange={setCategories} />
    </FormDialog>
  );
}
