import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { SelectField, TextAreaField, TextField } from '../../kit/field.tsx';
import { focusFirstFault } from '../../kit/focus-fault.ts';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import { texts } from '../../texts/texts.ts';
import { parseHeaderLines } from '../apis/try/curl.ts';
import {
  countSourceFields,
  findFieldSource,
  hasSourceForm,
  listDataSources,
  parseSourcePath,
  type SourceDraft,
  type SourceMapping,
  toSourceDraft,
} from './field-sources.ts';
import type { GraphField } from './graph-fields.ts';

const own = graphqlTexts.source;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

interface SourceDialogProps {
  readonly definition: unknown;
  readonly field: GraphField;
  onApply(source: SourceDraft): void;
  onClose(): void;
}

type EditedSource = Omit<SourceDraft, 'headers'> & { readonly headerText: string; readonly pathText: string };

const toEdited = ({ headers, ...rest }: SourceDraft): EditedSource => ({
  ...rest,
  headerText: Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n'),
  pathText: rest.path.join('.'),
});

type Faults = Partial<Record<'name' | 'url' | 'headers' | 'path', string>>;

function findFaults({ name, url, headerText, mapping, path, pathText }: EditedSource): Faults {
  const faulty = parseHeaderLines(headerText).faults[0];
  return {
    ...(name.trim() === '' ? { name: own.nameMissing } : {}),
    ...(/^(https?|gw):\/\/[^/]/.test(url) ? {} : { url: own.urlInvalid }),
    ...(faulty === undefined ? {} : { headers: texts.tryApi.headerInvalid(faulty) }),
    ...(mapping === 'path' && parseSourcePath(pathText, path).length === 0 ? { path: own.pathMissing } : {}),
  };
}

/** Source of one field: a new one, or one of the others, which changes for all its fields. */
export function SourceDialog({ definition, field, onApply, onClose }: SourceDialogProps) {
  const formId = useId();
  const sources = listDataSources(definition).filter(hasSourceForm);
  const [value, setValue] = useState(() =>
    toEdited(toSourceDraft(definition, field, findFieldSource(definition, field))),
  );
  const [faults, setFaults] = useState<Faults>({});
  const set = (some: Partial<EditedSource>) => setValue(before => ({ ...before, ...some }));
  const known = sources.find(({ name }) => name === value.name);
  const choose = (name: string) => {
    const source = sources.find(it => it.name === name);
    const { mapping, path, pathText } = value;
    setValue({ ...toEdited(toSourceDraft(definition, field, source)), mapping, path, pathText });
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const found = findFaults(value);
    setFaults(found);
    if (Object.keys(found).length > 0) return focusFirstFault(event.currentTarget);
    const { headerText, pathText, ...rest } = value;
    onApply({ ...rest, headers: parseHeaderLines(headerText).headers, path: parseSourcePath(pathText, value.path) });
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={own.title(`${field.type}.${field.name}`)}
      footer={
        <>
          <Button onClick={onClose}>{texts.kit.cancel}</Button>
          <Button kind="primary" type="submit" form={formId}>
            {own.apply}
          </Button>
        </>
      }
    >
      <form id={formId} noValidate onSubmit={submit} className="flex flex-col gap-4">
        {sources.length > 0 && (
          <SelectField
            label={own.source}
            help={known && own.usedBy(countSourceFields(known))}
            value={known ? value.name : ''}
            onChange={event => choose(event.target.value)}
            options={[
              { value: '', label: own.newSource },
              ...sources.map(({ name }) => ({ value: String(name), label: String(name) })),
            ]}
          />
        )}
        <SourceFields value={value} set={set} faults={faults} field={field} />
        <MappingField value={value} set={set} faults={faults} />
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly value: EditedSource;
  set(some: Partial<EditedSource>): void;
  readonly faults: Faults;
}

const SourceFields = ({ value, set, faults, field }: FieldsProps & { readonly field: GraphField }) => (
  <>
    <div className="grid gap-4 min-[480px]:grid-cols-2">
      <SelectField
        label={own.kind}
        value={value.kind}
        onChange={event => set({ kind: event.target.value as SourceDraft['kind'] })}
        options={Object.entries(own.kinds).map(([id, label]) => ({ value: id, label }))}
      />
      <TextField
        label={own.name}
        required
        error={faults.name}
        value={value.name}
        onChange={event => set({ name: event.target.value })}
      />
    </div>
    <TextField
      label={own.url}
      required
      isMono
      help={value.kind === 'REST' ? own.urlHelp(field.args) : undefined}
      error={faults.url}
      value={value.url}
      onChange={event => set({ url: event.target.value })}
    />
    {value.kind === 'REST' && (
      <SelectField
        label={texts.tryApi.method}
        value={value.method}
        onChange={event => set({ method: event.target.value })}
        options={methods.map(method => ({ value: method, label: method }))}
      />
    )}
    {value.kind === 'REST' && (value.method !== 'GET' || value.body !== '') && (
      <TextAreaField
        label={own.body}
        rows={3}
        spellCheck={false}
        className="font-mono"
        help={own.bodyHelp}
        value={value.body}
        onChange={event => set({ body: event.target.value })}
      />
    )}
    <TextAreaField
      label={texts.tryApi.headers}
      rows={2}
      spellCheck={false}
      className="font-mono"
      help={texts.tryApi.headersHelp}
      error={faults.headers}
      value={value.headerText}
      onChange={event => set({ headerText: event.target.value })}
    />
  </>
);

const MappingField = ({ value, set, faults }: FieldsProps) => (
  <>
    <SelectField
      label={own.mapping}
      value={value.mapping}
      onChange={event => set({ mapping: event.target.value as SourceMapping })}
      options={Object.entries(own.mappings).map(([id, label]) => ({ value: id, label }))}
    />
    {value.mapping === 'path' && (
      <TextField
        label={own.path}
        required
        isMono
        help={own.pathHelp}
        error={faults.path}
        value={value.pathText}
        onChange={event => set({ pathText: event.target.value })}
      />
    )}
  </>
);
