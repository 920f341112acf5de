import { Card } from '../../kit/card.tsx';
import { SelectField } from '../../kit/field.tsx';
import { formatSeconds } from '../../kit/format.ts';
import { JsonField } from '../../kit/json-field.tsx';
import { LinesField } from '../../kit/lines-field.tsx';
import { texts } from '../../texts/texts.ts';
import type { PolicyData, PolicyPartProps } from './policy-draft.ts';
import { PolicyName } from './policy-name.tsx';

const own = texts.policies;
const day = 86_400;
const lifetimes = [day, 7 * day, 30 * day, 90 * day, 365 * day];
type State = NonNullable<PolicyData['state']>;

/** State, what a new key gets besides its rights, and the name of a stored policy. */
export function PolicyDetails(props: PolicyPartProps) {
  const { value, change, isDisabled, hasName, faultOf, onFault } = props;
  const { state = 'active' } = value;
  return (
    <Card title={own.details}>
      <fieldset disabled={isDisabled} className="flex flex-col gap-4">
        {hasName && <PolicyName {...props} />}
        <SelectField
          label={own.state}
          help={own.stateHelp[state]}
          value={state}
          onChange={event => change({ state: event.target.value as State })}
          options={Object.entries(own.states).map(([id, label]) => ({ value: id, label }))}
        />
        <ExpiryField value={value} change={change} error={faultOf('expiry')} />
        <SelectField
          label={own.afterExpiry}
          value={value.post_expiry_action ?? ''}
          onChange={event => change({ post_expiry_action: event.target.value as '' | 'retain' | 'delete' })}
          options={Object.entries(own.afterExpiries).map(([id, label]) => ({ value: id, label }))}
        />
        <LinesField
          label={own.tags}
          help={own.tagsHelp}
          values={value.tags ?? []}
          onChange={tags => change({ tags: [...tags] })}
        />
        <JsonField
          label={own.metaData}
          help={own.metaDataHelp}
          value={value.meta_data ?? {}}
          onChange={next => change({ meta_data: next as Record<string, unknown> })}
          onFault={fault => onFault('meta_data', fault)}
        />
      </fieldset>
    </Card>
  );
}

interface ExpiryFieldProps {
  readonly value: PolicyData;
  change(some: Partial<PolicyData>): void;
  readonly error: string | undefined;
}

/** A required choice, "never" among them. */
function ExpiryField({ value: { key_expires_in: seconds }, change, error }: ExpiryFieldProps) {
  const isOther = seconds !== undefined && seconds > 0 && !lifetimes.includes(seconds);
  const known = isOther ? [seconds, ...lifetimes] : lifetimes;
  return (
    <SelectField
      label={own.expiry}
      help={own.expiryHelp}
      required
      error={error}
      value={seconds === undefined ? '' : String(Math.max(seconds, 0))}
      onChange={event => change({ key_expires_in: Number(event.target.value) })}
      options={[
        ...(seconds === undefined ? [{ value: '', label: own.expiryChoose }] : []),
        { value: '0', label: own.expiryNever },
        ...known.map(it => ({ value: String(it), label: own.expiryAfter(formatSeconds(it)) })),
      ]}
    />
  );
}
