import { Checkbox } from '../../kit/field.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.apps;

interface ForceChoiceProps {
  readonly isForced: boolean;
  onChange(isForced: boolean): void;
}

/** Revokes a credential without its provider, which removes the key later. */
export const ForceChoice = ({ isForced, onChange }: ForceChoiceProps) => (
  <Checkbox
    label={own.force}
    help={own.forceHelp}
    checked={isForced}
    onChange={event => onChange(event.target.checked)}
  />
);
