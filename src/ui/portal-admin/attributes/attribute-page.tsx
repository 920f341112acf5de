import { useNavigate, useParams } from '@tanstack/react-router';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm, type RecordValue } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { attributeReads, userAttributeModelId } from './attribute-list-page.tsx';

const own = adminTexts.attributes;
const model = { extended_attribute_id: userAttributeModelId };
const onePath =
  '/portal-api/extended_attributes/{extended_attribute_id}/custom-attributes/{custom_attribute_id}' as const;
type AttributeWrite =
  ArgumentsOf<'POST /portal-api/extended_attributes/{extended_attribute_id}/custom-attributes'>['body'];
type AttributeChange = ArgumentsOf<`PUT ${typeof onePath}`>['body'];

const toOptions = (names: Readonly<Record<number, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));
const isText = ({ Type }: RecordValue) => String(Type) === '1';
const isChoice = ({ Type }: RecordValue) => String(Type) === '2';

const createSections = (isNew: boolean): readonly FormSection[] => [
  {
    title: own.details,
    fields: [
      { name: 'Name', label: own.columns.name, isRequired: true },
      {
        name: 'Identifier',
        label: own.columns.identifier,
        help: own.identifierHelp,
        isRequired: true,
        isMono: true,
        isReadOnly: !isNew,
      },
      { name: 'Type', label: own.columns.type, kind: 'select', options: toOptions(own.types), isReadOnly: !isNew },
      { name: 'Description', label: own.description },
      { name: 'DropdownValues', label: own.choices, help: own.choicesHelp, isShown: isChoice },
      { name: 'ValidationRegExp', label: own.pattern, help: own.patternHelp, isMono: true, isShown: isText },
      { name: 'Behaviour', label: own.columns.behaviour, kind: 'select', options: toOptions(own.behaviours) },
      { name: 'Required', label: own.required, kind: 'switch' },
      { name: 'ShowOnSignUp', label: own.signUp, kind: 'switch' },
      { name: 'WriteOnceReadMany', label: own.writeOnce, kind: 'switch' },
      { name: 'AddToKeyMetadata', label: own.toMetadata, kind: 'switch' },
    ],
  },
];

/** Selects have texts, the wire has numbers. */
const toBody = (record: RecordValue): RecordValue => ({
  ...record,
  ...('Type' in record ? { Type: Number(record.Type) } : {}),
  ...('Behaviour' in record ? { Behaviour: Number(record.Behaviour) } : {}),
});

const newAttribute = {
  Name: '',
  Identifier: '',
  Type: '1',
  Description: '',
  DropdownValues: '',
  ValidationRegExp: '',
  Behaviour: '1',
  Required: false,
  ShowOnSignUp: true,
  WriteOnceReadMany: false,
  AddToKeyMetadata: false,
};

export function NewAttributePage() {
  const navigate = useNavigate();
  const create = useWrite(
    'POST /portal-api/extended_attributes/{extended_attribute_id}/custom-attributes',
    attributeReads,
  );
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={newAttribute}
        sections={createSections(true)}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        onSave={async (draft, _changes, accept) => {
          const { value } = await create.mutateAsync({
            given: { params: model, body: toBody(draft) as AttributeWrite },
          });
          accept();
          const params = { attributeId: String(value.ID) };
          await navigate({ to: '/admin/custom_attributes/$attributeId', params, ignoreBlocker: true });
        }}
      />
    </PageFrame>
  );
}

export function AttributePage() {
  const { attributeId } = useParams({ from: '/shell/admin/custom_attributes/$attributeId' });
  const params = { ...model, custom_attribute_id: attributeId };
  const read = useOperation(`GET ${onePath}`, { params });
  const save = useWrite(`PUT ${onePath}`, [...attributeReads, `GET ${onePath}`]);
  const remove = useWrite(`DELETE ${onePath}`, attributeReads);
  const toasts = useToasts();
  const attribute = read.data?.value;
  if (!attribute)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { ID: _id, ValueCount, CreatedAt: _created, UpdatedAt: _updated, ...members } = attribute;
  return (
    <PageFrame
      title={attribute.Name}
      width="form"
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(attribute.Name)}
          name={attribute.Name}
          tier={4}
          consequence={own.deleteConsequence(ValueCount)}
          list="/admin/custom_attributes"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <RecordForm
        key={attributeId}
        stored={{ ...members, Type: String(members.Type), Behaviour: String(members.Behaviour) }}
        sections={createSections(false)}
        action={own.save}
        isBusy={save.isPending}
        error={save.error}
        onSave={async (draft, changes, accept) => {
          await save.mutateAsync({ given: { params, body: toBody(changes) as AttributeChange } });
          accept();
          toasts.showSuccess(adminTexts.forms.saved(String(draft.Name)));
        }}
      />
    </PageFrame>
  );
}
