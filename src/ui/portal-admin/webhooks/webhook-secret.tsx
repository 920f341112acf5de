import { useState } from 'react';
import { BodyText } from '../../kit/body-text.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { SecretText } from '../../kit/copy.tsx';
import { ConfirmDialog, Dialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { verificationSnippet } from '../../kit/verification-snippet.ts';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.webhooks;
const readRoute = 'GET /portal-api/webhooks/{webhook_id}';

/** Secret of a webhook, shown once; closed by its button only. */
export const WebhookSecretDialog = ({ secret, onClose }: { secret: string; onClose(): void }) => (
  <Dialog
    isOpen
    isModalOnly
    onClose={onClose}
    title={own.newSecret}
    about={own.newSecretAbout}
    footer={
      <Button kind="primary" onClick={onClose}>
        {own.secretDone}
      </Button>
    }
  >
    <SecretText secret={secret} isShownOnce />
  </Dialog>
);

/** Which secret signs deliveries; a rotation gives a new one, beside which the former one signs for a day. */
export function WebhookSecret({ hook }: { hook: ResultOf<typeof readRoute> }) {
  const [isOpen, setOpen] = useState(false);
  const { mutate, data, isPending, reset } = useWrite('PUT /portal-api/webhooks/{webhook_id}/rotate-secret', [
    readRoute,
  ]);
  const toasts = useToasts();
  const rotate = () =>
    mutate(
      { given: { params: { webhook_id: hook.ID } } },
      { onError: error => toasts.showError(error.message), onSettled: () => setOpen(false) },
    );
  const { SecretChangedAt, OldSecretValidUntil } = hook;
  return (
    <Card title={own.secretTitle} action={<Button onClick={() => setOpen(true)}>{own.rotate}</Button>}>
      <div className="flex flex-col gap-3">
        <p className="text-dim">
          {SecretChangedAt === '' ? own.sharedSecret : own.ownSecret(SecretChangedAt)}
          {OldSecretValidUntil !== '' && ` ${own.overlap(OldSecretValidUntil)}`}
        </p>
        <details>
          <summary>{own.verify}</summary>
          <BodyText label={own.verify} text={verificationSnippet} />
        </details>
      </div>
      <ConfirmDialog
        isOpen={isOpen}
        tier={2}
        title={own.rotateTitle}
        consequence={own.rotateConsequence}
        action={own.rotate}
        kind="primary"
        isBusy={isPending}
        onConfirm={rotate}
        onClose={() => setOpen(false)}
      />
      {data && <WebhookSecretDialog secret={data.value.Secret} onClose={reset} />}
    </Card>
  );
}
