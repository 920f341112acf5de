import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { FieldSpec } from '../forms/record-field.tsx';
import { RecordForm } from '../forms/record-form.tsx';

const own = adminTexts.users;
const listRoute = 'GET /portal-api/users/{user_id}/custom-attributes';
const definitionRoute = 'GET /portal-api/extended_attributes/{extended_attribute_id}/custom-attributes';
/** Users are the only model with attributes. */
const model = { extended_attribute_id: '1' };
/** More than a model can have. */
const query = { per_page: 1000 };

interface AttributeItem {
  readonly ID: number;
  readonly Value: string;
  readonly CustomAttribute: {
    readonly Name: string;
    readonly Type: string;
    readonly Required: boolean;
    readonly WriteOnceReadMany: boolean;
  };
}

const toOptions = (values: readonly string[]) => values.map(value => ({ value, label: value }));

function toField({ ID, Value, CustomAttribute: it }: AttributeItem, choices: string): FieldSpec {
  const isReadOnly = it.WriteOnceReadMany && Value !== '';
  const shared = { name: String(ID), label: it.Name, isReadOnly, ...(isReadOnly ? { help: own.writtenOnce } : {}) };
  const unset = { value: '', label: own.noChoice };
  if (it.Type === 'Dropdown') {
    const listed = choices.split(',').map(text => text.trim());
    return { ...shared, kind: 'select', options: [unset, ...toOptions(listed.filter(text => text !== ''))] };
  }
  if (it.Type !== 'Boolean') return shared;
  const answers = [unset, { value: 'true', label: own.yes }, { value: 'false', label: own.no }];
  return { ...shared, kind: 'select', options: answers };
}

/** Values of the custom attributes of a user; each that was changed is saved by itself. */
export function UserAttributes({ userId }: { userId: string }) {
  const read = useOperation(listRoute, { params: { user_id: userId }, query });
  const definitions = useOperation(definitionRoute, { params: model, query });
  const save = useWrite('PUT /portal-api/users/{user_id}/custom-attributes/{custom-attribute_id}', [listRoute]);
  const toasts = useToasts();
  const attributes = read.data?.value;
  const known = definitions.data?.value;
  if (!attributes || !known) return <QueryState query={attributes ? definitions : read} lines={2} />;
  if (attributes.length === 0) return null;
  const choicesOf = (id: number) => known.find(({ ID }) => ID === id)?.DropdownValues ?? '';
  return (
    <RecordForm
      key={userId}
      stored={Object.fromEntries(attributes.map(({ ID, Value }) => [String(ID), Value]))}
      sections={[{ title: own.attributes, fields: attributes.map(it => toField(it, choicesOf(it.ID))) }]}
      action={own.saveAttributes}
      isBusy={save.isPending}
      error={save.error}
      onSave={async (_draft, changes, accept) => {
        for (const [id, value] of Object.entries(changes))
          await save.mutateAsync({
            given: { params: { user_id: userId, custom_attribute_id: id }, body: { Value: String(value) } },
          });
        accept();
        toasts.showSuccess(own.attributeSaved);
      }}
    />
  );
}
