import { TextField } from '../../kit/field.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.profile;

/** Password of the user, and the code where sign-ins require one. */
export interface Confirmation {
  readonly password: string;
  readonly otp: string;
}

export const emptyConfirmation: Confirmation = { password: '', otp: '' };

/** Body of a change of second factors: no code where none is required. */
export const toConfirmationBody = ({ password, otp }: Confirmation) => ({ password, ...(otp ? { otp } : {}) });

interface ConfirmFieldsProps {
  readonly value: Confirmation;
  change(some: Partial<Confirmation>): void;
  readonly needsCode: boolean;
}

export const ConfirmFields = ({ value, change, needsCode }: ConfirmFieldsProps) => (
  <>
    <TextField
      label={own.currentPassword}
      type="password"
      required
      autoComplete="current-password"
      value={value.password}
      onChange={event => change({ password: event.target.value })}
    />
    {needsCode && (
      <TextField
        label={own.code}
        help={own.codeHelp}
        required
        autoComplete="one-time-code"
        value={value.otp}
        onChange={event => change({ otp: event.target.value })}
      />
    )}
  </>
);
