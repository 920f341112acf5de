import { type FormEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { SelectField, Switch, TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { type UserPreferences, usePreferences } from '../session/preferences.ts';

const own = texts.profile;
const toOptions = (values: Readonly<Record<string, string>>) =>
  Object.entries(values).map(([value, label]) => ({ value, label }));

export function PreferencesCard() {
  const { preferences } = usePreferences();
  return preferences ? <PreferencesForm stored={preferences} /> : null;
}

/** Look, language and times. A refused value changes nothing. */
function PreferencesForm({ stored }: { stored: UserPreferences }) {
  const toasts = useToasts();
  const { change: show } = usePreferences();
  const [value, setValue] = useState(stored);
  const change = (some: Partial<UserPreferences>) => setValue({ ...value, ...some });
  const { mutate, error, isPending } = useWrite('PUT /api/preferences');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate(
      { given: { body: value } },
      {
        onSuccess: () => {
          show(value);
          toasts.showSuccess(own.preferencesSaved);
        },
      },
    );
  };
  return (
    <Card title={own.tabs.preferences}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <ErrorText error={error} />
        <PreferenceFields value={value} change={change} />
        <Button type="submit" kind="primary" isBusy={isPending} className="self-start">
          {own.savePreferences}
        </Button>
      </form>
    </Card>
  );
}

interface PreferenceFieldsProps {
  readonly value: UserPreferences;
  change(some: Partial<UserPreferences>): void;
}

const PreferenceFields = ({ value, change }: PreferenceFieldsProps) => (
  <>
    <SelectField
      label={own.theme}
      value={value.theme}
      onChange={event => change({ theme: event.target.value as UserPreferences['theme'] })}
      options={toOptions(texts.shell.themes)}
    />
    <SelectField
      label={own.density}
      value={value.density}
      onChange={event => change({ density: event.target.value as UserPreferences['density'] })}
      options={toOptions(texts.shell.densities)}
    />
    <TextField
      label={own.language}
      help={own.languageHelp}
      value={value.language}
      onChange={event => change({ language: event.target.value })}
    />
    <TextField
      label={own.timeZone}
      help={own.timeZoneHelp}
      value={value.time_zone}
      onChange={event => change({ time_zone: event.target.value })}
    />
    <TextField
      label={own.toastSeconds}
      type="number"
      min={1}
      max={60}
      unit={own.seconds}
      value={String(value.toast_seconds)}
      onChange={event => change({ toast_seconds: Number(event.target.value) })}
    />
    <Switch
      label={own.shortcuts}
      checked={value.single_key_shortcuts}
      onChange={event => change({ single_key_shortcuts: event.target.checked })}
    />
  </>
);
