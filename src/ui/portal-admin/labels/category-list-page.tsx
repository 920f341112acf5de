import { useSearch } from '@tanstack/react-router';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { adminPageRows } from '../lists/admin-list.tsx';
import { LabelList } from './label-list.tsx';

const refreshed = ['GET /portal-api/categories'] as const;

export function CategoryListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/categories' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/categories', { query }, { keepPrevious: true });
  const create = useWrite('POST /portal-api/categories', refreshed);
  const rename = useWrite('PUT /portal-api/categories/{category_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/categories/{category_id}', refreshed);
  return (
    <LabelList
      words={adminTexts.labels.categories}
      query={list}
      page={p}
      create={{ ...create, mutateAsync: Name => create.mutateAsync({ given: { body: { Name } } }) }}
      rename={{
        ...rename,
        mutateAsync: ({ id, name }) =>
          rename.mutateAsync({ given: { params: { category_id: id }, body: { Name: name } } }),
      }}
      remove={{ ...remove, mutateAsync: id => remove.mutateAsync({ given: { params: { category_id: id } } }) }}
    />
  );
}
