import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { callServer, toBodyOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { TextField } from '../../kit/field.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { canUsePasskeys, isAtIpAddress } from '../sign-in/passkey.ts';
import { type Confirmation, toConfirmationBody } from './confirm-fields.tsx';
import { ReauthenticateDialog } from './reauthenticate-dialog.tsx';

const own = texts.profile;
const listRoute = 'GET /api/session/passkeys';

/** Passkeys of the user; adding and removing needs the password. */
export function PasskeyCard({ needsCode }: { needsCode: boolean }) {
  const query = useOperation(listRoute, {});
  const [pending, setPending] = useState<{ id: string; name: string }>();
  const [isAdding, setAdding] = useState(false);
  return (
    <Card
      title={own.passkeys}
      action={canUsePasskeys() && <Button onClick={() => setAdding(true)}>{own.addPasskey}</Button>}
    >
      <p className="mb-3 text-dim">{own.passkeysAbout}</p>
      {isAtIpAddress() && <p className="mb-3">{texts.signIn.passkeyNeedsName}</p>}
      {!query.data && <QueryState query={query} lines={1} />}
      {query.data?.value.passkeys.length === 0 && <p>{own.noPasskeys}</p>}
      <ul className="flex flex-col gap-2">
        {query.data?.value.passkeys.map(({ id, name, created_at }) => (
          <li key={id} className="flex flex-wrap items-center gap-3">
            <span className="font-medium break-words">{name}</span>
            <span className="mr-auto text-dim">
              <TimeText time={created_at} />
            </span>
            <Button kind="quiet" onClick={() => setPending({ id, name })}>
              {own.removePasskey}
            </Button>
          </li>
        ))}
      </ul>
      {isAdding && <AddDialog needsCode={needsCode} onClose={() => setAdding(false)} />}
      {pending && <RemoveDialog passkey={pending} needsCode={needsCode} onClose={() => setPending(undefined)} />}
    </Card>
  );
}

interface AddProps {
  readonly needsCode: boolean;
  onClose(): void;
}

/** Options of the server, then the browser creates the passkey, then the server stores its public key. */
async function createPasskey(name: string, confirmation: Confirmation): Promise<void> {
  const { value } = await callServer('POST /api/session/passkeys/challenge', {
    body: toConfirmationBody(confirmation),
  });
  const options = value.publicKey as unknown as PublicKeyCredentialCreationOptionsJSON;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await navigator.credentials.create({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new Error(texts.signIn.passkeyFailed);
  await callServer('POST /api/session/passkeys', {
    body: toBodyOf<'POST /api/session/passkeys'>({ name, credential: credential.toJSON() }),
  });
}

function AddDialog({ needsCode, onClose }: AddProps) {
  const toasts = useToasts();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const { mutate, error, isPending } = useMutation({
    mutationFn: (confirmation: Confirmation) => createPasskey(name, confirmation),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: [listRoute] });
      toasts.showSuccess(own.passkeyAdded);
      onClose();
    },
  });
  return (
    <ReauthenticateDialog
      title={own.addPasskey}
      action={own.addPasskey}
      needsCode={needsCode}
      isBusy={isPending}
      error={error}
      onClose={onClose}
      onConfirm={it => mutate(it)}
    >
      <TextField label={own.passkeyName} required value={name} onChange={event => setName(event.target.value)} />
    </ReauthenticateDialog>
  );
}

function RemoveDialog({ passkey, needsCode, onClose }: AddProps & { passkey: { id: string; name: string } }) {
  const toasts = useToasts();
  const { mutate, error, isPending } = useWrite('POST /api/session/passkeys/{passkeyId}/remove', [listRoute]);
  return (
    <ReauthenticateDialog
      title={own.removePasskeyTitle(passkey.name)}
      action={own.removePasskey}
      needsCode={needsCode}
      isBusy={isPending}
      error={error}
      onClose={onClose}
      onConfirm={it =>
        mutate(
          { given: { params: { passkeyId: passkey.id }, body: toConfirmationBody(it) } },
          {
            onSuccess: () => {
              toasts.showSuccess(own.passkeyRemoved);
              onClose();
            },
          },
        )
      }
    />
  );
}
