import { type FormEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';

/** New password in place of an expired one; the sign-in follows. */
export function ExpiredPasswordForm({ token, onSet }: { token: string; onSet(): void }) {
  const [password, setPassword] = useState('');
  const { mutate, error, isPending } = useWrite('POST /api/session/reset');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ given: { body: { token, new_password: password } } }, { onSuccess: onSet });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <p>{texts.signIn.expired}</p>
      <ErrorText error={error} />
      <TextField
        label={texts.signIn.newPassword}
        type="password"
        autoComplete="new-password"
        autoFocus
        value={password}
        onChange={event => setPassword(event.target.value)}
      />
      <Button kind="primary" type="submit" isBusy={isPending}>
        {texts.signIn.setPassword}
      </Button>
    </form>
  );
}
