import { Switch, TextAreaField, TextField } from '../../kit/field.tsx';
import { LinesField } from '../../kit/lines-field.tsx';
import { signOnTexts } from '../../texts/en/sign-on.ts';
import { type FieldRow, type ProfileBody, providerFields, readConfig, writeConfig } from './profile-draft.ts';

const own = signOnTexts;

interface ProviderFieldsProps {
  readonly value: ProfileBody;
  change(some: Partial<ProfileBody>): void;
}

/** Fields of the chosen provider; members without a field stay as they are. */
export function ProviderFields({ value, change }: ProviderFieldsProps) {
  const config = readConfig(value);
  return providerFields[value.ProviderName].map(row => (
    <ProviderFieldInput
      key={row.member}
      row={row}
      value={config[row.member]}
      onChange={next => change(writeConfig(value, { [row.member]: next }))}
    />
  ));
}

interface InputProps {
  readonly row: FieldRow;
  readonly value: unknown;
  onChange(value: unknown): void;
}

function ProviderFieldInput({ row: { member, kind }, value, onChange }: InputProps) {
  const label = own.fields[member];
  if (kind === 'switch')
    return (
      <Switch
        label={label}
        help={member === 'SingleLogout' ? own.singleLogoutHelp : undefined}
        checked={value === true}
        onChange={event => onChange(event.target.checked)}
      />
    );
  if (kind === 'list')
    return (
      <LinesField
        label={label}
        values={Array.isArray(value) ? value.map(String) : []}
        onChange={it => onChange([...it])}
      />
    );
  const shared = {
    label,
    value: String(value ?? ''),
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  if (kind === 'area') return <TextAreaField {...shared} rows={3} spellCheck={false} className="font-mono" />;
  return (
    <TextField
      {...shared}
      isMono={kind === 'text'}
      help={kind === 'secret' ? own.secretHelp : member === 'DiscoverURL' ? own.discoveryHelp : undefined}
      {...(kind === 'secret' ? { type: 'password', autoComplete: 'off' } : {})}
    />
  );
}
