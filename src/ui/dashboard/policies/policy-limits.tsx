import { Card } from '../../kit/card.tsx';
import { Checkbox, SelectField } from '../../kit/field.tsx';
import { texts } from '../../texts/texts.ts';
import { LimitFields } from '../limits/limit-fields.tsx';
import { type PolicyPartProps, type PolicyScope, partNames, scopeOf } from './policy-draft.ts';

const own = texts.policies;

/** PolicyScope of the policy, and the limits that all its APIs share. */
export function PolicyLimits({ value, change, isDisabled }: PolicyPartProps) {
  const scope = scopeOf(value);
  const parts = value.partitions ?? {};
  const choose = (next: PolicyScope) =>
    change({
      partitions: {
        ...Object.fromEntries(partNames.map(name => [name, next === 'parts'])),
        per_api: next === 'per_api',
      },
    });
  return (
    <div className="flex flex-col gap-4">
      <Card title={own.scope}>
        <fieldset disabled={isDisabled} className="flex flex-col gap-4">
          <SelectField
            label={own.scopeField}
            help={own.scopeHelp[scope]}
            value={scope}
            onChange={event => choose(event.target.value as PolicyScope)}
            options={Object.entries(own.scopes).map(([id, label]) => ({ value: id, label }))}
          />
          {scope === 'parts' && (
            <div className="flex flex-wrap gap-4">
              {partNames.map(name => (
                <Checkbox
                  key={name}
                  label={own.parts[name]}
                  checked={parts[name] === true}
                  onChange={event => change({ partitions: { ...parts, per_api: false, [name]: event.target.checked } })}
                />
              ))}
            </div>
          )}
        </fieldset>
      </Card>
      {scope === 'per_api' ? (
        <p className="text-dim">{own.perApiAbout}</p>
      ) : (
        <Card title={own.limits}>
          <LimitFields limits={value} onChange={change} isDisabled={isDisabled} />
        </Card>
      )}
    </div>
  );
}
