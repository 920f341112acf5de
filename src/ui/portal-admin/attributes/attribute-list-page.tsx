import { Link } from '@tanstack/react-router';
import { ListPlus } from 'lucide-react';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import type { Column } from '../../kit/data-table.tsx';
import { Switch } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, CreateLink } from '../lists/admin-list.tsx';

const own = adminTexts.attributes;
/** `User` is the only model with attributes. */
export const userAttributeModelId = '1';
const params = { extended_attribute_id: userAttributeModelId };
const maxAttributes = 1000;
export const attributeReads = [
  'GET /portal-api/extended_attributes/{extended_attribute_id}',
  'GET /portal-api/extended_attributes/{extended_attribute_id}/custom-attributes',
] as const;

type Attribute = ResultOf<'GET /portal-api/extended_attributes/{extended_attribute_id}/custom-attributes'>[number];

const columns: readonly Column<Attribute>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: ({ ID, Name }) => (
      <Link to="/admin/custom_attributes/$attributeId" params={{ attributeId: String(ID) }} className="row-link">
        {Name}
      </Link>
    ),
  },
  {
    id: 'identifier',
    title: own.columns.identifier,
    cell: ({ Identifier }) => <code className="break-all">{Identifier}</code>,
  },
  { id: 'type', title: own.columns.type, cell: ({ Type }) => own.types[Type] },
  { id: 'behaviour', title: own.columns.behaviour, cell: ({ Behaviour }) => own.behaviours[Behaviour] },
  { id: 'signUp', title: own.columns.signUp, cell: ({ ShowOnSignUp }) => (ShowOnSignUp ? own.yes : own.no) },
];

export function AttributeListPage() {
  const list = useOperation('GET /portal-api/extended_attributes/{extended_attribute_id}/custom-attributes', {
    params,
    query: { page: 1, per_page: maxAttributes },
  });
  return (
    <PageFrame
      title={own.title}
      about={own.about}
      actions={<CreateLink to="/admin/custom_attributes/new" label={own.create} />}
    >
      <div className="flex flex-col gap-4">
        <AdminList
          label={own.title}
          query={list}
          page={1}
          columns={columns}
          idOf={({ ID }) => String(ID)}
          nameOf={({ Name }) => Name}
          empty={{ icon: ListPlus, title: own.emptyTitle, about: own.emptyAbout }}
        />
        <DefaultAttributes />
      </div>
    </PageFrame>
  );
}

/** Built-in attributes; each takes effect at once, for keys that are created from now on. */
function DefaultAttributes() {
  const read = useOperation('GET /portal-api/extended_attributes/{extended_attribute_id}', { params });
  const save = useWrite(
    'PUT /portal-api/extended_attributes/{extended_attribute_id}/default-attributes/{default_attribute_id}',
    attributeReads,
  );
  const toasts = useToasts();
  const change = (id: number, AddToKeyMetadata: boolean) =>
    save.mutate(
      { given: { params: { ...params, default_attribute_id: String(id) }, body: { AddToKeyMetadata } } },
      { onError: error => toasts.showError(error.message) },
    );
  return (
    <Card title={own.defaults}>
      {!read.data && <QueryState query={read} />}
      <div className="flex flex-col gap-2">
        {read.data?.value.DefaultAttributes.map(({ ID, Label, AddToKeyMetadata }) => (
          <Switch
            key={ID}
            label={Label}
            checked={AddToKeyMetadata}
            onChange={event => change(ID, event.target.checked)}
          />
        ))}
      </div>
    </Card>
  );
}
