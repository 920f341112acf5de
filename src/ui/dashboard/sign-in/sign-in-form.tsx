import { KeyRound } from 'lucide-react';
import { type FormEvent, useEffect, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { CallError, callServer } from '../../kit/calls.ts';
import { SelectField, TextField } from '../../kit/field.tsx';
import { useOperation } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import type { CurrentUser } from '../session/session.ts';
import { ExpiredPasswordForm } from './expired-password-form.tsx';
import { canUsePasskeys, isAtIpAddress, requestPasskeySession } from './passkey.ts';

export interface SignInFormProps {
  /** Known after the end of a session. */
  readonly username?: string;
  onSignedIn(session: CurrentUser): void;
}

interface Challenge {
  readonly organisations?: readonly { readonly id: string; readonly owner_name: string }[];
  readonly needsCode?: boolean;
  readonly resetToken?: string;
}

/** E-mail address and password; then the organisation, the code or a new password, as the server asks for them. */
export function SignInForm(props: SignInFormProps) {
  const { fields, set, challenge, setChallenge, error, isBusy, run, submit } = useSignIn(props);
  const options = useOperation('GET /api/session/options', { query: {} });
  if (challenge.resetToken !== undefined)
    return <ExpiredPasswordForm token={challenge.resetToken} onSet={() => setChallenge({})} />;
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <ErrorText error={error} />
      <TextField
        label={texts.signIn.username}
        type="email"
        name="username"
        autoComplete="username"
        value={fields.username}
        onChange={set('username')}
      />
      <TextField
        label={texts.signIn.password}
        type="password"
        name="password"
        autoComplete="current-password"
        value={fields.password}
        onChange={set('password')}
      />
      {challenge.organisations && (
        <SelectField
          label={texts.signIn.organisation}
          help={texts.signIn.organisationHelp}
          value={fields.org_id}
          onChange={set('org_id')}
          options={challenge.organisations.map(it => ({ value: it.id, label: it.owner_name }))}
        />
      )}
      {challenge.needsCode && (
        <TextField
          label={texts.signIn.code}
          name="otp"
          autoComplete="one-time-code"
          autoFocus
          value={fields.otp}
          onChange={set('otp')}
        />
      )}
      <SubmitRow
        hasPasskeys={options.data?.value.passkey === true}
        error={error}
        isBusy={isBusy}
        onPasskey={() => void run(requestPasskeySession)}
      />
    </form>
  );
}

/** Fields and answers of one sign-in. */
function useSignIn({ username: known = '', onSignedIn }: SignInFormProps) {
  const [fields, setFields] = useState({ username: known, password: '', otp: '', org_id: '' });
  const [challenge, setChallenge] = useState<Challenge>({});
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const set = (name: keyof typeof fields) => (event: { target: { value: string } }) =>
    setFields(before => ({ ...before, [name]: event.target.value }));

  const refuse = (thrown: unknown) => {
    const next = readChallenge(thrown);
    setChallenge(before => ({ ...before, ...next }));
    if (next.organisations?.[0]) setFields(before => ({ ...before, org_id: next.organisations?.[0]?.id ?? '' }));
    const isQuestion = Object.keys(next).length > 0;
    setError(isQuestion ? undefined : (thrown as Error));
    if (!isQuestion) setFields(before => ({ ...before, password: '', otp: '' }));
  };
  const run = async (work: () => Promise<CurrentUser>) => {
    setBusy(true);
    await work().then(onSignedIn, refuse);
    setBusy(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (fields.username.trim() === '') return setError(new Error(texts.signIn.usernameMissing));
    const { username, password, otp, org_id } = fields;
    const body = { username, password, ...(otp && { otp }), ...(org_id && { org_id }) };
    void run(async () => (await callServer('POST /api/session', { body })).value);
  };

  return { fields, set, challenge, setChallenge, error, isBusy, run, submit };
}

interface SubmitRowProps {
  /** The server offers passkeys. */
  readonly hasPasskeys: boolean;
  readonly error: Error | undefined;
  readonly isBusy: boolean;
  onPasskey(): void;
}

/** Buttons; after too many attempts the first one counts down. */
function SubmitRow({ hasPasskeys, error, isBusy, onPasskey }: SubmitRowProps) {
  const [left, setLeft] = useState(0);
  useEffect(() => setLeft(error instanceof CallError ? (error.retryAfterSeconds ?? 0) : 0), [error]);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return (
    <>
      <Button kind="primary" type="submit" isBusy={isBusy} disabled={left > 0}>
        {left > 0 ? texts.signIn.retryIn(left) : texts.signIn.submit}
      </Button>
      {hasPasskeys && canUsePasskeys() && (
        <Button icon={KeyRound} isBusy={isBusy} onClick={onPasskey}>
          {texts.signIn.passkey}
        </Button>
      )}
      {hasPasskeys && isAtIpAddress() && <p className="text-small text-dim">{texts.signIn.passkeyNeedsName}</p>}
    </>
  );
}

/** Questions of the server in place of a session. */
function readChallenge(error: unknown): Challenge {
  if (!(error instanceof CallError)) return {};
  const { second_factors: factors, organisations, reset_token: resetToken } = error.body;
  return {
    ...(Array.isArray(factors) ? { needsCode: true } : {}),
    ...(Array.isArray(organisations)
      ? { organisations: organisations as NonNullable<Challenge['organisations']> }
      : {}),
    ...(typeof resetToken === 'string' ? { resetToken } : {}),
  };
}
