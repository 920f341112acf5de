import { useSearch } from '@tanstack/react-router';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { adminPageRows } from '../lists/admin-list.tsx';
import { LabelList } from './label-list.tsx';

const refreshed = ['GET /portal-api/tags'] as const;

export function TagListPage() {
  const { p = 1 } = useSearch({ from: '/shell/admin/tags' });
  const query = { page: p, per_page: adminPageRows };
  const list = useOperation('GET /portal-api/tags', { query }, { keepPrevious: true });
  const create = useWrite('POST /portal-api/tags', refreshed);
  const rename = useWrite('PUT /portal-api/tags/{tag_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/tags/{tag_id}', refreshed);
  return (
    <LabelList
      words={adminTexts.labels.tags}
      query={list}
      page={p}
      create={{ ...create, mutateAsync: Name => create.mutateAsync({ given: { body: { Name } } }) }}
      rename={{
        ...rename,
        mutateAsync: ({ id, name }) => rename.mutateAsync({ given: { params: { tag_id: id }, body: { Name: name } } }),
      }}
      remove={{ ...remove, mutateAsync: id => remove.mutateAsync({ given: { params: { tag_id: id } } }) }}
    />
  );
}
