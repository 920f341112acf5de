import { TextField } from '../../kit/field.tsx';
import { texts } from '../../texts/texts.ts';
import type { PolicyPartProps } from './policy-draft.ts';

type PolicyNameProps = Pick<PolicyPartProps, 'value' | 'change' | 'isDisabled' | 'faultOf'>;

export const PolicyName = ({ value, change, isDisabled, faultOf }: PolicyNameProps) => (
  <TextField
    label={texts.policies.name}
    required
    disabled={isDisabled}
    error={faultOf('name')}
    value={value.name ?? ''}
    onChange={event => change({ name: event.target.value })}
  />
);
