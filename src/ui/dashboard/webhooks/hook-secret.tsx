import { useState } from 'react';
import { BodyText } from '../../kit/body-text.tsx';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { SecretText } from '../../kit/copy.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { verificationSnippet } from '../../kit/verification-snippet.ts';
import { webhookTexts } from '../../texts/en/webhooks.ts';

const own = webhookTexts;

/** Secret of the signature: read on demand, masked, rotated with an overlap of a day. */
export function HookSecret({ hookId }: { hookId: string }) {
  const toasts = useToasts();
  const [isRead, setRead] = useState(false);
  const [isRotating, setRotating] = useState(false);
  const query = useOperation('GET /api/hooks/{hookId}/secret', { params: { hookId } }, { enabled: isRead });
  const rotation = useWrite('POST /api/hooks/{hookId}/secret', ['GET /api/hooks/{hookId}/secret']);
  const rotate = () =>
    rotation.mutate(
      { given: { params: { hookId } } },
      {
        onSuccess: () => toasts.showSuccess(own.rotated),
        onError: error => toasts.showError(error.message),
        onSettled: () => setRotating(false),
      },
    );
  return (
    <div className="flex max-w-[960px] flex-col gap-4">
      <Card title={own.secretTitle} action={<Button onClick={() => setRotating(true)}>{own.rotateSecret}</Button>}>
        <div className="flex flex-col items-start gap-3">
          <p className="text-dim">{own.secretAbout}</p>
          {!isRead && <Button onClick={() => setRead(true)}>{own.reveal}</Button>}
          {isRead && !query.data && <QueryState query={query} lines={1} />}
          {query.data && (
            <div className="w-full">
              <SecretText secret={query.data.value.secret} />
            </div>
          )}
        </div>
      </Card>
      <Card title={own.verify}>
        <BodyText label={own.verify} text={verificationSnippet} />
      </Card>
      <ConfirmDialog
        isOpen={isRotating}
        tier={2}
        title={own.rotateTitle}
        consequence={own.rotateConsequence}
        action={own.rotateAction}
        isBusy={rotation.isPending}
        onConfirm={rotate}
        onClose={() => setRotating(false)}
      />
    </div>
  );
}
