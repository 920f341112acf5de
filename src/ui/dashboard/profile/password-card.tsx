import { type FormEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { ConfirmFields, emptyConfirmation, toConfirmationBody } from './confirm-fields.tsx';

const own = texts.profile;

/** The own password; the other sessions end with the change. */
export function PasswordCard({ userId, needsCode }: { userId: string; needsCode: boolean }) {
  const toasts = useToasts();
  const [confirmation, setConfirmation] = useState(emptyConfirmation);
  const [password, setPassword] = useState('');
  const { mutate, error, isPending } = useWrite('POST /api/users/{userId}/actions/reset', [
    'GET /api/users/{userId}/sessions',
  ]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { password: current_password, ...code } = toConfirmationBody(confirmation);
    mutate(
      { given: { params: { userId }, body: { current_password, ...code, new_password: password } } },
      {
        onSuccess: () => {
          toasts.showSuccess(own.passwordChanged);
          setConfirmation(emptyConfirmation);
          setPassword('');
        },
      },
    );
  };
  return (
    <Card title={own.password}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <ErrorText error={error} />
        <ConfirmFields
          value={confirmation}
          needsCode={needsCode}
          change={some => setConfirmation({ ...confirmation, ...some })}
        />
        <TextField
          label={own.newPassword}
          type="password"
          required
          autoComplete="new-password"
          value={password}
          onChange={event => setPassword(event.target.value)}
        />
        <Button type="submit" isBusy={isPending} className="self-start">
          {own.changePassword}
        </Button>
      </form>
    </Card>
  );
}
