import { type ReactNode, useState } from 'react';
import { SelectField, Switch, TextField } from '../../kit/field.tsx';
import { formatSeconds } from '../../kit/format.ts';
import { texts } from '../../texts/texts.ts';
import type { Limits } from './limits.ts';
import { SmoothingChart } from './smoothing-chart.tsx';

const own = texts.limits;

export interface LimitFieldsProps {
  readonly limits: Limits;
  onChange(some: Limits): void;
  readonly isDisabled?: boolean;
}

const unlimited = -1;
const hour = 3600;
const day = 24 * hour;
const periods = [hour, day, 7 * day, 30 * day, 365 * day];
const defaultRate = { rate: 100, per: 60 };
const defaultQuota = { quota_max: 10_000, quota_renewal_rate: 30 * day };
const defaultThrottle = { throttle_interval: 1, throttle_retry_limit: 3 };

/** Each limit is off or has numbers: no field takes a number that means something else. */
export function LimitFields({ limits, onChange, isDisabled = false }: LimitFieldsProps) {
  const {
    rate = 0,
    per = 0,
    quota_max = 0,
    throttle_interval = 0,
    throttle_retry_limit = 0,
    max_query_depth = 0,
  } = limits;
  const set = (name: keyof Limits) => (value: number) => onChange({ [name]: value });
  return (
    <fieldset disabled={isDisabled} className="flex flex-col gap-5">
      <LimitPart
        label={own.limitRate}
        help={own.limitRateHelp}
        isOn={rate > 0}
        onToggle={isOn => onChange(isOn ? defaultRate : { rate: unlimited, per: unlimited })}
      >
        <NumberField label={own.requests} value={rate} min={1} onChange={set('rate')} />
        <NumberField label={own.within} value={per} min={1} unit={own.seconds} onChange={set('per')} />
      </LimitPart>
      <SmoothingChart limits={limits} />
      <LimitPart
        label={own.limitQuota}
        help={own.limitQuotaHelp}
        isOn={quota_max > 0}
        onToggle={isOn => onChange(isOn ? defaultQuota : { quota_max: unlimited, quota_renewal_rate: unlimited })}
      >
        <NumberField label={own.quotaRequests} value={quota_max} min={1} onChange={set('quota_max')} />
        <PeriodField seconds={limits.quota_renewal_rate ?? 0} onChange={set('quota_renewal_rate')} />
      </LimitPart>
      <LimitPart
        label={own.throttle}
        help={own.throttleHelp}
        isOn={throttle_interval > 0 && throttle_retry_limit > 0}
        onToggle={isOn =>
          onChange(isOn ? defaultThrottle : { throttle_interval: unlimited, throttle_retry_limit: unlimited })
        }
      >
        <NumberField label={own.retries} value={throttle_retry_limit} min={1} onChange={set('throttle_retry_limit')} />
        <NumberField
          label={own.retryInterval}
          value={throttle_interval}
          min={0.1}
          step={0.1}
          unit={own.seconds}
          onChange={set('throttle_interval')}
        />
      </LimitPart>
      <LimitPart
        label={own.limitDepth}
        isOn={max_query_depth > 0}
        onToggle={isOn => onChange({ max_query_depth: isOn ? 5 : unlimited })}
      >
        <NumberField label={own.depth} value={max_query_depth} min={1} onChange={set('max_query_depth')} />
      </LimitPart>
    </fieldset>
  );
}

interface LimitPartProps {
  readonly label: string;
  readonly help?: string;
  readonly isOn: boolean;
  onToggle(isOn: boolean): void;
  readonly children: ReactNode;
}

const LimitPart = ({ label, help, isOn, onToggle, children }: LimitPartProps) => (
  <div className="flex flex-col gap-3">
    <Switch label={label} help={help} checked={isOn} onChange={event => onToggle(event.target.checked)} />
    {isOn && <div className="grid gap-4 pl-12 min-[600px]:grid-cols-2 max-[600px]:pl-0">{children}</div>}
  </div>
);

interface NumberFieldProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly step?: number;
  readonly unit?: string;
  onChange(value: number): void;
}

/** A text that is no number above the minimum changes nothing; leaving the field restores the number. */
function NumberField({ value, onChange, unit, min, step = 1, label }: NumberFieldProps) {
  const [text, setText] = useState<string>();
  const edit = (next: string) => {
    setText(next);
    if (next !== '' && Number(next) >= min) onChange(Number(next));
  };
  return (
    <TextField
      label={label}
      {...(unit ? { unit } : {})}
      type="number"
      min={min}
      step={step}
      value={text ?? String(value)}
      onChange={event => edit(event.target.value)}
      onBlur={() => setText(undefined)}
    />
  );
}

function PeriodField({ seconds, onChange }: { seconds: number; onChange(seconds: number): void }) {
  const known = periods.includes(seconds) || seconds <= 0 ? periods : [seconds, ...periods];
  return (
    <SelectField
      label={own.period}
      value={String(seconds > 0 ? seconds : unlimited)}
      onChange={event => onChange(Number(event.target.value))}
      options={[
        ...known.map(value => ({ value: String(value), label: own.every(formatSeconds(value)) })),
        { value: String(unlimited), label: own.never },
      ]}
    />
  );
}
