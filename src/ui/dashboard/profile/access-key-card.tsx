import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { SecretText } from '../../kit/copy.tsx';
import { ConfirmDialog, Dialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.profile;

/** Renews the access key of a user; the new one is shown once. */
export function AccessKeyCard({ userId }: { userId: string }) {
  const toasts = useToasts();
  const [isAsking, setAsking] = useState(false);
  const { mutate, data, isPending, reset } = useWrite('PUT /api/users/{userId}/actions/key/reset');
  const renew = () =>
    mutate(
      { given: { params: { userId } } },
      {
        onSuccess: ({ value }) => value.access_key === '' && toasts.showSuccess(own.newKeyHidden),
        onError: error => toasts.showError(error.message),
        onSettled: () => setAsking(false),
      },
    );
  const key = data?.value.access_key ?? '';
  return (
    <Card title={own.accessKey} action={<Button onClick={() => setAsking(true)}>{own.resetKey}</Button>}>
      <p className="text-dim">{own.accessKeyAbout}</p>
      <ConfirmDialog
        isOpen={isAsking}
        tier={3}
        title={own.resetKeyTitle}
        consequence={own.resetKeyConsequence}
        action={own.resetKeyAction}
        isBusy={isPending}
        onConfirm={renew}
        onClose={() => setAsking(false)}
      />
      {key && (
        <Dialog
          isOpen
          isModalOnly
          onClose={reset}
          title={own.newKeyTitle}
          footer={
            <Button kind="primary" onClick={reset}>
              {own.newKeyDone}
            </Button>
          }
        >
          <SecretText secret={key} isShownOnce />
        </Dialog>
      )}
    </Card>
  );
}
