import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { PublicPage } from './public-page.tsx';

export function ForgottenPage() {
  const [email, setEmail] = useState('');
  const { mutate, data, error, isPending } = useWrite('POST /api/session/forgot');
  const options = useOperation('GET /api/session/options', { query: {} });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ given: { body: { email } } });
  };
  return (
    <PublicPage title={texts.signIn.forgottenTitle}>
      {options.data?.value.password_reset_by_mail === false ? (
        <p>{texts.signIn.noMail}</p>
      ) : data ? (
        <p role="status">{data.value.Message}</p>
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <p className="text-dim">{texts.signIn.forgottenAbout}</p>
          <ErrorText error={error} />
          <TextField
            label={texts.signIn.username}
            type="email"
            required
            autoComplete="username"
            value={email}
            onChange={event => setEmail(event.target.value)}
          />
          <Button kind="primary" type="submit" isBusy={isPending}>
            {texts.signIn.sendLink}
          </Button>
        </form>
      )}
      <p className="mt-4 text-small">
        <Link to="/login" className="text-accent-ink underline">
          {texts.signIn.backToSignIn}
        </Link>
      </p>
    </PublicPage>
  );
}
