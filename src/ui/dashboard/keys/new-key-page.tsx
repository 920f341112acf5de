import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { nowMs } from '../../kit/browser-clock.ts';
import { Button, buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { ApiPicker } from '../pickers/api-picker.tsx';
import { PolicyPicker } from '../pickers/policy-picker.tsx';
import { KeyDoneDialog } from './key-done-dialog.tsx';
import { buildKey } from './new-key.ts';

const own = texts.keys;
const daySeconds = 86_400;
const lifetimes = { never: 0, day: daySeconds, month: 30 * daySeconds, year: 365 * daySeconds } as const;
type Lifetime = keyof typeof lifetimes;

export function NewKeyPage() {
  const navigate = useNavigate();
  const [settings, setSettings] = useState<Settings>({ alias: '', rate: '', per: '60', lifetime: 'never' });
  const [policies, setPolicies] = useState<readonly PickItem[]>([]);
  const [apis, setApis] = useState<readonly PickItem[]>([]);
  const [fault, setFault] = useState<Error>();
  const { mutate, data, error, isPending } = useWrite('POST /api/keys', ['GET /api/keys/detailed']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const hasAccess = policies.length > 0 || apis.length > 0;
    setFault(hasAccess ? undefined : new Error(own.chooseAccess));
    if (!hasAccess) return;
    const seconds = lifetimes[settings.lifetime];
    const expires = seconds === 0 ? 0 : Math.floor(nowMs() / 1000) + seconds;
    const limit = settings.rate === '' ? {} : { rate: Number(settings.rate), per: Number(settings.per) };
    const body = buildKey({ alias: settings.alias, policies: policies.map(({ id }) => id), apis, expires, ...limit });
    mutate({ given: { body }, options: { wait: 'applied' } });
  };
  return (
    <PageFrame title={own.newTitle} width="form">
      <form onSubmit={submit} className="flex max-w-[720px] flex-col gap-4">
        <ErrorText error={fault ?? error} />
        <Card title={own.access}>
          <div className="grid gap-6 min-[700px]:grid-cols-2">
            <PolicyPicker title={own.byPolicy} chosen={policies} onChange={setPolicies} />
            <ApiPicker title={own.byApis} chosen={apis} onChange={setApis} />
          </div>
        </Card>
        <KeySettings
          settings={settings}
          hasPolicies={policies.length > 0}
          onChange={some => setSettings({ ...settings, ...some })}
        />
        <div className="flex justify-end gap-2">
          <Link to="/keys" className={buttonClass()}>
            {texts.kit.cancel}
          </Link>
          <Button kind="primary" type="submit" isBusy={isPending}>
            {own.createAction}
          </Button>
        </div>
      </form>
      <KeyDoneDialog created={data?.value} onClose={() => void navigate({ to: '/keys' })} />
    </PageFrame>
  );
}

interface Settings {
  readonly alias: string;
  readonly rate: string;
  readonly per: string;
  readonly lifetime: Lifetime;
}

interface KeySettingsProps {
  readonly settings: Settings;
  readonly hasPolicies: boolean;
  onChange(some: Partial<Settings>): void;
}

function KeySettings({ settings: { alias, rate, per, lifetime }, hasPolicies, onChange }: KeySettingsProps) {
  return (
    <Card>
      <div className="flex flex-col gap-4">
        <TextField
          label={own.aliasField}
          help={own.aliasHelp}
          value={alias}
          onChange={event => onChange({ alias: event.target.value })}
        />
        <div className="grid grid-cols-2 gap-4">
          <TextField
            label={own.rateField}
            type="number"
            min={1}
            help={hasPolicies ? own.policyLimits : own.rateHelp}
            value={rate}
            onChange={event => onChange({ rate: event.target.value })}
          />
          <TextField
            label={own.perField}
            type="number"
            min={1}
            unit={own.seconds}
            value={per}
            onChange={event => onChange({ per: event.target.value })}
          />
        </div>
        <SelectField
          label={own.expiryField}
          value={lifetime}
          onChange={event => onChange({ lifetime: event.target.value as Lifetime })}
          options={Object.entries(own.expiries).map(([value, label]) => ({ value, label }))}
        />
      </div>
    </Card>
  );
}
